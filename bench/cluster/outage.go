package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

const (
	// outageJobs fire once a second each.
	outageJobs = 100
	// outboxMax is the worker's bound, and its default.
	outboxMax = 192 << 20
	// compaction is how old history in etcd can be, with --auto-compaction-retention=5m.
	compaction = 10 * time.Minute
	// deadWorker has the outbox that is filled.
	deadWorker = "workerthatisgone"
	// storing is how long the log store may take for that; the double is slow.
	storing = 2 * time.Minute
	// ownPart of the bound the worker fills by itself.
	ownPart = 4 << 20
)

// outage is the log store away for a day, at 100 fires a second. What the first hour would write is put
// into the outbox of a worker that is gone, all but the last few MiB; these the worker fills by itself.
// From then on nothing is to be written, and a day of that is a cursor that stands a day back: 100 jobs
// more have such cursors.
func outage(ctx context.Context, b *bench) error {
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
	before := c.master.usage().rss
	address := strings.TrimPrefix(c.mongoURI, "mongodb://")
	c.mongo.kill()
	bound := int64(outboxMax)
	if b.quick {
		bound = 24 << 20
	}
	waiting, err := fillOutbox(ctx, client, bound-ownPart)
	if err != nil {
		return err
	}
	live, _ := many("live", outageJobs, job{CronExpr: everySecond, Command: "true", CatchUp: &catchUp{Policy: "none"}})
	if err := c.load(ctx, live); err != nil {
		return err
	}
	if err := c.startWorker(ctx, "worker-1", 0, "--outbox-max", fmt.Sprintf("%dMiB", bound>>20)); err != nil {
		return err
	}
	_, empty, err := outboxes(ctx, client)
	if err != nil {
		return err
	}
	filling := time.Now()
	if err := until(ctx, 5*time.Minute, "the worker is full", func() bool { return c.full(ctx) }); err != nil {
		return err
	}
	_, full, err := outboxes(ctx, client)
	if err != nil {
		return err
	}
	history := int64(float64(full-empty-ownPart) * float64(compaction) / float64(time.Since(filling)))
	back := time.Now().UTC().Truncate(time.Second).Add(-24 * time.Hour)
	days, err := putHeld(ctx, client, back)
	if err != nil {
		return err
	}
	if err := sleep(ctx, 10*time.Second); err != nil { // what was under way when it was full is written
		return err
	}
	count, _, err := outboxes(ctx, client)
	if err != nil {
		return err
	}
	began, seen := time.Now(), look(c.processes()...)
	pages, err := c.listFor(ctx, b.length(time.Minute))
	if err != nil {
		return err
	}
	hold := time.Since(began)
	after, size, err := outboxes(ctx, client)
	if err != nil {
		return err
	}
	rss := c.master.usage()
	b.sheet.took("outage", seen, hold, c.processes()...)
	b.sheet.add("outage", fmt.Sprintf("outcomes in etcd, at the bound of %s and after %v more", mib(bound), hold.Round(time.Second)), fmt.Sprintf("%d, %d", count, after), "the same", reached(count == after))
	b.sheet.add("outage", fmt.Sprintf("etcd's file; with the history of %v at this rate", compaction), fmt.Sprintf("%s; %s", mib(size), mib(size+history)), "≤ 400 MiB", reached(size+history <= 400<<20))
	for _, p := range pages {
		b.sheet.add("outage", fmt.Sprintf("%s with %d outcomes waiting", p.what, after), fmt.Sprintf("p50 %s, p95 %s (%d pages)", ms(p.at(50)), ms(p.at(95)), len(p.took)),
			"p95 ≤ "+ms(p.goal), reached(p.at(95) <= p.goal))
	}
	b.sheet.add("outage", "master's memory before; then, and at most", fmt.Sprintf("%s; %s, %s", mib(before), mib(rss.rss), mib(rss.peak)), "≤ + 64 MiB", reached(rss.rss <= before+64<<20))
	return c.comeBack(ctx, client, address, days, back, waiting)
}

// full reports whether a worker says that the outboxes are.
func (c *cluster) full(ctx context.Context) bool {
	var page struct {
		Items []struct{ Conditions []struct{ Code string } }
	}
	if c.do(ctx, http.StatusOK, http.MethodGet, "/api/v1/workers", nil, &page) != nil {
		return false
	}
	for _, w := range page.Items {
		for _, condition := range w.Conditions {
			if condition.Code == common.ConditionOutboxFull {
				return true
			}
		}
	}
	return false
}

// fillOutbox writes outcomes of the last hour into the outbox of a worker that is gone.
func fillOutbox(ctx context.Context, client *clientv3.Client, bytes int64) (count int, err error) {
	const batch, writers = 100, 4
	start := time.Now().UTC().Truncate(time.Second).Add(-2 * time.Hour)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	parts := make(chan []clientv3.Op)
	for range writers {
		group.Go(func() {
			for part := range parts {
				if _, err := client.Txn(ctx).Then(part...).Commit(); err != nil {
					cancel(err)
				}
			}
		})
	}
	uids := make([]string, outageJobs)
	for i := range uids {
		uids[i] = common.NewID()
	}
	var part []clientv3.Op
	for ; bytes > 0 && ctx.Err() == nil; count++ {
		at := start.Add(time.Duration(count/outageJobs) * time.Second)
		claimed, began, ended, exit := at.Add(3*time.Millisecond), at.Add(7*time.Millisecond), at.Add(19*time.Millisecond), count%50/49
		n := count % outageJobs
		run := common.Run{Job: fmt.Sprintf("earlier-%05d", n), JobUID: uids[n], JobVersion: 1000, Fire: common.PlannedFire(uids[n], at), PlannedAt: at, Cause: common.CauseCron, Attempt: 1,
			Status: common.StatusSucceeded, Worker: deadWorker, WorkerName: "worker-0", ClaimedAt: &claimed, StartedAt: &began, EndedAt: &ended, ExitCode: &exit, CPUSeconds: 0.001, MaxRSSBytes: 2 << 20,
			Delays: &common.Delays{Plan: "3.1ms", Claim: "2.2ms", Start: "1.7ms"}}
		if run.ID = common.RunID(run.Fire, 1); exit != 0 {
			run.Status, run.Reason = common.StatusFailed, &common.Reason{Code: "exit_code", Data: map[string]string{"exitCode": "1"}, Text: "exit code 1"}
		}
		data, err := json.Marshal(run)
		if err != nil {
			return 0, err
		}
		key := common.OutboxKey(run.Worker, run.ID)
		bytes -= int64(len(key) + len(data))
		if part = append(part, clientv3.OpPut(key, string(data))); len(part) == batch {
			parts <- part
			part = nil
		}
	}
	if len(part) > 0 {
		parts <- part
	}
	close(parts)
	group.Wait()
	return count, context.Cause(ctx)
}

// putHeld writes jobs whose cursors stand at a time long past, as if their fires had been held since.
func putHeld(ctx context.Context, client *clientv3.Client, cursor time.Time) (names []string, err error) {
	for i := range outageJobs {
		stored := common.StoredJob{Job: common.Job{Name: fmt.Sprintf("day-%05d", i), Command: "true", Timezone: "UTC", CronExpr: everySecond,
			CatchUp: &common.CatchUp{Policy: common.CatchUpNone}}, UID: common.NewID(), CreatedAt: cursor, UpdatedAt: cursor}
		data, err := json.Marshal(stored)
		if err != nil {
			return nil, err
		}
		if _, err := client.Txn(ctx).Then(clientv3.OpPut(common.JobKey(stored.Name), string(data)), clientv3.OpPut(common.CursorKey(stored.Name), common.TimeKey(cursor))).Commit(); err != nil {
			return nil, err
		}
		names = append(names, stored.Name)
	}
	return names, nil
}

// outboxes counts what waits in etcd, and tells how large etcd's file is.
func outboxes(ctx context.Context, client *clientv3.Client) (count, size int64, err error) {
	resp, err := client.Get(ctx, common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, 0, err
	}
	status, err := client.Status(ctx, client.Endpoints()[0])
	if err != nil {
		return 0, 0, err
	}
	return resp.Count, status.DbSize, nil
}

// listing is a list that is asked for again and again.
type listing struct {
	what, path string
	goal       time.Duration
	took       []time.Duration
}

func (l *listing) at(percent int) time.Duration {
	slices.Sort(l.took)
	return l.took[min(len(l.took)-1, len(l.took)*percent/100)]
}

// listFor lists one after the other for a time.
func (c *cluster) listFor(ctx context.Context, length time.Duration) ([]*listing, error) {
	all := []*listing{
		{what: "page of 100 runs", path: "/api/v1/runs?limit=100", goal: 50 * time.Millisecond},
		{what: "page of 100 runs that failed", path: "/api/v1/runs?limit=100&status=failed", goal: 50 * time.Millisecond},
		{what: "page of 100 fires", path: "/api/v1/fires?limit=100", goal: 100 * time.Millisecond},
		{what: "runs of one job", path: "/api/v1/runs?limit=100&job=live-00007", goal: 50 * time.Millisecond},
		{what: "jobs with their last 20 runs", path: "/api/v1/jobs?limit=50&include=results", goal: 100 * time.Millisecond},
	}
	for end := time.Now().Add(length); time.Now().Before(end); {
		for _, l := range all {
			began := time.Now()
			if err := c.do(ctx, http.StatusOK, http.MethodGet, l.path, nil, nil); err != nil {
				return nil, err
			}
			l.took = append(l.took, time.Since(began))
		}
	}
	return all, nil
}

// comeBack starts the log store again, and counts what became of the fires of the day.
func (c *cluster) comeBack(ctx context.Context, client *clientv3.Client, address string, days []string, back time.Time, waiting int) error {
	began := time.Now()
	if err := c.mongoAt(ctx, address); err != nil {
		return err
	}
	current := func(job string) bool {
		resp, err := client.Get(ctx, common.CursorKey(job))
		if err != nil || len(resp.Kvs) == 0 {
			return false
		}
		cursor, err := common.ParseTimeKey(string(resp.Kvs[0].Value))
		return err == nil && cursor.After(began)
	}
	to := began.UTC().Truncate(time.Second).Add(-20 * time.Second)
	wanted, found, entries := int64(0), int64(0), 0
	var err error
	for _, job := range days {
		if err := until(ctx, storing, job+" is up to date", func() bool { return current(job) }); err != nil {
			return err
		}
		var count int64
		var n int
		if err := until(ctx, storing, "the runs of "+job+" are listed", func() bool {
			count, n, err = c.accounted(ctx, job, back, to)
			return err == nil // the double may be too busy to answer in time
		}); err != nil {
			return err
		}
		wanted, found, entries = wanted+int64(to.Sub(back)/time.Second), found+count, entries+n
	}
	c.b.sheet.add("outage", "fires of the day; accounted for, in so many entries", fmt.Sprintf("%d; %d, %d", wanted, found, entries), "all", reached(wanted == found))
	left := int64(waiting)
	err = until(ctx, storing, "the outbox of the dead worker is empty", func() bool {
		resp, err := client.Get(ctx, common.OutboxOf(deadWorker), clientv3.WithPrefix(), clientv3.WithCountOnly())
		if err == nil {
			left = resp.Count
		}
		return err == nil && left == 0
	})
	if err != nil && ctx.Err() != nil {
		return err
	}
	took := time.Since(began)
	c.b.sheet.add("outage", "store back: outcomes of the dead worker that are stored", fmt.Sprintf("%d of %d within %v", int64(waiting)-left, waiting, took.Round(100*time.Millisecond)), "", "")
	return nil
}

// accounted counts the fires of a job after a time, up to another, that the ledger has an outcome for.
func (c *cluster) accounted(ctx context.Context, job string, from, to time.Time) (fires int64, entries int, err error) {
	query := url.Values{"limit": {"500"}, "job": {job}, "from": {from.Format(time.RFC3339Nano)}}
	for seen := map[string]bool{}; ; {
		var page struct {
			Items []struct {
				ID, Status string
				PlannedAt  time.Time
				Gap        *struct {
					From, To time.Time
					Count    int64
				}
			}
			NextCursor string
		}
		if err := c.do(ctx, http.StatusOK, http.MethodGet, "/api/v1/runs?"+query.Encode(), nil, &page); err != nil {
			return 0, 0, err
		}
		for _, r := range page.Items {
			switch {
			case seen[r.ID]:
				return 0, 0, errors.New("listed twice: " + r.ID)
			case r.Gap != nil && r.Gap.To.After(to):
				fires += int64(to.Sub(r.Gap.From) / time.Second)
			case r.Gap != nil:
				fires += r.Gap.Count
			case r.PlannedAt.After(to) || !common.Status(r.Status).Terminal():
				continue
			default:
				fires++
			}
			seen[r.ID] = true
			entries++
		}
		if page.NextCursor == "" {
			return fires, entries, nil
		}
		query.Set("cursor", page.NextCursor)
	}
}
