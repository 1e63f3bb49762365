package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"carillon/test/harness"
)

// backlogOutcomes is the number of undelivered outcomes in the row backlog.
const backlogOutcomes = 200_000

// backlog measures a master with undelivered outcomes in etcd and no log store: its lists and its memory,
// with outcomes that arrive while it runs, and with outcomes that exist when it starts.
func backlog(ctx context.Context, b *bench) error {
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
	idle, _ := many("idle", outageJobs, job{CronExpr: "0 0 1 1 *", Command: "true"})
	if err := c.load(ctx, idle); err != nil {
		return err
	}
	if _, err := c.listFor(ctx, time.Second, "earlier-00007"); err != nil {
		return err
	}
	before := c.master.Usage().RSS
	c.mongo.Kill()
	if _, err := fillOutbox(ctx, client, deadWorker, "earlier", func(count int, _ int64) bool {
		return count >= backlogOutcomes
	}); err != nil {
		return err
	}
	for _, how := range []string{"as they come", "after a start"} {
		if how != "as they come" {
			c.master.Kill()
			began := time.Now()
			if err := c.startMaster(ctx); err != nil {
				return err
			}
			if err := harness.Until(ctx, storing, "the master has read all outcomes", func() bool {
				asked := time.Now()
				// Until then, a list waits for two seconds.
				return c.Want(ctx, http.StatusOK, http.MethodGet, "/api/v1/runs?limit=100", nil, nil) == nil &&
					time.Since(asked) < time.Second
			}); err != nil {
				return err
			}
			b.sheet.add("backlog", "from the start of a master to its first list with all of them",
				time.Since(began).Round(100*time.Millisecond).String(), "", noGoal)
		}
		began, seen := time.Now(), look(c.master)
		pages, err := c.listFor(ctx, b.length(20*time.Second), "earlier-00007")
		if err != nil {
			return err
		}
		b.sheet.took("backlog", seen, time.Since(began), c.master)
		for _, p := range pages {
			b.sheet.add("backlog", fmt.Sprintf("%s with %d outcomes waiting, %s", p.what, backlogOutcomes, how),
				fmt.Sprintf("p50 %s, p95 %s (%d pages)", ms(p.at(50)), ms(p.at(95)), len(p.took)),
				"p95 ≤ "+ms(p.goal), reached(p.at(95) <= p.goal))
		}
		rss := c.master.Usage()
		b.sheet.add("backlog", "master's memory before; "+how+", and at most",
			fmt.Sprintf("%s; %s, %s", mib(before), mib(rss.RSS), mib(rss.Peak)), "≤ + 64 MiB",
			reached(rss.Peak <= before+64<<20))
	}
	return nil
}

// listing is a list that is requested repeatedly.
type listing struct {
	what, path string
	goal       time.Duration
	took       []time.Duration
}

func (l *listing) at(percent int) time.Duration {
	slices.Sort(l.took)
	return l.took[min(len(l.took)-1, len(l.took)*percent/100)]
}

// listFor requests a list repeatedly for a time.
func (c *cluster) listFor(ctx context.Context, length time.Duration, job string) ([]*listing, error) {
	all := []*listing{
		{what: "page of 100 runs", path: "/api/v1/runs?limit=100", goal: 50 * time.Millisecond},
		{
			what: "page of 100 runs that failed",
			path: "/api/v1/runs?limit=100&status=failed",
			goal: 50 * time.Millisecond,
		},
		{what: "page of 100 fires", path: "/api/v1/fires?limit=100", goal: 100 * time.Millisecond},
		{what: "runs of one job", path: "/api/v1/runs?limit=100&job=" + job, goal: 50 * time.Millisecond},
		{
			what: "jobs with their last 20 runs",
			path: "/api/v1/jobs?limit=50&include=results",
			goal: 100 * time.Millisecond,
		},
	}
	for end := time.Now().Add(length); time.Now().Before(end); {
		for _, l := range all {
			began := time.Now()
			if err := c.Want(ctx, http.StatusOK, http.MethodGet, l.path, nil, nil); err != nil {
				return nil, err
			}
			l.took = append(l.took, time.Since(began))
		}
	}
	return all, nil
}
