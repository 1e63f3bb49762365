package joblock_test

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/joblock"
	"carillon/internal/platform/bootclock"
)

// A worker claims a fire, executes its command, and commits the outcome. (The example needs an etcd, and is only
// compiled.)
func ExampleClaimer() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:2379"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	session := joblock.NewSession(client, joblock.DefaultTTL, bootclock.Now, slog.Default(), func() {})
	go func() { _ = session.Run(ctx) }() // keeps the lease alive, under which the locks are
	unanswered := func(err error) { slog.Warn("etcd_unanswered", "error", err) }
	claimer := joblock.NewClaimer(client, session, "worker-1", unanswered, nil)
	finisher := joblock.NewFinisher(client, "worker-1", unanswered)

	planned := time.Date(2026, 6, 1, 2, 30, 0, 0, time.UTC)
	fire := common.PlannedFire("uid-of-the-job", planned)
	claim := common.Claim{
		Job:     "backup",
		Version: 4711,                         // of the job that the plan is based on
		From:    planned.Add(-24 * time.Hour), // the cursor that the plan is based on
		To:      planned,                      // the cursor after the claim
		Record: common.Record{
			Run:       common.RunID(fire, 1),
			Fire:      fire,
			Job:       "backup",
			JobUID:    "uid-of-the-job",
			PlannedAt: planned,
			Attempt:   1,
			Cause:     common.CauseCron,
			Owner:     common.Life{Worker: "worker-1", Life: common.NewID()},
			Nonce:     common.NewID(),
			Policy:    common.Policy{Overlap: common.OverlapAllow, LostAfter: common.DefaultLostAfter},
			TTL:       session.TTL(),
		},
	}
	result := claimer.Claim(ctx, []common.Claim{claim})[0]
	if result.Verdict != common.Claimed {
		return // another worker was faster (Stale), or etcd did not answer (Failed)
	}

	run := claim.Record.AsRun(common.StatusSucceeded) // after the command and all its processes have ended
	outcome := common.Outcome{Run: run, Token: result.Fence, Created: result.Created}
	fmt.Println(finisher.Finish(ctx, []common.Outcome{outcome})[0])
}

// A worker resolves the runs that a dead worker has left. (The example needs an etcd, and is only compiled.)
func ExampleRecoverer() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"127.0.0.1:2379"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	recoverer := joblock.NewRecoverer(client, "worker-2")
	runs, _, err := recoverer.Unresolved(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, orphan := range runs {
		if orphan.Locked {
			continue // its worker is alive
		}
		// Only after the record has been unchanged for the time that dispatch.Recovery waits.
		outcome := orphan.Record.AsRun(common.StatusLost)
		resolved, err := recoverer.Resolve(context.Background(), orphan, outcome, nil)
		fmt.Println(orphan.Record.Run, resolved, err)
	}
}
