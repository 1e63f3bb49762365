package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"path/filepath"
	"time"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// daemon is a daemon job of a trial. Only one fault at a time changes it: theDaemons.
type daemon struct {
	*trial
	job   check.Job
	body  map[string]any
	count int // check.AllWorkers: one on each worker

	version int
}

// healthyAfter is how long a run of a replica must last to count as healthy.
const healthyAfter = 2 * time.Second

// newDaemons returns daemon jobs: with three replicas; with one on each worker; and with two that end after some
// seconds, a third of them with a failure.
func (t *trial) newDaemons(lostAfter time.Duration) []*daemon {
	const forever = time.Hour
	var workers []string
	for _, w := range t.workers {
		workers = append(workers, w.id)
	}
	stays := []string{"-ms", ms(forever), ms(forever), "-every", "1000", "100"}
	return []*daemon{
		t.newDaemon("daemon-three", lostAfter, 3, nil, stays...),
		t.newDaemon("daemon-all", lostAfter, check.AllWorkers, workers, stays...),
		t.newDaemon("daemon-short", lostAfter, 2, nil, "-ms", "2100", "6000", "-every", "500", "100", "-fail", "30"),
	}
}

func (t *trial) newDaemon(name string, lostAfter time.Duration, count int, workers []string, args ...string) *daemon {
	d := &daemon{
		trial: t,
		count: count,
		job: check.Job{
			Name:      name,
			Overlap:   check.Skip,
			OnLost:    check.Rerun,
			LostAfter: lostAfter,
			Daemon:    &check.Daemon{Workers: workers},
		},
	}
	d.body = map[string]any{
		"name": name,
		"args": append([]string{filepath.Join(t.h.bin, "ledger"), "-file", t.ledger, "-locks",
			filepath.Join(t.dir, "locks")}, args...),
		"killGrace": "2s",
		"lostAfter": lostAfter.String(),
	}
	return d
}

// define returns the definition with a number of replicas and a version, which is in the environment of the command.
func (d *daemon) define(count, version int) map[string]any {
	body := maps.Clone(d.body)
	replicas := any(count)
	if count == check.AllWorkers {
		replicas = "all"
	}
	body["env"] = map[string]any{"VERSION": fmt.Sprint(version)}
	body["daemon"] = map[string]any{
		"count":        replicas,
		"maxBackoff":   "2s",
		"healthyAfter": healthyAfter.String(),
		"rebalance":    map[string]any{"after": "10s"},
	}
	return body
}

// startDaemons creates daemon jobs beside a set of jobs.
func (t *trial) startDaemons(ctx context.Context, like setLike) error {
	lostAfter := 20 * time.Second
	if like == likePatient {
		lostAfter = time.Minute
	}
	t.daemons = t.newDaemons(lostAfter)
	for _, d := range t.daemons {
		var made struct{ Meta struct{ UID string } }
		if err := t.do(ctx, http.MethodPost, "/api/v1/jobs", d.define(d.count, 0), &made); err != nil {
			return err
		}
		d.job.UID = made.Meta.UID
		d.wants(d.count)
	}
	return nil
}

// endDaemons waits until all replicas run, and deletes the jobs.
func (t *trial) endDaemons(ctx context.Context, limit time.Duration) error {
	began := time.Now()
	for _, d := range t.daemons {
		if err := d.whole(ctx, limit); err != nil {
			return err
		}
	}
	if len(t.daemons) > 0 {
		t.figure("all replicas of daemon jobs ran %v after the last fault", time.Since(began).Round(time.Millisecond))
	}
	for _, d := range t.daemons {
		end := t.begin(check.Event{Kind: check.DaemonDeleted, Job: d.job.Name})
		if err := d.change(ctx, 0, http.MethodDelete, "?kill=true", nil); err != nil {
			return err
		}
		end()
	}
	return nil
}

// wants records that the job has a number of replicas from now on; 0 if it has none.
func (d *daemon) wants(count int) {
	if count != 0 {
		d.job.Daemon.Wanted = append(d.job.Daemon.Wanted, check.Wanted{From: check.Now(), Count: count})
	}
	kept := d.job
	kept.Daemon = &check.Daemon{Workers: d.job.Daemon.Workers, Wanted: append([]check.Wanted{}, d.job.Daemon.Wanted...)}
	d.plan(kept)
}

// change sends a request that changes the job, until a master accepts it. The job has a number of replicas afterwards;
// 0 if it is paused or deleted.
func (d *daemon) change(ctx context.Context, count int, method, path string, body any) error {
	if w := d.job.Daemon.Wanted; len(w) > 0 && w[len(w)-1].Until == 0 {
		w[len(w)-1].Until = check.Now()
	}
	end := d.begin(check.Event{Kind: check.DaemonChanged, Job: d.job.Name, Text: method + path})
	var refused error
	err := d.wait(ctx, time.Minute, fmt.Sprintf("%s is changed", d.job.Name), func() bool {
		refused = d.do(ctx, method, "/api/v1/jobs/"+d.job.Name+path, body, nil)
		return refused == nil || harness.Sleep(ctx, 200*time.Millisecond) != nil
	})
	if refused != nil {
		return refused
	}
	end()
	d.wants(count)
	return err
}

func (d *daemon) scale(ctx context.Context, count int) error {
	d.count = count
	return d.change(ctx, count, http.MethodPut, "", d.define(count, d.version))
}

// update replaces what is run.
func (d *daemon) update(ctx context.Context) error {
	d.version++
	return d.change(ctx, d.count, http.MethodPut, "", d.define(d.count, d.version))
}

func (d *daemon) pause(ctx context.Context) error {
	return d.change(ctx, 0, http.MethodPost, "/pause", map[string]any{"note": "chaos"})
}

func (d *daemon) resume(ctx context.Context) error {
	return d.change(ctx, d.count, http.MethodPost, "/resume", map[string]any{})
}

// replicas is the answer of GET /api/v1/jobs/{name}/replicas.
type replicas struct {
	Items []struct {
		Replica, Status, Worker string
		Version                 int64
	}
}

// whole waits until all replicas run, and no other, none of them at an older version of the job than some other.
func (d *daemon) whole(ctx context.Context, limit time.Duration) error {
	var last replicas
	want := d.count
	if want == check.AllWorkers {
		want = workers
	}
	err := d.wait(ctx, limit, fmt.Sprintf("all replicas of %s run", d.job.Name), func() bool {
		all, err := d.list(ctx)
		if err == nil && all.running() == want && len(all.Items) == want {
			return true
		}
		if err == nil {
			last = all
		}
		return harness.Sleep(ctx, 100*time.Millisecond) != nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w: %+v", errPromise, err, last.Items)
	}
	return nil
}

func (d *daemon) list(ctx context.Context) (all replicas, err error) {
	return all, d.get(ctx, "/api/v1/jobs/"+d.job.Name+"/replicas", &all)
}

func (r *replicas) running() (n int) {
	for i := range r.Items {
		if r.Items[i].Status == "running" {
			n++
		}
	}
	return n
}
