package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/test/harness"
)

const (
	// outageJobs fire once a second each.
	outageJobs = 100
	// outboxMax is the worker's bound, and its default.
	outboxMax = 160 << 20
	// compaction is how old history in etcd can be, with --auto-compaction-retention=5m.
	compaction = 10 * time.Minute
	// deadWorker owns the outbox that is filled.
	deadWorker = "workerthatisgone"
	// storing bounds the time in which the log store accepts the backlog.
	storing = 10 * time.Minute
	// ownPart is the part of the bound that the worker fills by itself.
	ownPart = 2 << 20
)

// outage measures a day without the log store, at 100 fires a second. The outcomes of the first hour are put
// into the outbox of a dead worker and, as many as it must hold to be stopped, into that of the worker; the
// last MiB it fills by itself. From then on nothing is written, so the rest of the day is a cursor that is a
// day behind: 100 further jobs have such cursors.
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
	before := c.master.Usage().RSS
	address := strings.TrimPrefix(c.mongoURI, "mongodb://")
	c.mongo.Kill()
	bound := int64(outboxMax)
	if b.quick {
		bound = 24 << 20
	}
	sizes := watchSizes(ctx, client)
	own := bound / 16 // a worker that holds less is not stopped by the outboxes of others
	earlier, err := fillOutbox(ctx, client, deadWorker, "earlier", func(_ int, bytes int64) bool {
		return bytes >= bound-own-ownPart
	})
	if err != nil {
		return err
	}
	waiting := earlier.count
	live, liveNames := many("live", outageJobs, job{
		CronExpr: everySecond,
		Command:  "true",
		CatchUp:  &catchUp{Policy: "none"},
	})
	if err := c.load(ctx, live); err != nil {
		return err
	}
	loaded := time.Now().UTC().Truncate(time.Second)
	if err := c.startWorker(ctx, "worker-1", 0, "--outbox-max", fmt.Sprintf("%dMiB", bound>>20)); err != nil {
		return err
	}
	id, err := os.ReadFile(filepath.Join(c.workers[0].dir, "worker.id"))
	if err != nil {
		return err
	}
	mine, err := fillOutbox(ctx, client, strings.TrimSpace(string(id)), "mine", func(_ int, bytes int64) bool {
		return bytes >= own
	})
	if err != nil {
		return err
	}
	_, empty, err := outboxes(ctx, client)
	if err != nil {
		return err
	}
	filling := time.Now()
	if err := harness.Until(ctx, 5*time.Minute, "the worker is full", func() bool { return c.full(ctx) }); err != nil {
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
	if err := harness.Sleep(ctx, 10*time.Second); err != nil { // for the writes in flight when it was full
		return err
	}
	count, _, err := outboxes(ctx, client)
	if err != nil {
		return err
	}
	began, seen := time.Now(), look(c.processes()...)
	pages, err := c.listFor(ctx, b.length(time.Minute), "live-00007")
	if err != nil {
		return err
	}
	hold := time.Since(began)
	after, size, err := outboxes(ctx, client)
	if err != nil {
		return err
	}
	rss := c.master.Usage()
	b.sheet.took("outage", seen, hold, c.processes()...)
	b.sheet.add("outage", fmt.Sprintf("outcomes in etcd, at the bound of %s and after %v more", mib(bound),
		hold.Round(time.Second)), fmt.Sprintf("%d, %d", count, after), "the same", reached(count == after))
	b.sheet.add("outage", fmt.Sprintf("etcd's file; with the history of %v at this rate", compaction),
		fmt.Sprintf("%s; %s", mib(size), mib(size+history)), "≤ 400 MiB", reached(size+history <= 400<<20))
	for _, p := range pages {
		b.sheet.add("outage", fmt.Sprintf("%s with %d outcomes waiting", p.what, after),
			fmt.Sprintf("p50 %s, p95 %s (%d pages)", ms(p.at(50)), ms(p.at(95)), len(p.took)),
			"p95 ≤ "+ms(p.goal), reached(p.at(95) <= p.goal))
	}
	b.sheet.add("outage", "master's memory before; then, and at most",
		fmt.Sprintf("%s; %s, %s", mib(before), mib(rss.RSS), mib(rss.Peak)), "≤ + 64 MiB",
		reached(rss.RSS <= before+64<<20))
	groups := []planned{
		{what: "the outbox of the dead worker", jobs: earlier.jobs, from: earlier.from, to: earlier.to},
		{what: "the outbox of the worker", jobs: mine.jobs, from: mine.from, to: mine.to},
		{what: "jobs a day behind", jobs: days, from: back},
		{what: "jobs that fired until it was full", jobs: liveNames, from: loaded},
	}
	return c.comeBack(ctx, client, address, groups, waiting, sizes)
}

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

// full reports whether a worker has the condition outbox_full.
func (c *cluster) full(ctx context.Context) bool {
	var page struct {
		Items []struct{ Conditions []struct{ Code string } }
	}
	if c.Want(ctx, http.StatusOK, http.MethodGet, "/api/v1/workers", nil, &page) != nil {
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

// filled returns the outcomes of jobs that fired each second after a time, up to another.
type filled struct {
	jobs     []string
	from, to time.Time
	count    int
}

// fillOutbox writes outcomes of the last hours, in whole seconds, into the outbox of a worker.
func fillOutbox(ctx context.Context, client *clientv3.Client, owner, jobs string,
	enough func(count int, bytes int64) bool) (f filled, err error) {
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
		f.jobs = append(f.jobs, fmt.Sprintf("%s-%05d", jobs, i))
	}
	var part []clientv3.Op
	count, bytes := 0, int64(0)
	for ; (count%outageJobs > 0 || !enough(count, bytes)) && ctx.Err() == nil; count++ {
		at := start.Add(time.Duration(count/outageJobs) * time.Second)
		claimed, began, ended, exit := at.Add(3*time.Millisecond), at.Add(7*time.Millisecond),
			at.Add(19*time.Millisecond), count%50/49
		n := count % outageJobs
		run := common.Run{
			Job:         f.jobs[n],
			JobUID:      uids[n],
			JobVersion:  1000,
			Fire:        common.PlannedFire(uids[n], at),
			PlannedAt:   at,
			Cause:       common.CauseCron,
			Attempt:     1,
			Status:      common.StatusSucceeded,
			Worker:      owner,
			WorkerName:  "worker-0",
			ClaimedAt:   &claimed,
			StartedAt:   &began,
			EndedAt:     &ended,
			ExitCode:    &exit,
			CPUSeconds:  0.001,
			MaxRSSBytes: 2 << 20,
			Delays:      &common.Delays{Plan: "3.1ms", Claim: "2.2ms", Start: "1.7ms"},
		}
		if run.ID = common.RunID(run.Fire, 1); exit != 0 {
			run.Status, run.Reason = common.StatusFailed, &common.Reason{
				Code: "exit_code",
				Data: map[string]string{"exitCode": "1"},
				Text: "exit code 1",
			}
		}
		data, err := json.Marshal(run)
		if err != nil {
			return f, err
		}
		key := common.OutboxKey(run.Worker, run.ID)
		bytes += int64(len(key) + len(data))
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
	f.from, f.to, f.count = start.Add(-time.Second), start.Add(time.Duration(count/outageJobs-1)*time.Second), count
	return f, context.Cause(ctx)
}

// putHeld writes jobs whose cursors are far in the past, as if their fires had been held since.
func putHeld(ctx context.Context, client *clientv3.Client, cursor time.Time) (names []string, err error) {
	for i := range outageJobs {
		stored := common.StoredJob{
			Job: common.Job{Name: fmt.Sprintf("day-%05d", i), Command: "true", Timezone: "UTC", CronExpr: everySecond,
				CatchUp: &common.CatchUp{Policy: common.CatchUpNone}},
			UID:       common.NewID(),
			CreatedAt: cursor,
			UpdatedAt: cursor,
		}
		data, err := json.Marshal(stored)
		if err != nil {
			return nil, err
		}
		if _, err := client.Txn(ctx).Then(clientv3.OpPut(common.JobKey(stored.Name), string(data)),
			clientv3.OpPut(common.CursorKey(stored.Name), common.TimeKey(cursor))).Commit(); err != nil {
			return nil, err
		}
		names = append(names, stored.Name)
	}
	return names, nil
}

// outboxes counts the outcomes in etcd, and returns the size of etcd's file.
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

// etcdSizes holds the largest size of etcd's file, and how much of it was in use.
type etcdSizes struct {
	mu         sync.Mutex
	file, used int64
}

// watchSizes measures each second until the context ends.
func watchSizes(ctx context.Context, client *clientv3.Client) *etcdSizes {
	s := &etcdSizes{}
	go func() {
		for harness.Sleep(ctx, time.Second) == nil {
			if status, err := client.Status(ctx, client.Endpoints()[0]); err == nil {
				s.mu.Lock()
				s.file, s.used = max(s.file, status.DbSize), max(s.used, status.DbSizeInUse)
				s.mu.Unlock()
			}
		}
	}()
	return s
}

func (s *etcdSizes) most() (file, used int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.file, s.used
}
