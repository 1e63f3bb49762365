package service

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"carillon/internal/notify"
)

// Limits of Opsgenie's Alert API (https://docs.opsgenie.com/docs/alert-api#create-alert).
const (
	opsgenieMessage     = 130    // characters
	opsgenieDescription = 15_000 // characters; an alias and an entity have 512
)

// opsgenie is an API integration of Opsgenie: an alert for each trouble of a job, which its recovery closes.
type opsgenie struct{}

type opsgenieAlert struct {
	Message     string            `json:"message"`
	Alias       string            `json:"alias"`
	Description string            `json:"description"`
	Source      string            `json:"source"`
	Entity      string            `json:"entity,omitempty"`
	Priority    string            `json:"priority"`
	Tags        []string          `json:"tags"`
	Details     map[string]string `json:"details,omitempty"`
}

func (opsgenie) Request(c *notify.Channel, t *notify.Target, m *notify.Message, _ time.Time) (r Request, err error) {
	w := wordsOf(c.Language)
	alerts := strings.TrimRight(t.URL, "/") + "/v2/alerts"
	if m.Data.Event == "recovered" {
		r, err = post(alerts+"/"+url.PathEscape(alertOf(m))+"/close?identifierType=alias", struct {
			Source string `json:"source"`
			Note   string `json:"note"`
		}{"Carillon", w.title(m)})
	} else {
		alert := opsgenieAlert{
			Message:     clip(w.title(m), opsgenieMessage),
			Alias:       alertOf(m),
			Description: plainText(w, m, opsgenieDescription),
			Source:      cmp.Or(m.Data.Worker, "Carillon"),
			Entity:      m.Data.Job,
			Priority:    [...]string{info: "P5", good: "P5", warn: "P3", bad: "P2"}[toneOf(&m.Data)],
			Tags:        []string{"carillon", string(m.Data.Event)},
		}
		if m.Data.URL != "" {
			alert.Details = map[string]string{"url": m.Data.URL}
		}
		r, err = post(alerts, alert)
	}
	if err == nil {
		r.Header["Authorization"] = "GenieKey " + t.Key
	}
	return r, err
}

// Judge reads the explanation of an error.
func (opsgenie) Judge(a Answer) Verdict {
	return byStatus(a, decode[struct {
		Message string `json:"message"`
	}](a).Message)
}
