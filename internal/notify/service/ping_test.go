package service

import (
	"testing"
	"time"

	"carillon/internal/notify"
)

// A failed backfill does not fail a check: no recovery would follow.
func TestPing_FailedBackfill_LeavesTheCheck(t *testing.T) {
	target := &notify.Target{URL: "https://hc-ping.com/canary"}
	for path, data := range map[string]notify.Data{
		"https://hc-ping.com/canary/fail": {Event: "failed", Job: "nightly"},
		"https://hc-ping.com/canary/log":  {Event: "failed", Job: "nightly", Backfill: true},
		"https://hc-ping.com/canary":      {Event: "recovered", Job: "nightly"},
	} {
		r, err := ping{}.Request(&notify.Channel{}, target, &notify.Message{Data: data}, time.Now())
		if err != nil || r.URL != path {
			t.Errorf("%+v is sent to %s, %v; want %s", data, r.URL, err, path)
		}
	}
}
