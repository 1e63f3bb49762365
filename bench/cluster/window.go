package main

import (
	"context"
	"fmt"
	"time"

	"carillon/bench/check"
)

// window gives the first stretch of a length, half a minute at most, that begins after
// a time and lies within one minute, and a cron line that fires each second of it and
// never again.
func window(after time.Time, length time.Duration) (from time.Time, line string) {
	from = after.UTC().Truncate(time.Second).Add(time.Second)
	seconds := int(length / time.Second)
	if from.Second()+seconds > 60 {
		from = from.Truncate(time.Minute).Add(time.Minute)
	}
	return from, fmt.Sprintf("%d-%d %d %d %d %d * %d", from.Second(), from.Second()+seconds-1, from.Minute(), from.Hour(), from.Day(), from.Month(), from.Year())
}

// loading is how long it may take to load so many jobs on an idle machine.
func loading(jobs int) time.Duration { return 4*time.Second + time.Duration(jobs)*3*time.Millisecond }

// many makes jobs that differ in their names only.
func many(prefix string, n int, like job) (jobs []job, names []string) {
	for i := range n {
		like.Name = fmt.Sprintf("%s-%05d", prefix, i)
		jobs, names = append(jobs, like), append(names, like.Name)
	}
	return jobs, names
}

// settled waits until the ledger of a plan has an outcome for each fire, or no
// longer comes closer to it.
func settled(ctx context.Context, a *api, plan check.Plan, patience time.Duration) (check.Accounts, error) {
	deadline := time.Now().Add(patience)
	for {
		entries, err := a.entries(ctx, plan.From, plan.To.Add(time.Hour)) // a gap stands at its last fire
		if err != nil {
			return check.Accounts{}, err
		}
		v := plan.Account(entries)
		if v.None == 0 && v.Open == 0 || time.Now().After(deadline) {
			return v, nil
		}
		if err := sleep(ctx, 500*time.Millisecond); err != nil {
			return v, err
		}
	}
}
