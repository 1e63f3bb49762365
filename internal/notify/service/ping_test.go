package service

import (
	"testing"
	"time"

	"carillon/internal/notify"
)

// Failed backfills and skipped fires do not fail a check: no recovery would follow.
func TestPing_WithoutRecovery_LeavesTheCheck(t *testing.T) {
	target := &notify.Target{URL: "https://hc-ping.com/canary"}
	for _, c := range []struct {
		data notify.Data
		path string
	}{
		{notify.Data{Event: "failed", Job: "nightly"}, "/fail"},
		{notify.Data{Event: "failed", Job: "nightly", Backfill: true}, "/log"},
		{notify.Data{Event: notify.SubjectSkipped, Job: "nightly"}, "/log"},
		{notify.Data{Event: "recovered", Job: "nightly"}, ""},
	} {
		r, err := ping{}.Request(&notify.Channel{}, target, &notify.Message{Data: c.data}, time.Now())
		if want := target.URL + c.path; err != nil || r.URL != want {
			t.Errorf("%+v is sent to %s, %v; want %s", c.data, r.URL, err, want)
		}
	}
}
