package service

import (
	"cmp"
	"strings"
	"time"

	"carillon/internal/notify"
)

// Limits of PagerDuty's Events API v2
// (https://developer.pagerduty.com/docs/send-alert-event). An event has at most 512 KB.
const (
	pagerDutySummary = 1024 // characters of payload.summary
	pagerDutyOutput  = 4000 // our own: a few lines are read, not a log
)

// pagerduty is an integration of PagerDuty: an alert for each trouble of a job, which its recovery resolves.
type pagerduty struct{}

// pagerDutyEvent is an event. Payload is nil to resolve an alert.
type pagerDutyEvent struct {
	RoutingKey string            `json:"routing_key"`
	Action     string            `json:"event_action"`
	DedupKey   string            `json:"dedup_key"` // at most 255 characters
	Client     string            `json:"client,omitempty"`
	ClientURL  string            `json:"client_url,omitempty"`
	Links      []pagerDutyLink   `json:"links,omitempty"`
	Payload    *pagerDutyPayload `json:"payload,omitempty"`
}

type pagerDutyLink struct {
	Href string `json:"href"`
	Text string `json:"text"`
}

type pagerDutyPayload struct {
	Summary   string            `json:"summary"`
	Source    string            `json:"source"`
	Severity  string            `json:"severity"`
	Timestamp string            `json:"timestamp"`
	Component string            `json:"component,omitempty"`
	Group     string            `json:"group,omitempty"`
	Class     string            `json:"class"`
	Details   map[string]string `json:"custom_details"`
}

func (pagerduty) Request(c *notify.Channel, t *notify.Target, m *notify.Message, _ time.Time) (Request, error) {
	w := wordsOf(c.Language)
	e := pagerDutyEvent{RoutingKey: t.Key, Action: "trigger", DedupKey: alertOf(m)}
	if m.Data.Event == "recovered" {
		e.Action = "resolve"
		return post(t.URL, e)
	}
	if m.Data.URL != "" {
		e.Client, e.ClientURL = "Carillon", m.Data.URL
		e.Links = []pagerDutyLink{{m.Data.URL, w.open}}
	}
	e.Payload = &pagerDutyPayload{
		Summary:   clip(w.title(m), pagerDutySummary),
		Source:    cmp.Or(m.Data.Worker, "carillon"),
		Severity:  [...]string{info: "info", good: "info", warn: "warning", bad: "error"}[toneOf(&m.Data)],
		Timestamp: m.At.UTC().Format(time.RFC3339),
		Component: m.Data.Job,
		Group:     m.Data.Group,
		Class:     string(m.Data.Event),
		Details:   map[string]string{},
	}
	for _, f := range w.facts(m) {
		e.Payload.Details[f.name] = f.value
	}
	if output := outputOf(m, pagerDutyOutput); output != "" {
		e.Payload.Details[w.output] = output
	}
	return post(t.URL, e)
}

// Judge reads the explanation of a rejected event.
func (pagerduty) Judge(a Answer) Verdict {
	said := decode[struct {
		Message string   `json:"message"`
		Errors  []string `json:"errors"`
	}](a)
	detail := said.Message
	if len(said.Errors) > 0 {
		detail += ": " + strings.Join(said.Errors, ", ")
	}
	return byStatus(a, detail)
}

// alertOf returns the key of the alert that a message opens or closes: the trouble of a job, or the message itself.
func alertOf(m *notify.Message) string {
	if trouble := m.Data.Trouble(); trouble != "" {
		return "carillon." + trouble
	}
	return "carillon." + m.ID
}
