package notify

import (
	"fmt"
	"maps"
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
	m.Subject = "[Carillon] " + headline(&n.Data).Text
	m.Text = textOf(&n.Data)
	return m
}

// headline returns the subject in one line, with the code and the values of a translation.
func headline(d *Data) common.Reason {
	job := d.Job
	if d.Title != "" {
		job = fmt.Sprintf("%s (%s)", common.Excerpt(d.Title), d.Job)
	}
	said := common.Reason{Data: common.WordsOf("job", Line(job))}
	if d.Backfill {
		job, said.Data["backfill"] = "backfill of "+job, "true"
	}
	say := func(code, text string, pairs ...any) {
		said.Code, said.Text = code, text
		maps.Copy(said.Data, common.WordsOf(pairs...))
	}
	switch d.Event {
	case SubjectTest:
		say("test", "test message")
	case SubjectSummary:
		say("more_trouble", common.Count(d.Count, "more job is", "more jobs are")+" in trouble", "count", d.Count)
	case SubjectRecovered:
		say("more_recovered", common.Count(d.Count, "more job has", "more jobs have")+" recovered", "count", d.Count)
	case SubjectPrinted:
		say("more_output", common.Count(d.Count, "more job has", "more jobs have")+" printed output", "count", d.Count)
	case SubjectOutput:
		say("output", job+" "+how(d)+" and printed output", howWords(d)...)
	case "failed":
		if say("ended", job+" "+how(d), howWords(d)...); d.Cause == common.CauseDaemon {
			say("restarts", fmt.Sprintf("%s keeps restarting: %d short runs in a row", job, d.Restarts),
				"count", d.Restarts)
		}
	case "lost":
		say("lost", job+" was lost with its worker")
	case "missed":
		say("ended", job+" was not run", "how", "was_not_run")
	case "late":
		if say("late", job+" is late"); d.Status == common.StatusRunning {
			say("slow", job+" is running longer than usual")
		}
	case "recovered":
		say("recovered", job+" has recovered")
	case SubjectPaused:
		say("paused", fmt.Sprintf("%s was paused: it failed %d times in a row", job, d.Failures), "count", d.Failures)
	case SubjectDigest:
		say("digest", digestLine(d), digestWords(d)...)
	case SubjectRaised:
		say("raised", job+" has been in trouble for "+d.Lasts, "after", d.Lasts)
	case SubjectStepFailed:
		if say("step_failed", job+": a step failed"); d.Step != "" {
			say("step", fmt.Sprintf("%s: step %s %s", job, d.Step, how(d)), append(howWords(d), "step", d.Step)...)
		}
	case SubjectSkipped:
		say("skipped", fmt.Sprintf("%s skips fires: %d of its last %d", job, d.Skipped, d.Fires), "count", d.Skipped,
			"of", d.Fires)
	case SubjectApproval:
		say("approval", job+" waits for approval of step "+d.Step, "step", d.Step)
	default:
		say("event", job+": "+string(d.Event), "event", d.Event)
	}
	if d.Worker != "" && d.Event != "recovered" && d.Event != SubjectPaused && d.Event != SubjectTest {
		said.Text += " on " + d.Worker
		said.Data["worker"] = d.Worker
	}
	if d.Flapping {
		said.Text += "; it keeps failing and recovering"
		said.Data["flapping"] = "true"
	}
	if said.Text = Line(said.Text); d.Job == "" {
		delete(said.Data, "job")
	}
	return said
}

// how describes how a run ended.
func how(d *Data) string {
	text := strings.ReplaceAll(ending(d), "_", " ")
	switch {
	case text != "failed":
		return text
	case d.Signal != "":
		return "failed (" + d.Signal + ")"
	case d.ExitCode != nil:
		return fmt.Sprintf("failed (exit %d)", *d.ExitCode)
	}
	return text
}

// ending returns how a run ended, as a code.
func ending(d *Data) string {
	switch d.Status {
	case common.StatusSucceeded, common.StatusTimedOut:
		return string(d.Status)
	case common.StatusLost, common.StatusRefused, common.StatusKilled:
		return "was_" + string(d.Status)
	case common.StatusMissed:
		return "was_not_run"
	}
	return "failed"
}

// howWords returns the values of how a run ended.
func howWords(d *Data) []any {
	words := []any{"how", ending(d)}
	switch {
	case ending(d) != "failed":
	case d.Signal != "":
		words = append(words, "signal", d.Signal)
	case d.ExitCode != nil:
		words = append(words, "exit", *d.ExitCode)
	}
	return words
}

// textOf returns the body for people.
func textOf(d *Data) string {
	var b strings.Builder
	b.WriteString(headline(d).Text + "\n\n")
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
