package notify

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"carillon/internal/common"
)

// Message is a notification as a sender receives it.
type Message struct {
	ID      string // the same for all tries
	At      time.Time
	Type    string // for example run.failed
	Subject string // one line
	Text    string // body for people
	Data    Data
	Reached []string // addresses that have received it
}

// Result is the result of a try.
type Result struct {
	Err     error
	Answer  int           // HTTP or SMTP status, if any
	Final   bool          // a retry would be useless
	Gone    bool          // the receiver answered 410 Gone
	RetryIn time.Duration // lower bound requested by the receiver
	Reached []string      // addresses that have received it now
}

// messageOf returns the message of a notification.
func messageOf(n *Notice) Message {
	m := Message{ID: "msg_" + n.ID, At: n.CreatedAt, Type: "run." + string(n.Subject), Data: n.Data, Reached: n.Reached}
	switch n.Subject {
	case SubjectTest:
		m.Type = "channel.test"
	case SubjectSummary, SubjectRecovered:
		m.Type = "cluster.summary"
	}
	m.Subject = "[Carillon] " + headline(&n.Data)
	m.Text = textOf(&n.Data)
	return m
}

// headline returns the subject, in one line.
func headline(d *Data) string {
	var text string
	switch d.Event {
	case SubjectTest:
		text = "test message"
	case SubjectSummary:
		text = common.Count(d.Count, "more job is", "more jobs are") + " in trouble"
	case SubjectRecovered:
		text = common.Count(d.Count, "more job has", "more jobs have") + " recovered"
	case "failed":
		text = d.Job + " " + how(d)
	case "lost":
		text = d.Job + " was lost with its worker"
	case "missed":
		text = d.Job + " was not run"
	case "late":
		text = d.Job + " is late"
		if d.Status == "running" {
			text = d.Job + " is running longer than usual"
		}
	case "recovered":
		text = d.Job + " has recovered"
	default:
		text = d.Job + ": " + string(d.Event)
	}
	if d.Worker != "" && d.Event != "recovered" && d.Event != SubjectTest {
		text += " on " + d.Worker
	}
	return Line(text)
}

// how describes how a run failed.
func how(d *Data) string {
	switch {
	case d.Status == "timed_out":
		return "timed out"
	case d.Status == "refused":
		return "was refused"
	case d.Status == "killed":
		return "was killed"
	case d.Signal != "":
		return "failed (" + d.Signal + ")"
	case d.ExitCode != nil:
		return fmt.Sprintf("failed (exit %d)", *d.ExitCode)
	}
	return "failed"
}

// textOf returns the body for people.
func textOf(d *Data) string {
	var b strings.Builder
	b.WriteString(headline(d) + "\n\n")
	fact := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name+":", Line(value))
		}
	}
	at := func(name string, t *time.Time) {
		if t != nil && !t.IsZero() {
			fact(name, t.UTC().Format(time.RFC3339))
		}
	}
	fact("Job", d.Job)
	fact("Title", d.Title)
	fact("Group", d.Group)
	fact("Run", d.Run)
	fact("Status", string(d.Status))
	if d.Reason != nil {
		fact("Reason", d.Reason.Text)
	}
	fact("Worker", d.Worker)
	at("Planned", d.PlannedAt)
	at("Started", d.StartedAt)
	at("Ended", d.EndedAt)
	if d.Count > 1 && d.Job != "" {
		fact("Times", fmt.Sprint(d.Count))
	}
	if d.Count > 1 || d.Event == "recovered" {
		at("Since", d.FirstAt)
	}
	if len(d.Jobs) > 0 {
		fact("Jobs", strings.Join(d.Jobs, ", "))
	}
	fact("Details", d.URL)
	if d.Output != "" {
		b.WriteString("\nEnd of the output:\n\n" + visible(d.Output) + "\n")
	}
	return b.String()
}

// Line returns a text as one line of at most 200 characters, without characters that could affect a
// terminal or a mail header.
func Line(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar:
			return ' '
		case steers(r):
			return -1
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > 200 {
		s = string(runes[:200]) + "…"
	}
	return strings.TrimSpace(s)
}

// visible replaces control characters other than newlines and tabs.
func visible(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r):
			return '·'
		case steers(r):
			return -1
		}
		return r
	}, s)
}

// steers reports whether a character changes the direction of text.
func steers(r rune) bool {
	return r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069' || r == '\u200e' || r == '\u200f'
}
