package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/test/harness"
)

// comeBack restarts the log store, and compares the ledger with the plan: each fire of each group of jobs up
// to now has one entry.
func (c *cluster) comeBack(ctx context.Context, client *clientv3.Client, address string, groups []planned, waiting int,
	sizes *etcdSizes) error {
	began, seen := time.Now(), look(c.processes()...)
	to := began.UTC().Truncate(time.Second)
	if err := c.mongoAt(ctx, address); err != nil {
		return err
	}
	left := int64(waiting)
	err := harness.Until(ctx, storing, "the outbox of the dead worker is empty", func() bool {
		resp, err := client.Get(ctx, common.OutboxOf(deadWorker), clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err == nil && left != resp.Count {
			if left/20_000 != resp.Count/20_000 {
				c.b.say("outage: %d outcomes of the dead worker wait", resp.Count)
			}
			left = resp.Count
		}
		return err == nil && left == 0
	})
	if err != nil && ctx.Err() != nil {
		return err
	}
	took := time.Since(began)
	rss := c.master.Usage()
	c.b.sheet.took("outage", seen, took, c.processes()...)
	c.b.sheet.add("outage", "store back: outcomes of the dead worker that are stored",
		fmt.Sprintf("%d of %d within %v: %.0f/s", int64(waiting)-left, waiting, took.Round(100*time.Millisecond),
			float64(int64(waiting)-left)/took.Seconds()), "all", reached(left == 0))
	c.b.sheet.add("outage", "master's memory then, and at most", fmt.Sprintf("%s, %s", mib(rss.RSS), mib(rss.Peak)),
		"", noGoal)
	for _, group := range groups {
		if group.to.IsZero() {
			group.to = to
		}
		sum := coverage{}
		for _, job := range group.jobs {
			one, err := c.settledCoverage(ctx, job, group.from, group.to)
			if err != nil {
				return err
			}
			sum.add(one)
		}
		c.b.sheet.add("outage", group.what+": fires; without an entry, with two",
			fmt.Sprintf("%d; %d, %d (%d ran, %d in %d gaps)", sum.fires, sum.none, sum.twice, sum.ran,
				sum.passed, sum.gaps),
			"0 and 0", reached(sum.none == 0 && sum.twice == 0))
	}
	file, used := sizes.most()
	c.b.sheet.add("outage", "etcd's file, at most; in use, at most", fmt.Sprintf("%s; %s", mib(file), mib(used)),
		"≤ 400 MiB", reached(file <= 400<<20))
	return nil
}

// planned is a group of jobs that fire each second after a time, up to another.
type planned struct {
	what     string
	jobs     []string
	from, to time.Time
}

// coverage counts how the ledger accounts for fires.
type coverage struct{ fires, none, twice, ran, passed, gaps int }

func (v *coverage) add(o coverage) {
	v.fires, v.none, v.twice = v.fires+o.fires, v.none+o.none, v.twice+o.twice
	v.ran, v.passed, v.gaps = v.ran+o.ran, v.passed+o.passed, v.gaps+o.gaps
}

// settledCoverage waits, with a limit, until all fires of a job have an entry.
func (c *cluster) settledCoverage(ctx context.Context, job string, from, to time.Time) (v coverage, err error) {
	last := ""
	limit := harness.Until(ctx, storing, "the fires of "+job+" have an entry", func() bool {
		if v, err = c.coverage(ctx, job, from, to); err != nil {
			last = err.Error()
		}
		if err == nil && v.none > 0 {
			_ = harness.Sleep(ctx, time.Second) // until checks the context
		}
		return err == nil && v.none == 0
	})
	switch {
	case ctx.Err() != nil:
		return v, limit
	case err != nil:
		return v, fmt.Errorf("%w: %s", limit, last)
	}
	return v, nil // missing entries are part of the result
}

// coverage counts how many entries of the ledger cover each fire of a job after a time, up to another.
func (c *cluster) coverage(ctx context.Context, job string, from, to time.Time) (v coverage, err error) {
	v.fires = int(to.Sub(from) / time.Second)
	entries := make([]uint8, v.fires) // by seconds after the first fire
	mark := func(at time.Time) {
		if i := int(at.Sub(from)/time.Second) - 1; i >= 0 && i < len(entries) && entries[i] < 2 {
			entries[i]++
		}
	}
	query := url.Values{"limit": {"500"}, "job": {job}, "from": {from.Format(time.RFC3339Nano)}}
	for {
		var page struct {
			Items []struct {
				ID, Status string
				Attempt    int
				PlannedAt  time.Time
				Gap        *struct{ From, To time.Time }
			}
			NextCursor string
		}
		if err := c.Want(ctx, http.StatusOK, http.MethodGet, "/api/v1/runs?"+query.Encode(), nil, &page); err != nil {
			return v, err
		}
		for _, r := range page.Items {
			switch {
			case r.Gap != nil:
				before := r.Gap.From.Truncate(time.Second)
				for at := before.Add(time.Second); !at.After(r.Gap.To); at = at.Add(time.Second) {
					mark(at)
					v.passed++
				}
				v.gaps++
			case r.Attempt <= 1 && common.Status(r.Status).Terminal():
				mark(r.PlannedAt)
				v.ran++
			}
		}
		if page.NextCursor == "" {
			break
		}
		query.Set("cursor", page.NextCursor)
	}
	for _, n := range entries {
		switch n {
		case 0:
			v.none++
		case 2:
			v.twice++
		}
	}
	return v, nil
}
