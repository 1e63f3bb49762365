package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// while writes 500 runs a second, 50 at a time, during another operation, and returns the duration of each
// write. A write that is due during another one counts from its due time.
func (b *bench) while(ctx context.Context, salt int, do func(context.Context) error) (times, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	const pace, atOnce = 100 * time.Millisecond, 50
	var writes times
	written := make(chan error, 1)
	go func() {
		due := time.Now()
		for n := 0; ; n++ {
			due = due.Add(pace)
			select {
			case <-time.After(time.Until(due)):
			case <-ctx.Done():
				written <- nil
				return
			}
			part := runlog.Batch{}
			for i := range atOnce {
				r := b.made.run((n*atOnce + i) % b.runs)
				r.PlannedAt = end.Add(time.Duration(n)*pace + time.Duration(i)*2*time.Millisecond +
					time.Duration(salt)*time.Hour)
				r.Fire = common.PlannedFire(r.JobUID, r.PlannedAt)
				r.ID = common.RunID(r.Fire, 1)
				part.Runs = append(part.Runs, r)
			}
			if err := b.store.Write(context.WithoutCancel(ctx), part); err != nil {
				written <- err
				return
			}
			writes = append(writes, time.Since(due))
		}
	}()
	err := do(ctx)
	stop()
	return writes, errors.Join(err, <-written)
}

// expire deletes the oldest tenth, job by job, as housekeeping does: pieces of some 20 ms, with a pause of
// four times as long after each. Then half as many again without a pause.
func expire(ctx context.Context, b *bench) ([]line, error) {
	const goal = 100 * time.Millisecond
	tenth, more := b.made.run(b.runs/10).PlannedAt, b.made.run(b.runs/10+b.runs/20).PlannedAt
	alone, err := b.while(ctx, 0, func(ctx context.Context) error {
		select {
		case <-time.After(10 * time.Second):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	if err != nil {
		return nil, err
	}
	began := time.Now()
	gone := 0
	kept, err := b.while(ctx, 1, func(ctx context.Context) (err error) {
		gone, err = b.delete(ctx, tenth, 4)
		return err
	})
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	began = time.Now()
	hasty := 0
	pressed, err := b.while(ctx, 2, func(ctx context.Context) (err error) {
		hasty, err = b.delete(ctx, more, 0)
		return err
	})
	if err != nil {
		return nil, err
	}
	hastyTook := time.Since(began)
	began = time.Now()
	var tidy runlog.Tidied
	tidying, err := b.while(ctx, 3, func(ctx context.Context) (err error) {
		tidy, err = tidied(ctx, b.store, runlog.Tidy{Now: end})
		return err
	})
	if err != nil {
		return nil, err
	}
	return []line{
		{what: "500 runs/s are written, 50 at a time, nothing else: a write", measured: alone.String()},
		judged(fmt.Sprintf("the same while the oldest %d go (in %s)", gone, took.Round(time.Second)), "max < 100 ms",
			kept.String(), kept.quantile(1) < goal),
		{
			what: fmt.Sprintf("the same while %d go without a rest, %.0f/s", hasty,
				float64(hasty)/hastyTook.Seconds()),
			measured: pressed.String(),
		},
		{
			what: fmt.Sprintf("the same while %d MiB go back to the disk (in %s)", tidy.Freed>>20,
				time.Since(began).Round(10*time.Millisecond)),
			measured: tidying.String(),
		},
	}, nil
}

// delete deletes runs planned before a time; it pauses for a multiple of the duration of each piece.
func (b *bench) delete(ctx context.Context, before time.Time, rest time.Duration) (gone int, err error) {
	for after := ""; ; {
		kept, err := b.store.Kept(ctx, after, 100)
		if err != nil || len(kept) == 0 {
			return gone, err
		}
		after = kept[len(kept)-1].Job
		for _, k := range kept {
			for more := true; more; {
				began := time.Now()
				part, err := b.store.Expire(ctx, runlog.Expiry{Job: k.Job, Before: before, Limit: 200})
				if err != nil {
					return gone, err
				}
				gone += part.Runs
				more = part.More
				select {
				case <-time.After(rest * time.Since(began)):
				case <-ctx.Done():
					return gone, ctx.Err()
				}
			}
		}
	}
}

// backup copies the store during writes, if it supports that.
func backup(ctx context.Context, b *bench) (lines []line, err error) {
	s, can := b.store.(interface {
		Backup(ctx context.Context, path string) error
	})
	if !can {
		return nil, nil
	}
	path := filepath.Join(b.dir, "backup.sqlite")
	defer func() { err = errors.Join(err, os.Remove(path)) }()
	began := time.Now()
	writes, err := b.while(ctx, 4, func(ctx context.Context) error { return s.Backup(ctx, path) })
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return info.Size() >> 20
	}
	return []line{
		{
			what: fmt.Sprintf("a backup (%d MiB of a file of %d MiB)", size(path),
				size(filepath.Join(b.dir, "runs.sqlite"))),
			measured: took.Round(100 * time.Millisecond).String(),
		},
		{what: "500 runs/s are written meanwhile: a write", measured: writes.String()},
	}, nil
}
