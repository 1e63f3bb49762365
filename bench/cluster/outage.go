package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"carillon/test/harness"
)

const (
	// outageJobs fire once a second each.
	outageJobs = 100
	// outboxMax is the worker's bound, and its default.
	outboxMax = 160 << 20
	// compaction is how old history in etcd can be, with --auto-compaction-retention=5m.
	compaction = 10 * time.Minute
	// deadWorker owns the outbox that is filled.
	deadWorker = "workerthatisgone"
	// storing bounds the time in which the log store accepts the backlog.
	storing = 10 * time.Minute
	// ownPart is the part of the bound that the worker fills by itself.
	ownPart = 2 << 20
)

// outage measures a day without the log store, at 100 fires a second. The outcomes of the first hour are put
// into the outbox of a dead worker and, as many as it must hold to be stopped, into that of the worker; the
// last MiB it fills by itself. From then on nothing is written, so the rest of the day is a cursor that is a
// day behind: 100 further jobs have such cursors.
func outage(ctx context.Context, b *bench) error {
	c, err := b.newCluster(ctx)
	if err != nil {
		return err
	}
	defer c.kill()
	client, err := dial(c.etcdURL)
	if err != nil {
		return err
	}
	defer client.Close()
	before := c.master.Usage().RSS
	address := strings.TrimPrefix(c.mongoURI, "mongodb://")
	c.mongo.Kill()
	bound := int64(outboxMax)
	if b.quick {
		bound = 24 << 20
	}
	sizes := watchSizes(ctx, client)
	own := bound / 16 // a worker that holds less is not stopped by the outboxes of others
	earlier, err := fillOutbox(ctx, client, deadWorker, "earlier", func(_ int, bytes int64) bool {
		return bytes >= bound-own-ownPart
	})
	if err != nil {
		return err
	}
	waiting := earlier.count
	live, liveNames := many("live", outageJobs, job{
		CronExpr: everySecond,
		Command:  "true",
		CatchUp:  &catchUp{Policy: "none"},
	})
	if err := c.load(ctx, live); err != nil {
		return err
	}
	loaded := time.Now().UTC().Truncate(time.Second)
	if err := c.startWorker(ctx, "worker-1", 0, "--outbox-max", fmt.Sprintf("%dMiB", bound>>20)); err != nil {
		return err
	}
	id, err := os.ReadFile(filepath.Join(c.workers[0].dir, "worker.id"))
	if err != nil {
		return err
	}
	mine, err := fillOutbox(ctx, client, strings.TrimSpace(string(id)), "mine", func(_ int, bytes int64) bool {
		return bytes >= own
	})
	if err != nil {
		return err
	}
	_, empty, err := outboxes(ctx, client)
	if err != nil {
		return err
	}
	filling := time.Now()
	if err := harness.Until(ctx, 5*time.Minute, "the worker is full", func() bool { return c.full(ctx) }); err != nil {
		return err
	}
	_, full, err := outboxes(ctx, client)
	if err != nil {
		return err
	}
	history := int64(float64(full-empty-ownPart) * float64(compaction) / float64(time.Since(filling)))
	back := time.Now().UTC().Truncate(time.Second).Add(-24 * time.Hour)
	days, err := putHeld(ctx, client, back)
	if err != nil {
		return err
	}
	if err := harness.Sleep(ctx, 10*time.Second); err != nil { // for the writes in flight when it was full
		return err
	}
	count, _, err := outboxes(ctx, client)
	if err != nil {
		return err
	}
	began, seen := time.Now(), look(c.processes()...)
	pages, err := c.listFor(ctx, b.length(time.Minute), "live-00007")
	if err != nil {
		return err
	}
	hold := time.Since(began)
	after, size, err := outboxes(ctx, client)
	if err != nil {
		return err
	}
	rss := c.master.Usage()
	b.sheet.took("outage", seen, hold, c.processes()...)
	b.sheet.add("outage", fmt.Sprintf("outcomes in etcd, at the bound of %s and after %v more", mib(bound),
		hold.Round(time.Second)), fmt.Sprintf("%d, %d", count, after), "the same", reached(count == after))
	b.sheet.add("outage", fmt.Sprintf("etcd's file; with the history of %v at this rate", compaction),
		fmt.Sprintf("%s; %s", mib(size), mib(size+history)), "≤ 400 MiB", reached(size+history <= 400<<20))
	for _, p := range pages {
		b.sheet.add("outage", fmt.Sprintf("%s with %d outcomes waiting", p.what, after),
			fmt.Sprintf("p50 %s, p95 %s (%d pages)", ms(p.at(50)), ms(p.at(95)), len(p.took)),
			"p95 ≤ "+ms(p.goal), reached(p.at(95) <= p.goal))
	}
	b.sheet.add("outage", "master's memory before; then, and at most",
		fmt.Sprintf("%s; %s, %s", mib(before), mib(rss.RSS), mib(rss.Peak)), "≤ + 64 MiB",
		reached(rss.RSS <= before+64<<20))
	groups := []planned{
		{what: "the outbox of the dead worker", jobs: earlier.jobs, from: earlier.from, to: earlier.to},
		{what: "the outbox of the worker", jobs: mine.jobs, from: mine.from, to: mine.to},
		{what: "jobs a day behind", jobs: days, from: back},
		{what: "jobs that fired until it was full", jobs: liveNames, from: loaded},
	}
	return c.comeBack(ctx, client, address, groups, waiting, sizes)
}
