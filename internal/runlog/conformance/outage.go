package conformance

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// Outage tests the errors of a store while its server is unavailable, and that it works again when the server
// is back. The server runs when Outage begins; stop must make it unreachable and start bring it back with its
// data. The store's limits should be short.
func Outage(t *testing.T, s Store, stop, start func()) {
	ctx := t.Context()
	first := ended("u1.1", base)
	write(t, s, runlog.Batch{Runs: []common.Run{first}})
	stop()
	Away(t, s)
	start()
	Back(t, s)
	second := ended("u1.2", base.Add(1))
	write(t, s, runlog.Batch{Runs: []common.Run{first, second}})
	runs, err := listed(ctx, s, runlog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "runs", runs, []common.Run{second, first})
}

// Away tests that every operation returns that the store does not answer.
func Away(t *testing.T, s Store) {
	t.Helper()
	ctx := t.Context()
	wantCode(t, "ping", s.Ping(ctx), common.CodeUnavailable)
	wantCode(t, "write", s.Write(ctx, runlog.Batch{Runs: []common.Run{ended("u1.2", base)}}), common.CodeUnavailable)
	_, err := s.Run(ctx, "u1.1")
	wantCode(t, "run", err, common.CodeUnavailable)
	_, err = listed(ctx, s, runlog.Query{})
	wantCode(t, "runs", err, common.CodeUnavailable)
	_, err = s.Output(ctx, "u1.1", 0, 1)
	wantCode(t, "output", err, common.CodeUnavailable)
	_, err = s.Changes(ctx, runlog.ChangeQuery{})
	wantCode(t, "changes", err, common.CodeUnavailable)
	_, err = s.Last(ctx, []string{"report"}, 1)
	wantCode(t, "last", err, common.CodeUnavailable)
	_, err = s.Rollups(ctx, runlog.RollupQuery{From: base, To: base.AddDate(1, 0, 0)})
	wantCode(t, "roll-ups", err, common.CodeUnavailable)
	_, err = s.Totals(ctx, []string{"report"}, base, base.AddDate(1, 0, 0))
	wantCode(t, "totals", err, common.CodeUnavailable)
	_, err = s.Kept(ctx, "", 1)
	wantCode(t, "kept", err, common.CodeUnavailable)
	_, err = s.Expire(ctx, runlog.Expiry{Job: "report", Keep: 1, Limit: 1})
	wantCode(t, "expire", err, common.CodeUnavailable)
	_, err = s.Tidy(ctx, runlog.Tidy{Now: base})
	wantCode(t, "tidy", err, common.CodeUnavailable)
}

// Back waits until the store answers.
func Back(t *testing.T, s Store) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		err := s.Ping(t.Context()) // takes as long as the store tries to connect
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the store does not answer a minute after its server is back: %v", err)
		}
	}
}
