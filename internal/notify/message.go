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
	case SubjectDigest:
		m.Type = "cluster.digest"
	case SubjectSummary, SubjectRecovered, SubjectPrinted:
		m.Type = "cluster.summary"
	}
	m.Subject = "[Carillon] " + headline(&n.Data)
	m.Text = textOf(&n.Data)
	return m
}

// headline returns the subject, in one line.
func headline(d *Data) string {
	var text string
	job := d.Job
	if d.Title != "" {
		job = fmt.Sprintf("%s (%s)", common.Excerpt(d.Title), d.Job)
	}
	if d.Backfill {
		job = "backfill of " + job
	}
	switch d.Event {
	case SubjectTest:
		text = "test message"
	case SubjectSummary:
		text = common.Count(d.Count, "more job is", "more jobs are") + " in trouble"
	case SubjectRecovered:
		text = common.Count(d.Count, "more job has", "more jobs have") + " recovered"
	case SubjectPrinted:
		text = common.Count(d.Count, "more job has", "more jobs have") + " printed output"
	case SubjectOutput:
		text = job + " " + how(d) + " and printed output"
	case "failed":
		if text = job + " " + how(d); d.Cause == common.CauseDaemon {
			text = fmt.Sprintf("%s keeps restarting: %d short runs in a row", job, d.Restarts)
		}
	case "lost":
		text = job + " was lost with its worker"
	case "missed":
		text = job + " was not run"
	case "late":
		text = job + " is late"
		if d.Status == "running" {
			text = job + " is running longer than usual"
		}
	case "recovered":
		text = job + " has recovered"
	case SubjectPaused:
		text = fmt.Sprintf("%s was paused: it failed %d times in a row", job, d.Failures)
	case SubjectDigest:
		text = digestLine(d)
	case SubjectRaised:
		text = job + " has been in trouble for " + d.Lasts
	case SubjectStepFailed:
		text = job + ": a step failed"
		if d.Step != "" {
			text = fmt.Sprintf("%s: step %s %s", job, d.Step, how(d))
		}
	case SubjectSkipped:
		text = fmt.Sprintf("%s skips fires: %d of its last %d", job, d.Skipped, d.Fires)
	case SubjectApproval:
		text = job + " waits for approval of step " + d.Step
	default:
		text = job + ": " + string(d.Event)
	}
	if d.Worker != "" && d.Event != "recovered" && d.Event != SubjectPaused && d.Event != SubjectTest {
		text += " on " + d.Worker
	}
	if d.Flapping {
		text += "; it keeps failing and recovering"
	}
	return Line(text)
}

// how describes how a run ended.
func how(d *Data) string {
	switch {
	case d.Status == common.StatusSucceeded:
		return "succeeded"
	case d.Status == common.StatusLost:
		return "was lost"
	case d.Status == common.StatusMissed:
		return "was not run"
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
	fact("Step", d.Step)
	fact("Question", d.Text)
	fact("Status", string(d.Status))
	if d.Reason != nil {
		fact("Reason", d.Reason.Text)
	}
	fact("Worker", d.Worker)
	at("Planned", d.PlannedAt)
	at("Waits", d.Since)
	at("Deadline", d.Deadline)
	at("Started", d.StartedAt)
	at("Ended", d.EndedAt)
	if d.Count > 1 && d.Job != "" {
		fact("Times", fmt.Sprint(d.Count))
	}
	if d.Count > 1 || d.Event == "recovered" {
		at("Since", d.FirstAt)
	}
	if d.Flapping {
		fact("Flapping", fmt.Sprintf("it has recovered when it has not failed for %d minutes",
			int(calmFor.Minutes())))
	}
	if len(d.Jobs) > 0 {
		fact("Jobs", strings.Join(d.Jobs, ", "))
	}
	if g := d.Digest; g != nil {
		fact("Recovered", strings.Join(g.RecoveredJob, ", "))
		fact("Output", strings.Join(g.PrintedJob, ", "))
	}
	if fact("Details", d.URL); d.Event == SubjectRaised {
		b.WriteString("\nTo stop the escalation, acknowledge a failure of the job: in the console, or cronctl ack.\n")
	}
	if d.Output != "" {
		title := "End of the output"
		if d.Whole() {
			title = "Output"
		}
		b.WriteString("\n" + title + ":\n\n" + Visible(d.Output) + "\n")
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

// Visible replaces control characters other than newlines and tabs.
func Visible(s string) string {
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
