package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"carillon/test/harness"
)

const fleetWorkers = 10

// daemonFleet has 1,000 replicas on ten workers: the first placement, what they cost while they only run, and the end
// of one worker.
func daemonFleet(ctx context.Context, b *bench) error {
	for _, jobs := range []int{1, 10} {
		if err := b.fleetOf(ctx, jobs); err != nil {
			return fmt.Errorf("%d jobs: %w", jobs, err)
		}
	}
	return nil
}

func (b *bench) fleetOf(ctx context.Context, jobs int) error {
	replicas := 1000
	if b.quick {
		replicas = 100
	}
	d, err := b.newDaemons(ctx, fleetWorkers)
	if err != nil {
		return err
	}
	defer d.close()
	ids, err := d.ids()
	if err != nil {
		return err
	}
	length := b.length(40 * time.Second)
	if err := harness.Sleep(ctx, 5*time.Second); err != nil { // what was requested before is written
		return err
	}
	without, err := d.idle(ctx, length)
	if err != nil {
		return err
	}
	began, seen := time.Now(), look(d.processes()...)
	took, err := d.start(ctx, jobs, replicas/jobs, "1s")
	if err != nil {
		return err
	}
	row := fmt.Sprintf("daemon-fleet, jobs: %d", jobs)
	b.sheet.took(row, seen, time.Since(began), d.processes()...)
	placed, err := d.placed(ctx)
	if err != nil {
		return err
	}
	of, total := uneven(placed, ids)
	b.sheet.add(row, fmt.Sprintf("first placement of %d replicas on %d workers", replicas, fleetWorkers), ms(took),
		"≤ 10 s", reached(took <= 10*time.Second))
	b.sheet.add(row, "max − min of the replicas on a worker: of one job; of all", fmt.Sprintf("%d; %d", of, total),
		"≤ 1 of each job", reached(of <= 1))
	_, moves, err := d.quiet(ctx, time.Now(), 20*time.Second)
	if err != nil {
		return err
	}
	settled := time.Now()
	idle, err := d.idle(ctx, length)
	if err != nil {
		return err
	}
	more, _, err := d.started(settled)
	if err != nil {
		return err
	}
	b.sheet.add(row, fmt.Sprintf("Raft entries beside registrations in %v", length), fmt.Sprintf(
		"%d; without daemons %d (%d moves after the placement, %d meanwhile)", idle, without, moves, len(more)),
		"no more", reached(idle <= without+2 && len(more) == 0))
	return b.leaves(ctx, d, row, ids)
}

// leaves ends one worker: its replicas, and no others, must start elsewhere.
func (b *bench) leaves(ctx context.Context, d *daemons, row string, ids []string) error {
	placed, err := d.placed(ctx)
	if err != nil {
		return err
	}
	own := on(placed, ids[0])
	began := time.Now()
	if err := d.leave(ctx, 0); err != nil {
		return err
	}
	if err := d.elsewhere(ctx, began, own); err != nil {
		return err
	}
	last := time.Since(began)
	if err := harness.Sleep(ctx, b.length(40*time.Second)); err != nil {
		return err
	}
	starts, overlaps, err := d.started(began)
	if err != nil {
		return err
	}
	if placed, err = d.placed(ctx); err != nil {
		return err
	}
	of, total := uneven(placed, ids[1:])
	b.sheet.add(row, fmt.Sprintf("a worker with %d replicas leaves: starts elsewhere, two of a replica at a time", own),
		fmt.Sprintf("%d, %d; the last after %s; max − min of a job %d, of all %d", len(starts), overlaps, ms(last), of,
			total), "exactly its own, 0", reached(len(starts) == own && overlaps == 0))
	return nil
}

// ids returns the ids of the workers, in their order.
func (d *daemons) ids() (ids []string, err error) {
	for _, w := range d.workers {
		id, err := os.ReadFile(filepath.Join(w.dir, "worker.id"))
		if err != nil {
			return nil, err
		}
		ids = append(ids, strings.TrimSpace(string(id)))
	}
	return ids, nil
}

// leave sends SIGTERM to a worker, and waits until it has ended.
func (d *daemons) leave(ctx context.Context, worker int) error {
	w := d.workers[worker]
	w.Signal(syscall.SIGTERM)
	return harness.Until(ctx, daemonLimit, "the worker has ended", func() bool {
		return !w.Alive() || harness.Sleep(ctx, 50*time.Millisecond) != nil
	})
}

// elsewhere waits until a number of replicas have been started since a time.
func (d *daemons) elsewhere(ctx context.Context, since time.Time, count int) error {
	return harness.Until(ctx, daemonLimit, fmt.Sprintf("%d replicas run elsewhere", count), func() bool {
		starts, _, err := d.started(since)
		return err == nil && len(starts) >= count || harness.Sleep(ctx, 100*time.Millisecond) != nil
	})
}
