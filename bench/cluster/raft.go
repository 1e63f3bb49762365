package main

import (
	"context"
	"fmt"
	"math"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/bench/check"
	"carillon/test/harness"
)

// raft counts the cost in etcd of a thousand runs that are due together, with one worker and with ten.
func raft(ctx context.Context, b *bench) error {
	for _, workers := range []int{1, 10} {
		if err := b.raftOf(ctx, raftLoad{
			row:     "raft",
			what:    fmt.Sprintf("1,000 due together, workers: %d", workers),
			workers: workers,
			jobs:    1000,
			line:    "*/10 * * * * * *",
			step:    10 * time.Second,
			length:  b.length(20 * time.Second),
			goal:    0.07,
		}); err != nil {
			return err
		}
	}
	return nil
}

type raftLoad struct {
	row, what     string
	workers, jobs int
	line          string
	step, length  time.Duration
	goal          float64 // entries for each run
}

// raftOf runs the load on a cluster with a separate etcd.
func (b *bench) raftOf(ctx context.Context, l raftLoad) error {
	c, err := b.newCluster(ctx, make([]time.Duration, l.workers)...)
	if err != nil {
		return err
	}
	defer c.kill()
	client, err := dial(c.etcdURL)
	if err != nil {
		return err
	}
	defer client.Close()
	jobs, names := many("due", l.jobs, job{CronExpr: l.line, Command: "true"})
	if err := c.load(ctx, jobs); err != nil {
		return err
	}
	// First the changes of the loading are delivered and a first round is executed. The count begins and ends
	// between two rounds.
	step := max(l.step, time.Second)
	from := time.Now().Add(8 * time.Second).Truncate(step).Add(step)
	plan := check.Plan{Jobs: names, From: from, To: from.Add(max(l.length, step)), Step: step}
	if err := harness.SleepUntil(ctx, plan.From.Add(-step/10)); err != nil {
		return err
	}
	began, seen := time.Now(), look(c.processes()...)
	before, err := entriesOf(ctx, c, client)
	if err != nil {
		return err
	}
	if err := harness.SleepUntil(ctx, plan.To.Add(-step/10)); err != nil {
		return err
	}
	after, err := entriesOf(ctx, c, client)
	if err != nil {
		return err
	}
	b.sheet.took(l.row, seen, time.Since(began), c.processes()...)
	v, err := settled(ctx, c.api, plan, 10*time.Second)
	if err != nil {
		return err
	}
	runs := v.ByStatus["succeeded"]
	entries, registrations := after.committed-before.committed, after.registrations-before.registrations
	each := float64(entries-registrations) / float64(max(1, runs))
	b.sheet.add(l.row, l.what+": Raft entries per run",
		fmt.Sprintf("%.2f (%d entries less %d registrations, %d runs of %d)", each, entries, registrations, runs,
			v.Planned),
		fmt.Sprintf("≤ %g", l.goal), reached(runs == v.Planned && math.Round(100*each) <= 100*l.goal))
	return nil
}

// cost is what etcd has counted.
type cost struct {
	committed     int64 // Raft entries
	registrations int64 // writes of registrations
}

func entriesOf(ctx context.Context, c *cluster, client *clientv3.Client) (cost, error) {
	samples, err := newAPI(c.etcdURL).metrics(ctx)
	if err != nil {
		return cost{}, err
	}
	total := cost{committed: int64(samples["etcd_server_proposals_committed_total"])}
	// A key's version is the number of its writes.
	for _, prefix := range []string{"/cron/workers/", "/cron/masters/", "/cron/leader/"} {
		resp, err := client.Get(ctx, prefix, clientv3.WithPrefix(), clientv3.WithSerializable())
		if err != nil {
			return cost{}, err
		}
		for _, kv := range resp.Kvs {
			total.registrations += kv.Version
		}
	}
	return total, nil
}
