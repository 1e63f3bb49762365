package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// The lengths of a cut: one without consequences, and one that outlives the
// lease, lostAfter, and what survivors then do.
const (
	shortCut = 8 * time.Second
	longCut  = 45 * time.Second
	// back is how long a worker may take until it reaches etcd again, and soon how
	// long it usually does.
	back = 40 * time.Second
	soon = 10 * time.Second
)

func cutFaults() []fault {
	var all []fault
	for _, c := range []struct {
		how         cut
		name, about string
		short       bool
	}{
		{linkDown, "link-down", "its link is down", true},
		{blackhole, "blackhole", "nothing arrives at it, and nothing of it anywhere", true},
		{deaf, "deaf", "what it sends arrives, and nothing comes back", false},
		{mute, "mute", "nothing that it sends arrives, and all else comes in", false},
		{halfOpen, "half-open", "its connections have ended, and it is not told", false},
	} {
		for _, length := range []time.Duration{shortCut, longCut} {
			if length == shortCut && !c.short {
				continue
			}
			name := "cut-" + c.name
			if length == shortCut {
				name += "-short"
			}
			like := likeShort
			if length == longCut {
				like = likeLong
			}
			all = append(all, fault{
				name:     name,
				jobs:     like,
				about:    fmt.Sprintf("the worker is cut off for %v: %s", length, c.about),
				takes:    length + soon,
				alone:    length == longCut,
				needs:    []resource{aWorker},
				unharmed: length == shortCut,
				run:      func(ctx context.Context, s *strike) error { return s.cutOff(ctx, c.how, length) },
			})
		}
	}
	return append(all,
		fault{
			name:  "cut-etcd",
			about: "etcd alone refuses the worker for 45s; the log store does not",
			takes: longCut + soon,
			alone: true,
			needs: []resource{aWorker},
			jobs:  likeLong,
			run: func(ctx context.Context, s *strike) error {
				return s.behind(ctx, manner{refuse: true}, longCut)
			},
		},
		fault{
			name:  "cut-etcd-silent",
			about: "etcd alone takes the worker's connections for 45s, and answers nothing",
			takes: longCut + soon,
			alone: true,
			needs: []resource{aWorker},
			jobs:  likeLong,
			run: func(ctx context.Context, s *strike) error {
				return s.behind(ctx, manner{down: true}, longCut)
			},
		},
		fault{
			name:     "slow-etcd",
			about:    "all between the worker and etcd takes 300ms longer, each way, for 20s",
			takes:    22 * time.Second,
			needs:    []resource{aWorker},
			unharmed: true,
			run: func(ctx context.Context, s *strike) error {
				s.w.etcd.set(manner{delay: 300 * time.Millisecond})
				defer s.w.etcd.set(manner{})
				return harness.Sleep(ctx, 20*time.Second)
			},
		},
		fault{
			name: "answers-dropped",
			about: "each second, when claims are under way, etcd's answers to the worker are thrown away for some " +
				"milliseconds and its connections cut",
			takes: 22 * time.Second,
			needs: []resource{aWorker},
			run:   dropAnswers,
		},
		fault{
			name:     "compacted",
			about:    "etcd's history is compacted while the worker's watches are cut for 8s",
			takes:    shortCut + soon,
			needs:    []resource{aWorker},
			unharmed: true,
			run:      compact,
		})
}

// behind has the worker's proxies to etcd behave badly.
func (s *strike) behind(ctx context.Context, m manner, length time.Duration) error {
	end := s.begin(check.Event{Kind: check.WorkerCut, Worker: s.w.id})
	defer end()
	s.w.etcd.set(m)
	if m.refuse {
		s.w.etcd.cut()
	}
	defer s.w.etcd.cut()
	defer s.w.etcd.set(manner{})
	if err := harness.Sleep(ctx, length); err != nil {
		return err
	}
	s.w.etcd.set(manner{})
	s.w.etcd.cut()
	return s.reaches(ctx)
}

// cutOff cuts all that the worker has to do with others.
func (s *strike) cutOff(ctx context.Context, how cut, length time.Duration) error {
	end := s.begin(check.Event{Kind: check.WorkerCut, Worker: s.w.id})
	defer end()
	mend, err := s.w.sever(how)
	if err != nil {
		return err
	}
	err = harness.Sleep(ctx, length)
	return errors.Join(err, mend(), s.reaches(ctx))
}

// reaches waits until the worker of the strike writes to etcd again.
func (s *strike) reaches(ctx context.Context) error { return s.reachesFrom(ctx, s.w) }

// reachesFrom waits until a worker writes to etcd again.
func (s *strike) reachesFrom(ctx context.Context, w *worker) error {
	began := s.revision(ctx)
	return s.wait(ctx, back, w.name+" reaches etcd again", func() bool {
		resp, err := s.client.Get(ctx, "/cron/workers/"+w.id, clientv3.WithMinModRev(began+1))
		return err == nil && len(resp.Kvs) == 1 || harness.Sleep(ctx, 100*time.Millisecond) != nil
	})
}

func (s *strike) revision(ctx context.Context) int64 {
	resp, err := s.client.Get(ctx, "/chaos/probe")
	if err != nil {
		return 0
	}
	return resp.Header.Revision
}

// sever cuts the worker's link, or, where it has none of its own, does much the same
// in its proxies.
func (w *worker) sever(how cut) (mend func() error, err error) {
	all := append(append(proxies{}, w.etcd...), w.mongo...)
	if w.place == nil {
		all.set(map[cut]manner{
			linkDown:  {refuse: true},
			blackhole: {up: true, down: true},
			deaf:      {down: true},
			mute:      {up: true},
			halfOpen:  {up: true, down: true},
		}[how])
		if how == linkDown {
			all.cut()
		}
		return func() error {
			all.set(manner{})
			if how == halfOpen {
				all.cut()
			}
			return nil
		}, nil
	}
	if how != halfOpen {
		return w.place.sever(how)
	}
	// The other end goes away while nothing of it gets through.
	if mend, err = w.place.sever(deaf); err == nil {
		all.cut()
	}
	return mend, err
}

// dropAnswers hits the claims of each second: they are sent when it begins.
func dropAnswers(ctx context.Context, s *strike) error {
	end := s.begin(check.Event{Kind: "answers_dropped", Worker: s.w.id})
	defer end()
	for stop := time.Now().Add(20 * time.Second); time.Now().Before(stop); {
		if err := harness.SleepUntil(ctx, time.Now().Add(time.Second).Truncate(time.Second).
			Add(-2*time.Millisecond)); err != nil {
			return err
		}
		s.w.etcd.set(manner{forget: true})
		err := harness.Sleep(ctx, time.Duration(10+s.rng.Int64N(60))*time.Millisecond)
		s.w.etcd.cut()
		s.w.etcd.set(manner{})
		if err != nil {
			return err
		}
	}
	return nil
}

func compact(ctx context.Context, s *strike) error {
	end := s.begin(check.Event{Kind: check.WorkerCut, Worker: s.w.id})
	defer end()
	mend, err := s.w.sever(blackhole)
	if err != nil {
		return err
	}
	err = harness.Sleep(ctx, shortCut)
	if err == nil {
		at := s.revision(ctx)
		_, err = s.client.Compact(ctx, at, clientv3.WithCompactPhysical())
		s.say("compacted at %d", at)
	}
	return errors.Join(err, mend(), s.reaches(ctx))
}
