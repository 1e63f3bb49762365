package master

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/joblock"
	"carillon/internal/jobmgr"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/jobmgr/live"
	"carillon/internal/jobmgr/plan"
	"carillon/internal/maintenance"
	"carillon/internal/platform/bootclock"
	"carillon/internal/runlog"
	"carillon/internal/runlog/sqlitelog"
)

// A run that a survivor wrote down as lost, and whose owner comes to its end all the same,
// stays lost and shows how it ended: from etcd at first, then from the log store. A finish
// that is repeated after its outcome was delivered shows nothing.
func TestLateEndFromWorkerToView(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	client := shared.Start(t)
	log := slog.New(slog.DiscardHandler)
	session := joblock.NewSession(client, 15*time.Second, bootclock.Now, log, func() {})
	known := catalog.New(catalog.NewWatcher(client, nil), schedule.NewInterner(), time.Now)
	unplaced := func(*common.StoredJob) *common.Reason { return nil }
	done := make(chan struct{}, 2)
	for _, serve := range []func(context.Context) error{session.Run, known.Run} {
		go func() { _ = serve(ctx); done <- struct{}{} }()
	}
	t.Cleanup(func() { stop(); <-done; <-done })
	jobs := jobmgr.NewStore(jobmgr.Config{
		Client:   client,
		Interner: schedule.NewInterner(),
		Timezone: "UTC",
		Now:      time.Now,
		Catalog:  known,
	})
	store, err := sqlitelog.Open(ctx, filepath.Join(t.TempDir(), "runs.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	view := runlog.NewView(live.New(live.Config{Client: client, Catalog: known, Unplaced: unplaced, Now: time.Now}),
		plan.New(known, unplaced, func() *maintenance.Set { return nil }), store)

	const owner, other = "owner", "survivor"
	claimer := joblock.NewClaimer(client, session, owner, func(error) {}, nil)
	finisher := joblock.NewFinisher(client, owner, func(error) {})
	claim := func(name string) (common.Record, int64) {
		t.Helper()
		state, _, err := jobs.Put(ctx, common.Actor{Name: "me"},
			common.Job{Name: name, CronExpr: "@daily", Command: "true"}, common.Precondition{})
		if err != nil {
			t.Fatal(err)
		}
		to := state.Cursor.Add(time.Second)
		fire := common.PlannedFire(state.UID, to)
		r := common.Record{
			Run:        common.RunID(fire, 1),
			Fire:       fire,
			Job:        name,
			JobUID:     state.UID,
			JobVersion: state.Version,
			PlannedAt:  to,
			ClaimedAt:  to,
			Attempt:    1,
			Cause:      common.CauseCron,
			Owner:      common.Life{Worker: owner, Name: "north", Life: "l"},
			Nonce:      common.NewID(),
			Policy:     state.Terms().Policy,
			TTL:        15 * time.Second,
		}
		got := claimer.Claim(ctx, []common.Claim{{
			Job:     name,
			Version: state.Version,
			From:    state.Cursor,
			To:      to,
			Record:  r,
			Skipped: r.AsRun(common.StatusSkipped),
		}})[0]
		if got.Verdict != common.Claimed {
			t.Fatalf("%+v", got)
		}
		return r, got.Fence
	}
	finish := func(r *common.Record, fence int64) error {
		run, at := r.AsRun(common.StatusSucceeded), r.PlannedAt.Add(time.Hour)
		run.EndedAt, run.ExitCode = &at, new(0)
		return finisher.Finish(ctx, []common.Outcome{{Run: run, Token: fence}})[0]
	}
	deliver := func(worker string) {
		t.Helper()
		if _, err := runlog.Deliver(ctx, joblock.NewOutbox(client, worker), store); err != nil {
			t.Fatal(err)
		}
		if left, err := joblock.NewOutbox(client, worker).Pending(ctx, 10); err != nil || !left.Batch.Empty() {
			t.Fatalf("left in the outbox of %s: %v, %+v", worker, err, left)
		}
	}
	shown := func(when string, r *common.Record, status common.Status, late bool) {
		t.Helper()
		one, err := view.Run(ctx, r.Run)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		page, err := view.Runs(ctx, runlog.Query{Job: r.Job})
		if err != nil || len(page.Runs) != 1 {
			t.Fatalf("%s: %v, %+v", when, err, page)
		}
		for _, run := range []common.Run{one, page.Runs[0]} {
			if run.Status != status || (run.Orphaned != nil) != late {
				t.Fatalf("%s: %+v", when, run)
			}
			if l := run.Orphaned; late && (l.Status != common.StatusSucceeded || l.WorkerName != "north" ||
				l.EndedAt == nil || *l.ExitCode != 0) {
				t.Fatalf("%s: late end %+v", when, l)
			}
		}
	}

	r, fence := claim("cut-off")
	if _, err := client.Delete(ctx, common.LockKey(r.Job, r.Run)); err != nil { // its lease went
		t.Fatal(err)
	}
	survivor := joblock.NewRecoverer(client, other)
	orphans, _, err := survivor.Unresolved(ctx)
	if err != nil || len(orphans) != 1 {
		t.Fatalf("%v, %+v", err, orphans)
	}
	if resolved, err := survivor.Resolve(ctx, orphans[0], r.AsRun(common.StatusLost), nil); err != nil || !resolved {
		t.Fatalf("resolved %v, %v", resolved, err)
	}
	shown("before its end", &r, common.StatusLost, false)
	if err := finish(&r, fence); err != common.ErrNotOurs {
		t.Fatalf("the late finish: %v", err)
	}
	shown("both in etcd", &r, common.StatusLost, true)
	deliver(other)
	shown("its end in etcd", &r, common.StatusLost, true)
	deliver(owner)
	shown("both stored", &r, common.StatusLost, true)

	r, fence = claim("repeated")
	if err := finish(&r, fence); err != nil {
		t.Fatal(err)
	}
	deliver(owner)
	if err := finish(&r, fence); err != common.ErrNotOurs {
		t.Fatalf("the finish repeated: %v", err)
	}
	shown("its note in etcd", &r, common.StatusSucceeded, false)
	deliver(owner)
	shown("its note stored", &r, common.StatusSucceeded, false)
}
