package main

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/apiclient"
	"carillon/internal/common"
	"carillon/internal/health"
)

// Examine finds what is said of degraded modes; what stops claims is failing.
func (f *fakes) Examine(context.Context) health.Examination {
	e := health.Examination{At: time.Now(), Master: "host-m", Version: "1.2.3", Records: f.records}
	for _, c := range f.lasting {
		found := health.Finding{
			Check:  c.Code,
			Status: health.FindingWarning,
			Who:    c.Who,
			Text:   c.Text,
			Advice: "mend " + c.Code,
		}
		if c.StopsClaims {
			found.Status = health.FindingFailing
		}
		e.Findings = append(e.Findings, found)
	}
	e.Status = health.Worst(e.Findings)
	return e
}

func (f *fakes) DeleteRecord(_ context.Context, _ common.Actor, key string, revision int64) error {
	left := slices.DeleteFunc(slices.Clone(f.records), func(r health.Record) bool {
		return r.Key == key && r.Revision == revision
	})
	if len(left) == len(f.records) {
		return common.Errorf(common.CodeStale, "%s is at another version", key)
	}
	f.records = left
	return nil
}

// TestDoctor_ValuesThatDoNotDecode shows that each is listed with the command that deletes it, and that this command
// works.
func TestDoctor_ValuesThatDoNotDecode(t *testing.T) {
	s := newStage(t)
	if out := s.run("doctor").want(t, exitOK).out; strings.Contains(out, "do not decode") {
		t.Errorf("there are none: %s", out)
	}
	s.records = []health.Record{
		{Key: "/cron/secrets/it's", Kind: "secret", Size: 3, Revision: 7, Fault: health.RecordJSON, Text: "not JSON"},
		{Key: "/cron/outbox/w/r", Kind: "outcome", Size: 3, Revision: 8, Fault: health.RecordJSON, Text: "not JSON",
			Advice: "write the value of a backup"},
	}
	s.run("doctor").want(t, exitOK, "/cron/secrets/it's (secret, 3 bytes, revision 7): not JSON",
		`cronctl delete record '/cron/secrets/it'\''s' --revision 7`,
		"/cron/outbox/w/r (outcome, 3 bytes, revision 8): not JSON", "write the value of a backup")
	s.run("doctor", "-o", "json").want(t, exitOK, `"key": "/cron/outbox/w/r"`)
	s.run("delete", "record", "/cron/secrets/it's").want(t, exitUsage, "revision")
	s.run("delete", "record", "/cron/secrets/it's", "--revision", "7").want(t, exitUsage, "--yes")
	if len(s.records) != 2 {
		t.Error("deleted without confirmation")
	}
	s.run("delete", "record", "/cron/secrets/it's", "--revision", "6", "--yes").want(t, exitConflict)
	s.run("delete", "record", "/cron/secrets/it's", "--revision", "7", "--yes").want(t, exitOK, "deleted /cron/secrets")
	if len(s.records) != 1 {
		t.Errorf("left %+v", s.records)
	}
}

func TestDoctor(t *testing.T) {
	s := newStage(t)
	r := s.run("doctor").want(t, exitOK, "CHECK", "server", "your_clock")
	if strings.Contains(r.out, "What to do") {
		t.Errorf("all is well: %s", r.out)
	}
	s.lasting = []common.Condition{{Code: "one", Who: "north", Text: "something is not"}}
	s.run("doctor").want(t, exitOK, "warning", "something is not", "Remedies:", "one (north): mend one")
	s.lasting = append(s.lasting, common.Condition{Code: "two", Text: "x", StopsClaims: true})
	var e examination
	if err := json.Unmarshal([]byte(s.run("doctor", "-o", "json").want(t, exitJobFailed).out), &e); err != nil ||
		e.Status != "failing" || e.Master != "host-m" || len(e.Findings) < 4 {
		t.Errorf("%+v, %v", e, err)
	}
	s.server.Close()
	s.run("doctor").want(t, exitAway)
}

func TestDoctor_ChecksOfTheClient(t *testing.T) {
	now := time.Now()
	resp := &http.Response{Header: http.Header{"Date": {now.Add(-time.Minute).UTC().Format(http.TimeFormat)}}}
	found := map[string]string{}
	for _, f := range seenFromHere(resp, &examination{Version: version},
		&apiclient.Me{ExpiresAt: new(now.Add(time.Hour))}, 2*time.Second, now) {
		if found[f.Check] = f.Status; f.Advice == "" {
			t.Errorf("what is to be done? %+v", f)
		}
	}
	for _, check := range []string{"server", "your_clock", "your_token"} {
		if found[check] != "warning" {
			t.Errorf("%s is %q", check, found[check])
		}
	}
}
