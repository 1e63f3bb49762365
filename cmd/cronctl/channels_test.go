package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/notify"
)

// channels keeps channels in memory.
type channels struct {
	kept   map[string]notify.ChannelDefinition
	tested []string
}

func (f *channels) as(name string) notify.Channel {
	c := notify.Channel{
		Name:      name,
		Kind:      f.kept[name].Kind,
		To:        f.kept[name].To,
		Disabled:  f.kept[name].Disabled,
		Language:  f.kept[name].Language,
		Version:   7,
		UpdatedBy: "ann",
	}
	c.Origin, _ = notify.OriginOf(f.kept[name].URL)
	return c
}

func (f *channels) Channels(context.Context) (all []notify.Channel, err error) {
	for _, name := range slices.Sorted(maps.Keys(f.kept)) {
		all = append(all, f.as(name))
	}
	return all, nil
}

func (f *channels) Find(_ context.Context, name string) (notify.Channel, error) {
	if _, known := f.kept[name]; !known {
		return notify.Channel{}, common.Errorf(common.CodeNotFound, "there is no channel %s", name)
	}
	return f.as(name), nil
}

func (f *channels) Save(_ context.Context, _ common.Actor, name string, wanted notify.ChannelDefinition,
	pre common.Precondition) (notify.Channel, string, bool, error) {
	_, known := f.kept[name]
	if known && pre.Absent {
		return notify.Channel{}, "", false, common.Errorf(common.CodeStale, "channel %s exists", name)
	}
	if faults := wanted.Faults(known); len(faults) > 0 {
		return notify.Channel{}, "", false, common.Invalid("the channel cannot be saved", faults...)
	}
	f.kept[name] = wanted
	if wanted.Kind == notify.KindWebhook && wanted.Secret == "" {
		return f.as(name), "whsec_made", !known, nil
	}
	return f.as(name), "", !known, nil
}

func (f *channels) Delete(ctx context.Context, _ common.Actor, name string, _ common.Precondition) error {
	_, err := f.Find(ctx, name)
	delete(f.kept, name)
	return err
}

func (f *channels) Test(ctx context.Context, _ common.Actor, name string) (notify.Notice, error) {
	c, err := f.Find(ctx, name)
	n := notify.Notice{
		Channel:  name,
		Kind:     c.Kind,
		Subject:  notify.SubjectTest,
		Status:   notify.Sent,
		Attempts: 1,
		Data:     notify.Data{Event: notify.SubjectTest},
	}
	if c.Disabled {
		n.Status, n.Code, n.Error = notify.Failed, notify.CodeTrouble, "connection refused"
	}
	f.tested = append(f.tested, name)
	return n, err
}

func (f *channels) Retry(_ context.Context, _ common.Actor, id string) (notify.Notice, error) {
	if id != "2" {
		return notify.Notice{}, common.Errorf(common.CodeNotFound, "delivery %q not found", id)
	}
	return notify.Notice{ID: id, Channel: "ops", Status: notify.Waiting, NextAt: time.Now()}, nil
}

func (f *channels) Notices(_ context.Context, q notify.NoticeQuery) ([]notify.Notice, bool, error) {
	var all []notify.Notice
	for _, n := range []notify.Notice{
		{
			ID:        "2",
			Channel:   "ops",
			Kind:      notify.KindMail,
			Subject:   "recovered",
			Status:    notify.Waiting,
			Code:      notify.CodeTrouble,
			Error:     "away",
			Attempts:  3,
			CreatedAt: time.Now(),
			NextAt:    time.Now().Add(time.Minute),
			Data:      notify.Data{Event: "recovered", Job: "nightly"},
		},
		{
			ID:        "1",
			Channel:   "hook",
			Kind:      notify.KindWebhook,
			Subject:   "failed",
			Status:    notify.Sent,
			Attempts:  1,
			CreatedAt: time.Now(),
			Data:      notify.Data{Event: "failed", Job: "nightly", Worker: "bell-1"},
		},
	} {
		if q.Matches(&n) {
			all = append(all, n)
		}
	}
	return all, false, nil
}

func TestChannels(t *testing.T) {
	s := newStage(t)
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	url, secret := file("url", "https://hooks.example.com/T0/x\n"), file("secret", notify.NewSecret()+"\n")
	s.run("create", "channel", "hook", "--kind", "webhook", "--url-file", url).want(t, exitOK, "created hook",
		"signing secret (shown only once): whsec_made")
	s.run("create", "channel", "hook", "--kind", "webhook", "--url-file", url).want(t, exitConflict)
	s.run("create", "channel", "hook", "--kind", "webhook", "--url-file", url, "--secret-file", secret,
		"--replace").want(t, exitOK, "saved hook\n")
	if w := s.channels.kept["hook"]; w.URL != "https://hooks.example.com/T0/x" || w.Secret == "" {
		t.Errorf("kept %+v", w)
	}
	s.run("create", "channels", "-f", file("c.yaml", "name: ops\nkind: mail\nto: [a@example.com, "+
		"b@example.com]\n---\nname: off\nkind: mail\nto: [c@example.com]\ndisabled: true\n")).
		want(t, exitOK, "created ops", "created off")
	s.run("create", "channel", "team", "--kind", "slack", "--url-file", url, "--language", "zh").want(t, exitOK,
		"created team\n")
	if w := s.channels.kept["team"]; w.URL != "https://hooks.example.com/T0/x" || w.Language != notify.Chinese {
		t.Errorf("kept %+v", w)
	}
	token := file("token", "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw\n")
	s.run("create", "channel", "bot", "--kind", "telegram", "--key-file", token, "--chat=-1001234567890").want(t,
		exitOK, "created bot\n")
	if w := s.channels.kept["bot"]; !strings.HasPrefix(w.Key, "110201543:") || w.Chat != "-1001234567890" {
		t.Errorf("kept %+v", w)
	}
	s.run("describe", "channel", "team").want(t, exitOK, "slack", "https://hooks.example.com/…")
	s.run("get", "channel", "team", "-o", "wide").want(t, exitOK, "LANGUAGE", "zh")
	s.run("test", "channel", "team").want(t, exitOK, "channel team accepted the test")
	s.run("get", "channels").want(t, exitOK, "hook", "webhook", "https://hooks.example.com/…",
		"a@example.com, b@example.com", "disabled")
	s.run("get", "channel", "ops", "-o", "json").want(t, exitOK, `"kind": "mail"`)
	s.run("get", "channel", "none").want(t, exitNotFound)
	s.run("describe", "channel", "ops").want(t, exitOK, "a@example.com", "nightly has recovered", "waiting",
		"Notified by 2 jobs: nightly, weekly")
	s.run("get", "channels", "-o", "wide").want(t, exitOK, "JOBS", "LAST")
	s.run("get", "deliveries").want(t, exitOK, "nightly failed on bell-1", "sent", "nightly has recovered")
	s.run("get", "deliveries", "--status", "waiting", "-o", "wide").want(t, exitOK, "away", "trouble")
	s.run("get", "deliveries", "--status", "lost").want(t, exitUsage)
	s.run("test", "channel", "ops").want(t, exitOK, "channel ops accepted the test")
	s.run("test", "channel", "off").want(t, exitJobFailed, "connection refused")
	s.run("retry", "delivery", "2").want(t, exitOK, "delivery 2 to ops is due now")
	s.run("retry", "delivery", "3").want(t, exitNotFound)
	s.run("delete", "channel", "ops", "off").want(t, exitOK, "deleted ops", "deleted off")
	for _, args := range [][]string{
		{"create", "channel"}, {"create", "channel", "A"}, {"create", "channel", "x", "--kind", "pigeon"},
		{"create", "channel", "x", "--kind", "mail"}, {"create", "channel", "x", "--kind", "slack"},
		{"create", "channel", "x", "--kind", "slack", "--url-file", url, "--secret-file", secret},
		{"create", "channel", "x", "-f", url}, {"create", "channels", "-f", file("n.yaml", "kind: mail\n")},
		{"delete", "channel", "A/B"}, {"test", "channel", "../x"}, {"test"}, {"retry", "delivery"},
		{"retry", "delivery", "../x"},
	} {
		s.run(args...).want(t, exitUsage)
	}
}
