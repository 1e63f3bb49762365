package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"carillon/test/harness"
)

// million starts a worker with a million jobs of which none is due.
func million(ctx context.Context, b *bench) error {
	jobs := 1_000_000
	if b.quick {
		jobs = 100_000
	}
	dir, err := os.MkdirTemp(b.dir, "million-")
	if err != nil {
		return err
	}
	c := &cluster{b: b, dir: dir}
	defer func() { c.kill() }()
	if c.etcd, c.etcdURL, err = b.newEtcd(ctx, dir, fillOptions()...); err != nil {
		return err
	}
	if err := c.startMongo(ctx); err != nil {
		return err
	}
	b.say("filling %d jobs", jobs)
	if err := fill(ctx, c.etcdURL, jobs); err != nil {
		return err
	}
	address, err := harness.FreeAddress()
	if err != nil {
		return err
	}
	w, err := b.start(dir, "worker", "carillon-worker", nil,
		c.flags("--name", "million", "--data-dir", filepath.Join(dir, "worker"),
			"--metrics-listen", address, "--log-level", "warn")...)
	if err != nil {
		return err
	}
	c.workers = []*worker{{Process: w}}
	a := newAPI("http://" + address)
	if err := harness.Until(ctx, 3*time.Minute, "all jobs are planned", func() bool {
		samples, err := a.metrics(ctx)
		return !w.Alive() || err == nil && int(samples["carillon_planned_jobs"]) == jobs && a.Ready(ctx)
	}); err != nil {
		return err
	}
	if !w.Alive() {
		return fmt.Errorf("the worker ended: %s", w.Tail())
	}
	ready := time.Since(w.Began)
	if err := harness.Sleep(ctx, 10*time.Second); err != nil { // for the garbage collection after the start
		return err
	}
	began, seen := time.Now(), look(w, c.etcd)
	if err := harness.Sleep(ctx, b.length(15*time.Second)); err != nil {
		return err
	}
	u, during := w.Usage(), time.Since(began)
	b.sheet.took("million", seen, during, w, c.etcd)
	idle := 100 * (u.CPU - seen[w].CPU).Seconds() / during.Seconds()
	what := fmt.Sprintf("%d jobs: ", jobs)
	b.sheet.add("million", what+"worker ready", fmt.Sprintf("%.1f s", ready.Seconds()), "≤ 60 s",
		reached(ready <= time.Minute))
	b.sheet.add("million", what+"memory (peak)", fmt.Sprintf("%s (%s)", mib(u.RSS), mib(u.Peak)), "≤ 1 GiB",
		reached(u.RSS <= 1<<30))
	b.sheet.add("million", what+"idle", fmt.Sprintf("%.1f %% of a core", idle), "< 2 %", reached(idle < 2))
	return nil
}
