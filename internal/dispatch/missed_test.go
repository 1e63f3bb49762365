package dispatch

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

func TestMissedFires_ManyJobs_OneLogLine(t *testing.T) {
	var out bytes.Buffer
	m := newMissedLog(slog.New(slog.NewTextHandler(&out, nil)))
	lines := func(want int) {
		t.Helper()
		if got := strings.Count(out.String(), "msg=fires_missed "); got != want ||
			strings.Count(out.String(), "\n") != want {
			t.Fatalf("%d lines, not %d: %s", got, want, out.String())
		}
	}
	gap := func(job string, count int64, code string) {
		m.add(&common.Run{Job: job, Reason: &common.Reason{Code: code}, Gap: &common.Gap{Count: count}})
	}
	now := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	m.flush(now, false)
	lines(0)
	for i := range 200 {
		gap(fmt.Sprintf("job-%03d", i%100), 50, common.ReasonOutboxFull)
	}
	m.flush(now, false)
	lines(1)
	for _, want := range []string{"fires=10000", "jobs=100", "first_job=job-000", "outbox_full:10000"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
	gap("later", 1, common.ReasonLate)
	m.flush(now.Add(missedEvery-1), false)
	lines(1)
	m.flush(now.Add(missedEvery), false)
	lines(2)
	m.add(&common.Run{Job: "one", Reason: &common.Reason{Code: common.ReasonLate}})
	m.flush(now.Add(missedEvery+1), true)
	lines(3)
}
