package main

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

func clockFaults() []fault {
	var all []fault
	for _, c := range []struct {
		name   string
		offset time.Duration
	}{{"clock-fast", 5 * time.Second}, {"clock-slow", -5 * time.Second}, {"clock-day", 24 * time.Hour}} {
		all = append(all, fault{
			name:  c.name,
			about: fmt.Sprintf("the worker's wall clock is off by %+v for 25s", c.offset),
			takes: 80 * time.Second,
			alone: true,
			needs: []resource{aWorker},
			run: func(ctx context.Context, s *strike) error {
				if err := s.reborn(ctx, c.offset); err != nil {
					return err
				}
				if err := harness.Sleep(ctx, 25*time.Second); err != nil {
					return err
				}
				return s.reborn(ctx, 0)
			},
		})
	}
	return append(all, fault{
		name:     "restart-worker",
		about:    "the worker is asked to end, lets its runs end, and is started again",
		takes:    40 * time.Second,
		needs:    []resource{aWorker},
		unharmed: true,
		run:      func(ctx context.Context, s *strike) error { return s.reborn(ctx, 0) },
	})
}

// reborn asks the worker to end, and waits for its next life, which has another clock.
func (s *strike) reborn(ctx context.Context, clock time.Duration) error {
	s.w.setClock(clock)
	p := s.w.process()
	if p == nil || !p.Alive() {
		return fmt.Errorf("%s is not there to be restarted", s.w.name)
	}
	end := s.begin(check.Event{Kind: check.WorkerEnded, Worker: s.w.id})
	p.Signal(syscall.SIGTERM)
	if err := s.wait(ctx, time.Minute, s.w.name+" has ended", func() bool { return !p.Alive() }); err != nil {
		return err
	}
	end()
	var ahead time.Duration
	err := s.wait(ctx, back, s.w.name+" is registered again", func() bool {
		clocks, err := s.liveWorkers(ctx)
		at, there := clocks[s.w.name]
		ahead = time.Until(at)
		return err == nil && there && s.w.process() != p || harness.Sleep(ctx, 100*time.Millisecond) != nil
	})
	// It wrote down its clock up to some seconds ago.
	if err == nil && (ahead-clock > time.Second || ahead-clock < -8*time.Second) {
		return fmt.Errorf("its clock is off by %v, and was to be by %v: was it built with -tags clockoffset?",
			ahead, clock)
	}
	return err
}

func masterFaults() []fault {
	return []fault{
		{
			name:     "masters-away",
			about:    "both masters are killed, for a minute",
			takes:    80 * time.Second,
			alone:    true,
			needs:    []resource{theHeads},
			unharmed: true,
			run:      func(ctx context.Context, s *strike) error { return s.masterless(ctx, s.masters, time.Minute) },
		},
		{
			name:     "master-killed",
			about:    "a master is killed, and is back after 5s",
			takes:    25 * time.Second,
			needs:    []resource{theHeads},
			unharmed: true,
			run: func(ctx context.Context, s *strike) error {
				i := s.rng.IntN(len(s.masters))
				return s.masterless(ctx, s.masters[i:i+1], 5*time.Second)
			},
		},
	}
}

func (s *strike) masterless(ctx context.Context, which []*unit, length time.Duration) error {
	for _, u := range which {
		u.want(false, time.Second)
		defer u.want(true, time.Second)
		if p := u.process(); p != nil {
			p.Signal(syscall.SIGKILL)
		}
	}
	if err := harness.Sleep(ctx, length); err != nil {
		return err
	}
	for _, u := range which {
		u.want(true, time.Second)
	}
	return s.wait(ctx, startLimit, "the masters are ready", func() bool { return s.ready(ctx, 0) && s.ready(ctx, 1) })
}
