package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/bench/check"
	"carillon/internal/common"
	"carillon/test/harness"
)

// daemonLimit bounds the wait for replicas to start.
const daemonLimit = 3 * time.Minute

// daemons is a cluster that runs daemon jobs, with the client that looks into its etcd.
type daemons struct {
	*cluster
	client *clientv3.Client
}

func (b *bench) newDaemons(ctx context.Context, workers int) (*daemons, error) {
	c, err := b.newCluster(ctx, make([]time.Duration, workers)...)
	if err != nil {
		return nil, err
	}
	d := &daemons{cluster: c}
	if d.client, err = dial(c.etcdURL); err != nil {
		c.kill()
		return nil, err
	}
	return d, nil
}

func (d *daemons) close() {
	_ = d.client.Close()
	d.kill()
}

// hold is the command of a replica: it writes a line, takes the lock of its replica, and sleeps.
func (d *daemons) hold(length time.Duration) []string {
	return append(d.b.helper(d.ledger), "hold", strconv.Itoa(int(length.Seconds())))
}

// start creates daemon jobs that keep a number of replicas each, and waits until all of them run. It returns the time
// from the first request to the start of the last command.
func (d *daemons) start(ctx context.Context, jobs, each int, rebalance common.Duration) (time.Duration, error) {
	began := time.Now()
	if err := together(ctx, jobs, func(ctx context.Context, i int) error {
		return d.save(ctx, &common.Job{
			Name:      fmt.Sprintf("daemon-%03d", i),
			Args:      d.hold(time.Hour),
			LostAfter: "20s",
			KillGrace: "5s",
			Daemon: &common.Daemon{
				Count:        common.Fleet(each),
				HealthyAfter: "1s",
				Rebalance:    &common.Rebalance{After: rebalance},
			},
		})
	}); err != nil {
		return 0, err
	}
	var last time.Time
	err := d.until(ctx, "all replicas run", func(lines []check.Line) bool {
		for i := range lines {
			if lines[i].Start.After(last) {
				last = lines[i].Start
			}
		}
		return len(lines) >= jobs*each
	})
	return last.Sub(began), err
}

// until waits for a condition on the lines of the commands.
func (d *daemons) until(ctx context.Context, what string, condition func([]check.Line) bool) error {
	var last error
	n := 0
	err := harness.Until(ctx, daemonLimit, what, func() bool {
		lines, err := check.ReadLines(d.ledger)
		last, n = err, len(lines)
		return err == nil && condition(lines) || harness.Sleep(ctx, 100*time.Millisecond) != nil
	})
	if err != nil {
		return fmt.Errorf("%w: %d starts, %w", err, n, last)
	}
	return context.Cause(ctx)
}

// started returns the starts since a time, and how many of all commands met another one of their replica.
func (d *daemons) started(since time.Time) (starts []check.Line, overlaps int, err error) {
	lines, err := check.ReadLines(d.ledger)
	for _, l := range lines {
		switch {
		case l.Job == "overlap":
			overlaps++
		case l.Start.After(since):
			starts = append(starts, l)
		}
	}
	return starts, overlaps, err
}

// placed returns the numbers of running replicas, by job and id of the worker.
func (d *daemons) placed(ctx context.Context) (map[string]map[string]int, error) {
	resp, err := d.client.Get(ctx, common.RunsPrefix, clientv3.WithPrefix())
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]int{}
	for _, kv := range resp.Kvs {
		r, err := common.Decode[common.Record](kv.Value)
		if err != nil {
			return nil, err
		}
		if r.Replica() == "" {
			continue
		}
		if all[r.Job] == nil {
			all[r.Job] = map[string]int{}
		}
		all[r.Job][r.Owner.Worker]++
	}
	return all, nil
}

// uneven returns the largest difference between two workers in the replicas of one job, and in those of all jobs.
func uneven(placed map[string]map[string]int, workers []string) (job, total int) {
	sums := map[string]int{}
	spread := func(of map[string]int) int {
		least, most := of[workers[0]], of[workers[0]]
		for _, w := range workers {
			least, most = min(least, of[w]), max(most, of[w])
		}
		return most - least
	}
	for _, of := range placed {
		job = max(job, spread(of))
		for w, n := range of {
			sums[w] += n
		}
	}
	return job, spread(sums)
}

// on returns the replicas of all jobs that a worker runs.
func on(placed map[string]map[string]int, worker string) (n int) {
	for _, of := range placed {
		n += of[worker]
	}
	return n
}

// ends returns when the runs that were started since a time ended, by id.
func (d *daemons) ends(ctx context.Context, since time.Time) (map[string]ran, error) {
	all := map[string]ran{}
	query := url.Values{"limit": {"500"}, "from": {since.UTC().Format(time.RFC3339Nano)}}
	for {
		var page struct {
			Items      []ran
			NextCursor string
		}
		if err := d.Want(ctx, http.StatusOK, http.MethodGet, "/api/v1/runs?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for _, r := range page.Items {
			if !r.EndedAt.IsZero() {
				all[r.ID] = r
			}
		}
		if page.NextCursor == "" {
			return all, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}

// idle returns the Raft entries beside registrations that are written in a time.
func (d *daemons) idle(ctx context.Context, length time.Duration) (entries int64, err error) {
	before, err := entriesOf(ctx, d.cluster, d.client)
	if err != nil {
		return 0, err
	}
	if err := harness.Sleep(ctx, length); err != nil {
		return 0, err
	}
	after, err := entriesOf(ctx, d.cluster, d.client)
	return after.committed - before.committed - after.registrations + before.registrations, err
}
