package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

func daemonFaults() []fault {
	return []fault{
		{
			name:     "daemon-changes",
			about:    "daemon jobs are scaled, paused, resumed and updated, in an order drawn by lot",
			takes:    20 * time.Second,
			needs:    []resource{theDaemons},
			unharmed: true,
			run: func(ctx context.Context, s *strike) error {
				return s.changeDaemons(ctx, 1500*time.Millisecond)
			},
		},
		{
			name:  "daemon-changes-under-cut",
			about: "daemon jobs are scaled, paused, resumed and updated while a worker is cut off for 45s",
			takes: longCut + soon,
			alone: true,
			needs: []resource{theDaemons, aWorker},
			run: func(ctx context.Context, s *strike) error {
				changed := make(chan error, 1)
				go func() { changed <- s.changeDaemons(ctx, 5*time.Second) }()
				return errors.Join(s.cutOff(ctx, blackhole, longCut), <-changed)
			},
		},
		{
			name: "daemon-rolling-update-under-kill",
			about: "a rolling update of a daemon job during which the worker that holds the handover gets SIGKILL; " +
				"first it comes back at once, then it stays away",
			takes: 90 * time.Second,
			alone: true,
			needs: []resource{theDaemons, aWorker},
			run:   updateUnderKill,
		},
		{
			name:  "daemon-drain-under-stop",
			about: "an operator drains the worker, and it gets SIGSTOP for 8s while its replicas leave it",
			takes: 40 * time.Second,
			alone: true,
			needs: []resource{theDaemons, aWorker},
			run:   drainUnderStop,
		},
	}
}

// changeDaemons makes each change once, with pauses, and leaves the jobs as they were.
func (s *strike) changeDaemons(ctx context.Context, pause time.Duration) error {
	if len(s.daemons) == 0 {
		return errors.New("there are no daemon jobs")
	}
	three, all := s.daemons[0], s.daemons[1]
	scale := func(counts ...int) func() error {
		return func() (err error) {
			for _, n := range counts {
				err = errors.Join(err, three.scale(ctx, n), harness.Sleep(ctx, pause))
			}
			return err
		}
	}
	stop := func(d *daemon) func() error {
		return func() error {
			return errors.Join(d.pause(ctx), harness.Sleep(ctx, pause), d.resume(ctx))
		}
	}
	changes := []func() error{scale(1, 5, 3), stop(three), stop(all), func() error { return all.update(ctx) }}
	rand.New(rand.NewPCG(s.rng.Uint64(), 7)).Shuffle(len(changes), func(a, b int) {
		changes[a], changes[b] = changes[b], changes[a]
	})
	for _, change := range changes {
		if err := errors.Join(change(), harness.Sleep(ctx, pause)); err != nil {
			return err
		}
	}
	return nil
}

// updateUnderKill kills the worker that holds the first handover of an update, twice, and waits for the end of each
// update.
func updateUnderKill(ctx context.Context, s *strike) error {
	if len(s.daemons) == 0 {
		return errors.New("there are no daemon jobs")
	}
	d := s.daemons[0]
	for _, returns := range []bool{true, false} {
		began := time.Now()
		holder, err := s.handover(ctx, d)
		if err != nil {
			return fmt.Errorf("no handover began: %w", err)
		}
		if err := harness.Sleep(ctx, time.Duration(s.rng.Int64N(int64(healthyAfter)))); err != nil {
			return err
		}
		hit := *s
		hit.w = holder
		if !returns {
			holder.want(false, time.Second)
		}
		err = hit.kill(ctx, map[bool]whom{true: theWorker, false: theBoth}[returns])
		if err == nil {
			err = d.updated(ctx)
		}
		if !returns {
			holder.want(true, time.Second)
		}
		if err != nil {
			return err
		}
		s.figure("the update ended %v after its request; its worker was killed and %s", brief(time.Since(began)),
			map[bool]string{true: "came back", false: "stayed away"}[returns])
	}
	return nil
}

// handover updates a job, and returns the worker that takes the key of the first handover.
func (s *strike) handover(ctx context.Context, d *daemon) (*worker, error) {
	key := "/cron/moves/job/" + d.job.Name
	ctx, cancel := context.WithTimeout(clientv3.WithRequireLeader(ctx), time.Minute)
	defer cancel()
	changes := s.client.Watch(ctx, key, clientv3.WithFilterDelete())
	if err := d.update(ctx); err != nil {
		return nil, err
	}
	for answer := range changes {
		for _, e := range answer.Events {
			var move struct{ Worker string }
			if err := json.Unmarshal(e.Kv.Value, &move); err != nil {
				return nil, err
			}
			for _, w := range s.workers {
				if w.id == move.Worker {
					s.say("%s holds the handover at revision %d", w.name, e.Kv.ModRevision)
					return w, nil
				}
			}
		}
	}
	return nil, context.Cause(ctx)
}

// updated waits until all replicas run at the newest version of the job.
func (d *daemon) updated(ctx context.Context) error {
	var job struct{ Meta struct{ Version int64 } }
	if err := d.get(ctx, "/api/v1/jobs/"+d.job.Name, &job); err != nil {
		return err
	}
	var last replicas
	err := d.wait(ctx, 2*time.Minute, "all replicas are updated", func() bool {
		var err error
		if last, err = d.list(ctx); err == nil && last.running() == d.count && last.oldest() == job.Meta.Version {
			return true
		}
		return harness.Sleep(ctx, 100*time.Millisecond) != nil
	})
	if err != nil {
		return fmt.Errorf("%w: version %d: %w: %+v", errPromise, job.Meta.Version, err, last.Items)
	}
	return nil
}

func (r *replicas) oldest() int64 {
	oldest := int64(-1)
	for i := range r.Items {
		if v := r.Items[i].Version; oldest < 0 || v < oldest {
			oldest = v
		}
	}
	return oldest
}

// drainUnderStop drains a worker, stops it for some seconds, and waits until none of the replicas is on it.
func drainUnderStop(ctx context.Context, s *strike) error {
	if len(s.daemons) == 0 {
		return errors.New("there are no daemon jobs")
	}
	path := "/api/v1/workers/" + url.PathEscape(s.w.id)
	defer s.begin(check.Event{Kind: check.WorkerDrained, Worker: s.w.id})()
	if err := s.do(ctx, http.MethodPost, path+"/drain", map[string]any{}, nil); err != nil {
		return err
	}
	err := harness.Sleep(ctx, time.Duration(s.rng.Int64N(int64(time.Second))))
	if err == nil {
		err = s.freeze(ctx, theBoth, 8*time.Second, false)
	}
	if err == nil {
		err = s.left(ctx)
	}
	return errors.Join(err, s.do(context.WithoutCancel(ctx), http.MethodPost, path+"/undrain", map[string]any{}, nil))
}

// left waits until no replica is on the worker of the strike.
func (s *strike) left(ctx context.Context) error {
	began := time.Now()
	err := s.wait(ctx, time.Minute, "no replica is on "+s.w.name, func() bool {
		on := 0
		for _, d := range s.daemons {
			all, err := d.list(ctx)
			if err != nil {
				on++
			}
			for i := range all.Items {
				if all.Items[i].Worker == s.w.id {
					on++
				}
			}
		}
		return on == 0 || harness.Sleep(ctx, 100*time.Millisecond) != nil
	})
	if err != nil {
		return fmt.Errorf("%w: %w", errPromise, err)
	}
	s.figure("no replica was on the drained worker %v after it continued", brief(time.Since(began)))
	return nil
}
