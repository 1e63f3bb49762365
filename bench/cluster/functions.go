package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"carillon/internal/common"
	"carillon/test/harness"
)

// functions compares empty functions of a program with commands of a worker, counts their cost in etcd, and measures
// the idle program.
func functions(ctx context.Context, b *bench) error {
	c, err := b.newCluster(ctx, 0)
	if err != nil {
		return err
	}
	defer c.kill()
	n := 5000
	if b.quick {
		n = 500
	}
	program, err := b.idleProgram(ctx, c) // first: no other jobs are defined
	if err != nil {
		return err
	}
	program.Kill()
	commands, _, err := b.burstOf(ctx, c, "command", n, common.Job{Args: short()})
	if err != nil {
		return err
	}
	c.workers[0].Kill()
	if program, err = b.startProgram(ctx, c); err != nil {
		return err
	}
	defer program.Kill()
	noop := common.Job{Type: common.TypeFunc, With: common.Function{App: "bench", Name: "noop-0"}.With()}
	calls, each, err := b.burstOf(ctx, c, "function", n, noop)
	if err != nil {
		return err
	}
	rate, slow := float64(n)/calls.Seconds(), float64(n)/commands.Seconds()
	b.sheet.add("functions", fmt.Sprintf("%d functions due at once, until all have ended; `/bin/true` as `args`", n),
		fmt.Sprintf("%.0f and %.0f runs/s: × %.1f", rate, slow, rate/slow), "≥ × 5", reached(rate >= 5*slow))
	b.sheet.add("functions", "Raft entries per run", fmt.Sprintf("%.2f", each), "≤ 0.1",
		reached(math.Round(100*each) <= 10))
	return nil
}

// burstOf runs jobs that are due at once, and returns the time until all have ended, and the Raft entries per run.
func (b *bench) burstOf(ctx context.Context, c *cluster, prefix string, n int, like common.Job) (took time.Duration,
	entries float64, err error) {
	client, err := dial(c.etcdURL)
	if err != nil {
		return 0, 0, err
	}
	defer client.Close()
	b.say("functions: loading %d jobs", n)
	from, err := c.loadDue(ctx, prefix, n, like)
	if err != nil {
		return 0, 0, err
	}
	if err := harness.SleepUntil(ctx, from.Add(-time.Second)); err != nil {
		return 0, 0, err
	}
	before, err := entriesOf(ctx, c, client)
	if err != nil {
		return 0, 0, err
	}
	began, seen := time.Now(), look(c.processes()...)
	last, err := c.allEnded(ctx, prefix, n, from)
	if err != nil {
		return 0, 0, err
	}
	b.sheet.took("functions, "+prefix, seen, time.Since(began), c.processes()...)
	if err := harness.Sleep(ctx, 5*time.Second); err != nil { // until the log store has acknowledged all
		return 0, 0, err
	}
	after, err := entriesOf(ctx, c, client)
	if err != nil {
		return 0, 0, err
	}
	spent := after.committed - before.committed - (after.registrations - before.registrations)
	return last.Sub(from), float64(spent) / float64(n), nil
}

// idleProgram starts the program, and measures it while it has nothing to do, beside one that does not run.
func (b *bench) idleProgram(ctx context.Context, c *cluster) (*harness.Process, error) {
	env := []string{"ETCD=" + c.etcdURL, "STORE=" + c.mongoURI}
	bare, err := b.start(filepath.Join(c.dir, "bare"), "bare", "functions", append(env, "BARE=1"))
	if err != nil {
		return nil, err
	}
	defer bare.Kill()
	program, err := b.startProgram(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := harness.Sleep(ctx, 10*time.Second); err != nil {
		return nil, err
	}
	length := b.length(time.Minute)
	began, before := time.Now(), program.Usage()
	if err := harness.Sleep(ctx, length); err != nil {
		return nil, err
	}
	after := program.Usage()
	share := (after.CPU - before.CPU).Seconds() / time.Since(began).Seconds()
	more := float64(after.RSS-bare.Usage().RSS) / (1 << 20)
	b.sheet.add("functions", "idle program with 10 functions, above the program itself",
		fmt.Sprintf("%.1f MiB, %.2f %% of a core", more, 100*share), "≤ 10 MiB, ≤ 0.1 %",
		reached(more <= 10 && math.Round(1000*share) <= 1))
	return program, nil
}

// startProgram starts the program, and waits until it is a worker.
func (b *bench) startProgram(ctx context.Context, c *cluster) (*harness.Process, error) {
	env := []string{"ETCD=" + c.etcdURL, "STORE=" + c.mongoURI}
	program, err := b.start(filepath.Join(c.dir, "program"), "program", "functions", env)
	if err != nil {
		return nil, err
	}
	if err := harness.Until(ctx, startLimit, "the program is registered", func() bool {
		clocks, err := c.Workers(ctx)
		_, there := clocks["bench"]
		return !program.Alive() || err == nil && there
	}); err != nil {
		return nil, err
	}
	if !program.Alive() {
		return nil, fmt.Errorf("the program ended: %s", program.Tail())
	}
	return program, nil
}
