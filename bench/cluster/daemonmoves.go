package main

import (
	"context"
	"fmt"
	"time"

	"carillon/internal/common"
	"carillon/test/harness"
)

// daemonKill kills one of three workers with a hundred replicas each.
func daemonKill(ctx context.Context, b *bench) error {
	const jobs, workers, lease, lostAfter = 100, 3, 15 * time.Second, 20 * time.Second
	d, err := b.newDaemons(ctx, workers)
	if err != nil {
		return err
	}
	defer d.close()
	if _, err := d.start(ctx, jobs, workers, common.NeverRebalance); err != nil {
		return err
	}
	ids, err := d.ids()
	if err != nil {
		return err
	}
	if err := harness.Sleep(ctx, 5*time.Second); err != nil {
		return err
	}
	placed, err := d.placed(ctx)
	if err != nil {
		return err
	}
	own := on(placed, ids[1])
	began, seen := time.Now(), look(d.processes()...)
	d.workers[1].KillWorker()
	if err := d.elsewhere(ctx, began, own); err != nil {
		return err
	}
	if err := harness.Sleep(ctx, 5*time.Second); err != nil {
		return err
	}
	b.sheet.took("daemon-kill", seen, time.Since(began), d.processes()...)
	starts, overlaps, err := d.started(began)
	if err != nil {
		return err
	}
	var first, last time.Duration
	for i := range starts {
		after := starts[i].Start.Sub(began)
		if last = max(last, after); first == 0 || after < first {
			first = after
		}
	}
	b.sheet.add("daemon-kill", fmt.Sprintf("a worker is killed: its %d replicas run elsewhere", own),
		fmt.Sprintf("%d starts, from %s to %s", len(starts), ms(first), ms(last)),
		"≤ lease + lostAfter + 5 s = 40 s", reached(len(starts) == own && last <= lease+lostAfter+5*time.Second))
	b.sheet.add("daemon-kill", "replicas of which two ran at a time", fmt.Sprint(overlaps), "0", reached(overlaps == 0))
	return nil
}

// daemonJoin has a worker join ten workers with 100 replicas, and daemonJoinAll with 1,000, which takes a quarter of
// an hour: handovers that balance are 10 s apart.
func daemonJoin(ctx context.Context, b *bench) error    { return b.joins(ctx, "daemon-join", 100) }
func daemonJoinAll(ctx context.Context, b *bench) error { return b.joins(ctx, "daemon-join-all", 1000) }

func (b *bench) joins(ctx context.Context, row string, replicas int) error {
	const jobs, quiet = 10, time.Minute
	d, err := b.newDaemons(ctx, fleetWorkers)
	if err != nil {
		return err
	}
	defer d.close()
	if _, err := d.start(ctx, jobs, replicas/jobs, "1s"); err != nil {
		return err
	}
	if err := harness.Sleep(ctx, 10*time.Second); err != nil {
		return err
	}
	before, _, err := d.started(time.Time{})
	if err != nil {
		return err
	}
	began, seen := time.Now(), look(d.processes()...)
	if err := d.startWorker(ctx, "worker-joined", 0); err != nil {
		return err
	}
	// It is over when nothing has been moved for a minute, six times the pause between two handovers.
	last, moves, err := d.quiet(ctx, began, quiet)
	if err != nil {
		return err
	}
	b.sheet.took(row, seen, time.Since(began), d.processes()...)
	ids, err := d.ids()
	if err != nil {
		return err
	}
	placed, err := d.placed(ctx)
	if err != nil {
		return err
	}
	_, overlaps, err := d.started(began)
	if err != nil {
		return err
	}
	of, total := uneven(placed, ids)
	most := (replicas + fleetWorkers) / (fleetWorkers + 1) // of n replicas, n/11 belong on the new worker
	b.sheet.add(row, fmt.Sprintf("a worker joins %d workers with %d replicas: moves", fleetWorkers, len(before)),
		fmt.Sprintf("%d in %v, one in %v; max − min of all %d, of a job %d; two at a time: %d", moves,
			last.Sub(began).Round(time.Second),
			(last.Sub(began)/time.Duration(max(1, moves))).Round(100*time.Millisecond), total, of, overlaps),
		fmt.Sprintf("≤ %d, then none for %v", most, quiet),
		reached(moves > 0 && moves <= most && total <= 1 && overlaps == 0))
	return nil
}

// quiet waits until no replica has been started for some time. It returns when the last one was since a time, and how
// many were.
func (d *daemons) quiet(ctx context.Context, since time.Time, length time.Duration) (last time.Time, moves int,
	err error) {
	for last = since; time.Since(last) < length; {
		if err := harness.Sleep(ctx, time.Second); err != nil {
			return last, moves, err
		}
		starts, _, err := d.started(since)
		if err != nil {
			return last, moves, err
		}
		for i := moves; i < len(starts); i++ {
			last = starts[i].Start
		}
		moves = len(starts)
	}
	return last, moves, nil
}
