package notify

import (
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func outcome(minute int, status common.Status, reason ...string) *Outcome {
	at := noon.Add(time.Duration(minute) * time.Minute)
	fire := common.PlannedFire("uid", at)
	run := common.Run{
		ID:        common.RunID(fire, 1),
		Job:       "nightly",
		JobUID:    "uid",
		Fire:      fire,
		PlannedAt: at,
		Attempt:   1,
		Status:    status,
		EndedAt:   new(at.Add(time.Second)),
	}
	if len(reason) > 0 {
		run.Reason = &common.Reason{Code: reason[0]}
	}
	return &Outcome{Run: run}
}

func lateOf(minute int) *Outcome {
	o := outcome(minute, common.StatusRunning)
	o.Late = true
	return o
}

func gapOf(minute int, count int64) *Outcome {
	o := outcome(minute, common.StatusMissed)
	o.Run.Gap = &common.Gap{Count: count}
	return o
}

func backfilled(minute int, s common.Status) *Outcome {
	o := outcome(minute, s)
	o.Run.Flow = &common.FlowNode{Kind: common.KindBackfill, Background: true}
	return o
}

// backfillOf is the outcome of a backfill of the job.
func backfillOf(minute int, s common.Status, reason ...string) *Outcome {
	o := outcome(minute, s, reason...)
	o.Run.Job, o.Run.ID = common.BackfillJob(o.Run.Job), "backfill."+o.Run.ID
	return o
}

// replica is an outcome of a replica, whose last so many runs were short.
func replica(minute int, s common.Status, restarts int, reason ...string) *Outcome {
	o := outcome(minute, s, reason...)
	o.Run.Cause, o.Run.Restarts = common.CauseDaemon, restarts
	return o
}

func steadySince(minute int) *Outcome {
	o := replica(minute, "running", 0)
	o.Steady = noon.Add(time.Hour)
	return o
}

// alternating are outcomes of a job that fails and succeeds by turns, each minute.
func alternating(minutes int) (all []*Outcome) {
	for i := range minutes {
		all = append(all, outcome(i, [...]common.Status{common.StatusFailed, common.StatusSucceeded}[i%2]))
	}
	return all
}

// Each line is a story: the outcomes of a job's fires, and the notifications.
func TestOutcomes_DecideNotifications(t *testing.T) {
	all := []common.Event{"failed", "missed", "lost", "late", "recovered"}
	for _, c := range []struct {
		name  string
		on    []common.Event
		what  []*Outcome
		tells string
		count int64
	}{
		{"all is well", all, []*Outcome{outcome(0, "succeeded"), outcome(1, "succeeded")}, "- -", 0},
		{"fails twice, recovers", all, []*Outcome{outcome(0, "failed"), outcome(1, "failed"), outcome(2, "succeeded"),
			outcome(3, "succeeded")}, "failed - recovered -", 2},
		{"fails, recovers, fails", all, []*Outcome{outcome(0, "failed"), outcome(1, "succeeded"), outcome(2, "failed")},
			"failed recovered failed", 1},
		{"fails for hours", all, []*Outcome{outcome(0, "failed"), outcome(30, "failed"), outcome(59, "failed"),
			outcome(61, "failed"), outcome(100, "failed"), outcome(130, "failed")},
			"failed - - failed - failed", 6},
		{"the same outcome again", all, []*Outcome{outcome(0, "failed"), outcome(0, "failed")}, "failed -", 1},
		{"an earlier fire succeeds later", all, []*Outcome{outcome(5, "failed"), outcome(4, "succeeded"),
			outcome(6, "succeeded")}, "failed - recovered", 1},
		{"the fire is run again by hand", all, []*Outcome{outcome(5, "failed"), {Run: common.Run{
			ID:        "again",
			JobUID:    "uid",
			PlannedAt: noon.Add(5 * time.Minute),
			Attempt:   2,
			Status:    "succeeded",
		}}}, "failed recovered", 1},
		{"late, then failed", all, []*Outcome{lateOf(0), lateOf(0), outcome(0, "failed"), outcome(1, "succeeded")},
			"late - failed recovered", 2},
		{"late, then done", all, []*Outcome{lateOf(0), outcome(0, "succeeded")}, "late recovered", 1},
		{"a gap", all, []*Outcome{gapOf(9, 7), outcome(10, "succeeded")}, "missed recovered", 7},
		{"killed by a user", all, []*Outcome{outcome(0, "killed", "killed_by_user"), outcome(1, "killed", "replaced"),
			outcome(2, "skipped", "overlap"), outcome(3, "killed"), outcome(4, "killed", "killed_before_start")},
			"- - - - -", 0},
		{"daemon restarts", all, []*Outcome{replica(0, "failed", 1), replica(1, "succeeded", 2),
			replica(2, "failed", 0)}, "- - -", 0},
		{"daemon in a crash loop", all, []*Outcome{replica(0, "failed", 1), replica(1, "failed", 2),
			replica(2, "succeeded", 3), replica(3, "failed", 4), replica(63, "killed", 9), replica(64, "failed", 10)},
			"- - failed - failed -", 4},
		{"daemon keeps running", all, []*Outcome{replica(0, "failed", 3), replica(1, "killed", 0, "updated"),
			replica(2, "killed", 0, "worker_stopping"), replica(3, "succeeded", 0), replica(4, "lost", 3),
			steadySince(0)}, "failed - - - - recovered", 1},
		{"killed with its worker", all, []*Outcome{outcome(0, "killed", "worker_stopping")}, "failed", 1},
		{"all that is bad", all, []*Outcome{outcome(0, "timed_out")}, "failed", 1},
		{"refused", all, []*Outcome{outcome(0, "refused")}, "failed", 1},
		{"runs of a backfill", all, []*Outcome{backfilled(0, "failed"), backfilled(1, "lost"), outcome(2, "failed"),
			backfilled(3, "succeeded")}, "- - failed -", 1},
		{"backfills", all, []*Outcome{backfillOf(0, "failed"), outcome(1, "succeeded"), outcome(2, "failed"),
			backfillOf(3, "failed"), backfillOf(3, "failed"), backfillOf(4, "succeeded"), backfillOf(5, "killed",
				"killed_by_user"), outcome(6, "succeeded")}, "failed - failed failed - - - recovered", 1},
		{"lost", all, []*Outcome{outcome(0, "lost")}, "lost", 1},
		{"only what is wanted", []common.Event{"lost"}, []*Outcome{outcome(0, "failed"), outcome(1, "lost"),
			outcome(2, "succeeded"), outcome(3, "lost")}, "- lost - lost", 1},
		{"fails and recovers each minute", all, alternating(68), "failed recovered failed recovered failed" +
			strings.Repeat(" -", 59) + " failed - - -", 32},
		{"recovers after that", all, append(alternating(9), outcome(9, "succeeded"), outcome(30, "succeeded"),
			outcome(38, "succeeded"), outcome(39, "failed")),
			"failed recovered failed recovered failed - - - - - - recovered failed", 1},
		{"fails and recovers each hour", all, []*Outcome{outcome(0, "failed"), outcome(31, "succeeded"),
			outcome(61, "failed"), outcome(91, "succeeded"), outcome(122, "failed"), outcome(123, "succeeded")},
			"failed recovered failed recovered failed recovered", 1},
		{"recovery alone", []common.Event{"recovered"}, []*Outcome{outcome(0, "failed"), outcome(1, "succeeded")},
			"- -", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			state := State{Job: "nightly", UID: "uid"}
			var tells []string
			for _, o := range c.what {
				tell := common.Event("")
				if !state.counted(o) {
					tell, _ = state.take(o, &common.Notify{On: c.on, To: []string{"ops"}}, o.Run.PlannedAt)
				}
				if tell == "" {
					tell = "-"
				}
				tells = append(tells, string(tell))
			}
			if got := strings.Join(tells, " "); got != c.tells || state.Count != c.count {
				t.Errorf("told %q of %d, want %q of %d", got, state.Count, c.tells, c.count)
			}
		})
	}
}

// Held events are notified in a summary, even if the trouble ends before.
func TestHeldEvents_AreSummarized(t *testing.T) {
	notify := &common.Notify{On: []common.Event{"failed", "recovered"}, To: []string{"ops"}}
	state := State{Job: "nightly", UID: "uid"}
	state.take(outcome(0, "failed"), notify, noon)
	state.Held = []string{"ops"}
	if tell, changed := state.take(outcome(1, "succeeded"), notify, noon); tell != "recovered" || !changed ||
		len(state.Held) != 1 || state.Trouble {
		t.Errorf("told %q, %+v", tell, state)
	}
}

func TestState_ManyOutcomes_RemembersBoundedNumber(t *testing.T) {
	state, notify := State{Job: "nightly", UID: "uid"}, &common.Notify{
		On: []common.Event{"failed"},
		To: []string{"ops"},
	}
	for i := range 100 {
		o := outcome(i, "failed")
		o.Revision = int64(i + 1)
		state.take(o, notify, noon)
	}
	old := outcome(3, "failed")
	old.Revision = 4
	if len(state.Recent) != maxRecent || !state.counted(old) || !state.counted(outcome(99, "failed")) {
		t.Errorf("%+v", state)
	}
}

func TestBackoff(t *testing.T) {
	var least, most time.Duration
	for attempt := 1; ; attempt++ {
		wait, more := pause(attempt)
		if !more {
			if attempt != len(backoff)+1 {
				t.Errorf("given up after %d tries", attempt)
			}
			break
		}
		d := backoff[attempt-1]
		if wait < d*8/10 || wait > d*12/10 {
			t.Errorf("after %d tries %v", attempt, wait)
		}
		least, most = least+d*8/10, most+d*12/10
	}
	if least > giveUp || most < giveUp {
		t.Errorf("tried for %v to %v", least, most)
	}
}

// An earlier fire that succeeds later says nothing about the last one.
func TestFlapping_EarlierFireSucceeds_IsNoSign(t *testing.T) {
	notify := &common.Notify{On: []common.Event{"failed"}, To: []string{"ops"}}
	state := State{Job: "nightly", UID: "uid"}
	for _, o := range append(alternating(9), outcome(7, "succeeded", "late")) {
		state.take(o, notify, o.Run.PlannedAt)
	}
	if !state.Trouble || !state.flapping() || state.Good != nil {
		t.Errorf("%+v", state)
	}
	state.take(outcome(9, "succeeded"), notify, noon)
	if state.Good == nil || !state.Good.PlannedAt.Equal(noon.Add(9*time.Minute)) {
		t.Errorf("%+v", state)
	}
}

func TestHeadline_OfAFlappingJob_SaysSo(t *testing.T) {
	n := Notice{Subject: "failed", Data: Data{Event: "failed", Job: "nightly", Status: "failed", Worker: "bell-1",
		Flapping: true}}
	m := messageOf(&n)
	if want := "[Carillon] nightly failed on bell-1; it keeps failing and recovering"; m.Subject != want ||
		!strings.Contains(m.Text, "not failed for 30 minutes") {
		t.Errorf("%q\n%s", m.Subject, m.Text)
	}
}

func TestText(t *testing.T) {
	exit := 1
	n := Notice{
		ID:      "1",
		Subject: "failed",
		Data: Data{
			Event:     "failed",
			Job:       "nightly-report",
			Title:     "x\r\nBcc: a@b",
			Worker:    "bell-1",
			ExitCode:  &exit,
			Status:    "failed",
			Output:    "a\x1b[31mred\r\nb\u202e\n",
			PlannedAt: &noon,
			Reason:    &common.Reason{Text: "exit code 1"},
		},
	}
	m := messageOf(&n)
	if m.Subject != `[Carillon] x\r\nBcc: a@b (nightly-report) failed (exit 1) on bell-1` || m.Type != "run.failed" || m.ID != "msg_1" {
		t.Errorf("%+v", m)
	}
	for _, want := range []string{"Title:     x  Bcc: a@b\n", "Planned:   2026-11-21T12:00:00Z\n", "a·[31mred\nb\n"} {
		if !strings.Contains(m.Text, want) {
			t.Errorf("no %q in\n%s", want, m.Text)
		}
	}
	if strings.ContainsFunc(m.Text, func(r rune) bool { return r == 0x1b || r == 0x202e || r == '\r' }) {
		t.Errorf("%q steers", m.Text)
	}
	if long := Line(strings.Repeat("每", 300)); len([]rune(long)) != 201 {
		t.Errorf("a line of %d characters", len([]rune(long)))
	}
	if s := cut("每每", 4); s != "每…" {
		t.Errorf("cut to %q", s)
	}
}

func TestChannelDefinition_Faults(t *testing.T) {
	hook := "https://hooks.example.com/T0/secret"
	for _, c := range []struct {
		name   string
		wanted ChannelDefinition
		exists bool
		faults []string
	}{
		{"webhook", ChannelDefinition{Kind: KindWebhook, URL: hook, Secret: NewSecret()}, false, nil},
		{"webhook without a URL", ChannelDefinition{Kind: KindWebhook}, false, []string{"url"}},
		{"webhook that keeps its URL", ChannelDefinition{Kind: KindWebhook}, true, nil},
		{"mail", ChannelDefinition{Kind: KindMail, To: []string{"ops@example.com"}}, false, nil},
		{"mail without addresses", ChannelDefinition{Kind: KindMail}, true, []string{"to"}},
		{"mail with a name", ChannelDefinition{Kind: KindMail, To: []string{"Ops <ops@example.com>"}},
			false, []string{"to[0]"}},
		{"mail with a header", ChannelDefinition{
			Kind: KindMail,
			To:   []string{"ops@example.com\r\nBcc: x@y.z"},
		}, false, []string{"to[0]"}},
		{"mail twice", ChannelDefinition{Kind: KindMail, To: []string{"a@b.c", "a@b.c"}}, false, []string{"to[1]"}},
		{"mail with a URL", ChannelDefinition{
			Kind:      KindMail,
			To:        []string{"a@b.c"},
			URL:       hook,
			NewSecret: true,
		}, false, []string{"url", "secret"}},
		{"nothing", ChannelDefinition{}, false, []string{"kind"}},
		{"chat", ChannelDefinition{Kind: KindSlack, URL: hook, Language: Chinese}, false, nil},
		{"chat that keeps its URL", ChannelDefinition{Kind: KindSlack}, true, nil},
		{"chat without a URL", ChannelDefinition{Kind: KindSlack}, false, []string{"url"}},
		{"chat with the fields of others", ChannelDefinition{
			Kind:   KindSlack,
			URL:    hook,
			Secret: NewSecret(),
			Key:    "secret/",
			Chat:   "secret/",
			To:     []string{"a@b.c"},
		}, false, []string{"to", "secret", "key", "chat"}},
		{"chat with a generated secret", ChannelDefinition{Kind: KindSlack, URL: hook, NewSecret: true}, false,
			[]string{"secret"}},
		{"pagerduty", ChannelDefinition{Kind: KindPagerDuty, Key: strings.Repeat("aB3d", 8)}, false, nil},
		{"pagerduty in another region", ChannelDefinition{
			Kind: KindPagerDuty,
			Key:  strings.Repeat("aB3d", 8),
			URL:  "https://events.eu.pagerduty.com/v2/enqueue",
		}, false, nil},
		{"pagerduty without a key", ChannelDefinition{Kind: KindPagerDuty}, false, []string{"key"}},
		{"pagerduty with another key", ChannelDefinition{Kind: KindPagerDuty, Key: "secret/"}, false, []string{"key"}},
		{"discord with another URL", ChannelDefinition{Kind: KindDiscord, URL: hook}, false, []string{"url"}},
		{"mattermost with another URL", ChannelDefinition{Kind: KindMattermost, URL: hook}, false, []string{"url"}},
		{"telegram", ChannelDefinition{
			Kind: KindTelegram,
			Key:  "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw",
			Chat: "-1001234567890",
		}, false, nil},
		{"telegram with other values", ChannelDefinition{Kind: KindTelegram, Key: "secret/", Chat: "ops"}, false,
			[]string{"key", "chat"}},
		{"dingtalk", ChannelDefinition{
			Kind:   KindDingTalk,
			URL:    "https://oapi.dingtalk.com/robot/send?access_token=x",
			Secret: "SECx",
		}, false, nil},
		{"dingtalk with another URL", ChannelDefinition{Kind: KindDingTalk, URL: hook}, false, []string{"url"}},
		{"feishu", ChannelDefinition{
			Kind: KindFeishu,
			URL:  "https://open.larksuite.com/open-apis/bot/v2/hook/x",
		}, false, nil},
		{"feishu with another URL", ChannelDefinition{Kind: KindFeishu, URL: hook, Secret: "two words"}, false,
			[]string{"url", "secret"}},
		{"wecom with another URL", ChannelDefinition{Kind: KindWeCom, URL: hook}, false, []string{"url"}},
		{"ntfy", ChannelDefinition{Kind: KindNtfy, URL: "https://ntfy.sh/my-topic", Key: "tk_x"}, false, nil},
		{"ntfy without a topic", ChannelDefinition{Kind: KindNtfy, URL: "https://ntfy.sh/"}, false, []string{"url"}},
		{"ntfy with a line break", ChannelDefinition{Kind: KindNtfy, URL: "https://ntfy.sh/a", Key: "a\r\nb: c"}, false,
			[]string{"key"}},
		{"opsgenie without a key", ChannelDefinition{Kind: KindOpsgenie}, false, []string{"key"}},
		{"ping without a URL", ChannelDefinition{Kind: KindPing}, false, []string{"url"}},
		{"unknown language", ChannelDefinition{Kind: KindSlack, URL: hook, Language: "fr"}, false,
			[]string{"language"}},
		{"mail with a language", ChannelDefinition{Kind: KindMail, To: []string{"a@b.c"}, Language: Chinese}, false,
			nil},
		{"user in the URL", ChannelDefinition{Kind: KindWebhook, URL: "https://a:b@example.com/"},
			false, []string{"url"}},
		{"no host", ChannelDefinition{Kind: KindWebhook, URL: "https:///x"}, false, []string{"url"}},
		{"no http", ChannelDefinition{Kind: KindWebhook, URL: "gopher://example.com/"}, false, []string{"url"}},
		{"fragment", ChannelDefinition{Kind: KindWebhook, URL: hook + "#x"}, false, []string{"url"}},
		{"new line", ChannelDefinition{Kind: KindWebhook, URL: hook + "\r\nX: y"}, false, []string{"url"}},
		{"short secret", ChannelDefinition{Kind: KindWebhook, URL: hook, Secret: "whsec_c2hvcnQ="},
			false, []string{"secret"}},
		{"both secrets", ChannelDefinition{
			Kind:      KindWebhook,
			URL:       hook,
			Secret:    NewSecret(),
			NewSecret: true,
		}, false, []string{"secret"}},
	} {
		var at []string
		for _, f := range c.wanted.Faults(c.exists) {
			at = append(at, f.Location)
			if strings.Contains(f.Message, "secret/") || f.Value == hook {
				t.Errorf("%s: shows %+v", c.name, f)
			}
		}
		if !slices.Equal(at, c.faults) {
			t.Errorf("%s: %v, want %v", c.name, at, c.faults)
		}
	}
}
