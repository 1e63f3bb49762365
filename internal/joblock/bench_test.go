package joblock_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/joblock"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/embedded"
)

// BenchmarkCycle measures what a run costs in etcd and in the packages before it: claim, finish and acknowledgement, in
// batches, with the etcd of the standalone. The time includes its syncs; cpu-ns/op is what all threads used.
func BenchmarkCycle(b *testing.B) {
	for _, batch := range []int{1, 20, joblock.MaxBatch} {
		b.Run(fmt.Sprintf("batch=%d", batch), func(b *testing.B) {
			etcd, err := embedded.Start(b.Context(), b.TempDir(), slog.New(slog.DiscardHandler))
			if err != nil {
				b.Fatal(err)
			}
			defer etcd.Close()
			c := newCycle(b, etcd.Client(), batch)
			b.ReportAllocs()
			b.ResetTimer()
			began := used(b)
			for n := 0; n < b.N; n += batch {
				c.run(b)
			}
			b.ReportMetric(float64(used(b)-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

// used returns the processor time of the process.
func used(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// cycle executes fires of some jobs without commands.
type cycle struct {
	jobs     []benchJob
	life     common.Life
	claimer  *joblock.Claimer
	finisher *joblock.Finisher
	outbox   *joblock.Outbox
}

type benchJob struct {
	name, uid string
	version   int64
	cursor    time.Time
}

func newCycle(b *testing.B, client *clientv3.Client, jobs int) *cycle {
	session := joblock.NewSession(client, joblock.DefaultTTL, bootclock.Now, slog.New(slog.DiscardHandler), func() {})
	go func() { _ = session.Run(b.Context()) }()
	if _, err := session.Lease(b.Context()); err != nil {
		b.Fatal(err)
	}
	c := &cycle{
		life: common.Life{Worker: common.NewID(), Name: "worker-1.example.org", Life: common.NewID(),
			BootID: "8d1f3a1e-9c0b-4a57-8f0e-2c1b7c5f9a11", PIDNamespace: "4026531836", Marked: true},
		jobs: make([]benchJob, jobs),
	}
	c.claimer = joblock.NewClaimer(client, session, c.life.Worker, quiet, nil)
	c.finisher = joblock.NewFinisher(client, c.life.Worker, quiet)
	c.outbox = joblock.NewOutbox(client, c.life.Worker)
	for i := range c.jobs {
		j := benchJob{name: fmt.Sprintf("reports-daily-%03d", i), uid: common.NewID(), cursor: t0}
		def := common.StoredJob{Job: common.Job{Name: j.name, Group: "reports", Command: "true"}, UID: j.uid}
		data, err := json.Marshal(def)
		if err != nil {
			b.Fatal(err)
		}
		resp, err := client.Txn(b.Context()).Then(clientv3.OpPut(common.JobKey(j.name), string(data)),
			clientv3.OpPut(common.CursorKey(j.name), common.TimeKey(t0))).Commit()
		if err != nil {
			b.Fatal(err)
		}
		j.version = resp.Header.Revision
		c.jobs[i] = j
	}
	return c
}

func (c *cycle) run(b *testing.B) {
	b.Helper()
	claims := make([]common.Claim, len(c.jobs))
	now := time.Now().UTC()
	for i := range c.jobs {
		j := &c.jobs[i]
		to := j.cursor.Add(time.Minute)
		fire := common.PlannedFire(j.uid, to)
		record := common.Record{
			Run:        common.RunID(fire, 1),
			Fire:       fire,
			Job:        j.name,
			JobUID:     j.uid,
			JobVersion: j.version,
			Group:      "reports",
			PlannedAt:  to,
			ClaimedAt:  now,
			Attempt:    1,
			Cause:      common.CauseCron,
			Owner:      c.life,
			Nonce:      common.NewID(),
			Policy: common.Policy{Overlap: common.OverlapSkip, KillGrace: 10 * time.Second,
				LostAfter: time.Minute},
			TTL: joblock.DefaultTTL,
		}
		skipped := record.AsRun(common.StatusSkipped)
		skipped.ID, skipped.Attempt = common.RunID(fire, 0), 0
		skipped.Worker, skipped.WorkerName, skipped.ClaimedAt = "", "", nil
		skipped.Reason = &common.Reason{Code: common.ReasonOverlap, Text: "the previous run had not ended"}
		claims[i] = common.Claim{Job: j.name, Version: j.version, From: j.cursor, To: to, Record: record,
			Skipped: skipped}
		j.cursor = to
	}
	outcomes := make([]common.Outcome, len(claims))
	ids := make([]string, len(claims))
	for i, r := range c.claimer.Claim(b.Context(), claims) {
		if r.Verdict != common.Claimed {
			b.Fatalf("%+v", r)
		}
		run := claims[i].Record.AsRun(common.StatusSucceeded)
		ended, code := now.Add(2*time.Millisecond), 0
		run.StartedAt, run.EndedAt, run.ExitCode = &now, &ended, &code
		run.CPUSeconds, run.MaxRSSBytes = 0.000712, 1<<20
		run.Delays = &common.Delays{Plan: "1.204ms", Claim: "2.381ms", Start: "1.127ms"}
		outcomes[i] = common.Outcome{Run: run, Token: r.Fence, Created: r.Created}
		ids[i] = run.ID
	}
	for _, err := range c.finisher.Finish(b.Context(), outcomes) {
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := c.outbox.Ack(b.Context(), ids); err != nil {
		b.Fatal(err)
	}
}
