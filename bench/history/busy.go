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

// while writes 500 runs a second, 50 at a time, as long as something else is done, and
// gives what each write took. A write that is due while another one is under way is counted
// from when it was due.
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
				r.PlannedAt = end.Add(time.Duration(n)*pace + time.Duration(i)*2*time.Millisecond + time.Duration(salt)*time.Hour)
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

// expire deletes the oldest tenth, as housekeeping does: job by job, a thousand runs at a time.
func expire(ctx context.Context, b *bench) ([]line, error) {
	const goal = 100 * time.Millisecond
	oldest := b.made.run(b.runs / 10).PlannedAt
	gone, tidy := runlog.Expired{}, runlog.Tidied{}
	began := time.Now()
	deleting := func(ctx context.Context) error {
		for after := ""; ; {
			kept, err := b.store.Kept(ctx, after, 100)
			if err != nil {
				return err
			}
			if len(kept) == 0 {
				return nil
			}
			after = kept[len(kept)-1].Job
			for _, k := range kept {
				for more := true; more; {
					part, err := b.store.Expire(ctx, runlog.Expiry{Job: k.Job, Before: oldest, Limit: 1000})
					if err != nil {
						return err
					}
					gone.Runs, gone.Chunks, gone.Bytes = gone.Runs+part.Runs, gone.Chunks+part.Chunks, gone.Bytes+part.Bytes
					more = part.More
				}
			}
		}
	}
	writes, err := b.while(ctx, 1, deleting)
	if err != nil {
		return nil, err
	}
	took := time.Since(began)
	began = time.Now()
	tidying, err := b.while(ctx, 2, func(ctx context.Context) (err error) {
		tidy, err = tidied(ctx, b.store, runlog.Tidy{Now: end})
		return err
	})
	if err != nil {
		return nil, err
	}
	return []line{
		judged(fmt.Sprintf("500 runs/s are written, 50 at a time, while the oldest %d go: a write", gone.Runs), "max < 100 ms", writes.String(), writes.quantile(1) < goal),
		{what: "to delete them", measured: fmt.Sprintf("%s: %.0f runs/s", took.Round(100*time.Millisecond), float64(gone.Runs)/took.Seconds())},
		judged(fmt.Sprintf("500 runs/s are written while %d MiB go back to the disk: a write", tidy.Freed>>20), "max < 100 ms", tidying.String(), tidying.quantile(1) < goal),
		{what: "to give them back", measured: time.Since(began).Round(10 * time.Millisecond).String()},
	}, nil
}

// backup copies the store while it is written to, where it can.
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
	writes, err := b.while(ctx, 3, func(ctx context.Context) error { return s.Backup(ctx, path) })
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
		{what: fmt.Sprintf("a backup (%d MiB of a file of %d MiB)", size(path), size(filepath.Join(b.dir, "runs.sqlite"))), measured: took.Round(100 * time.Millisecond).String()},
		{what: "500 runs/s are written meanwhile: a write", measured: writes.String()},
	}, nil
}
