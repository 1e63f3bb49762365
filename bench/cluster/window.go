package main

import (
	"context"
	"fmt"
	"time"

	"carillon/bench/check"
	"carillon/test/harness"
)

// window returns a period that begins when so many jobs can have been loaded, even on a busy machine.
func window(jobs int, length time.Duration) (from, to time.Time) {
	from = time.Now().UTC().Add(4*time.Second + time.Duration(jobs)*2*time.Millisecond).Truncate(time.Second)
	return from, from.Add(length)
}

// during makes a job fire each second of a period only.
func (j job) during(from, to time.Time) job {
	last := to.Add(-time.Millisecond)
	j.CronExpr, j.StartAt, j.EndAt = everySecond, &from, &last
	return j
}

// loadBefore loads jobs that begin to fire at a time.
func (a *api) loadBefore(ctx context.Context, jobs []job, from time.Time) error {
	if err := a.load(ctx, jobs); err != nil {
		return err
	}
	if time.Now().After(from) {
		return fmt.Errorf("%d jobs were not loaded before their first fire", len(jobs))
	}
	return nil
}

// many returns jobs that differ only in their names.
func many(prefix string, n int, like job) (jobs []job, names []string) {
	for i := range n {
		like.Name = fmt.Sprintf("%s-%05d", prefix, i)
		jobs, names = append(jobs, like), append(names, like.Name)
	}
	return jobs, names
}

// settled waits until the ledger of a plan has an outcome for each fire, or stops making progress.
func settled(ctx context.Context, a *api, plan check.Plan, patience time.Duration) (check.Accounts, error) {
	deadline := time.Now().Add(patience)
	for {
		entries, err := a.entries(ctx, plan.From, plan.To.Add(time.Hour)) // a gap entry has the time of its last fire
		if err != nil {
			return check.Accounts{}, err
		}
		v := plan.Account(entries)
		if v.None == 0 && v.Open == 0 || time.Now().After(deadline) {
			return v, nil
		}
		if err := harness.Sleep(ctx, 2*time.Second); err != nil {
			return v, err
		}
	}
}
