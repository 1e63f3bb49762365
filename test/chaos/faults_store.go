package main

import (
	"context"
	"slices"
	"syscall"
	"time"

	"carillon/test/harness"
)

// storeFaults are those of the log store. No run may be lost by any of them, and no
// outcome, and no output: what it cannot take waits elsewhere.
func storeFaults() []fault {
	store := func(name, about string, length time.Duration, alone bool,
		run func(context.Context, *strike) error) fault {
		return fault{
			name:     "store-" + name,
			about:    "the log store " + about,
			takes:    length + 3*time.Second,
			alone:    alone,
			unharmed: true,
			needs:    []resource{theStore},
			run:      run,
		}
	}
	through := func(m manner, length time.Duration) func(context.Context, *strike) error {
		return func(ctx context.Context, s *strike) error { return s.storeBehind(ctx, m, length) }
	}
	const short, long = 25 * time.Second, 3 * time.Minute
	return []fault{
		store("stopped", "stops for 25s", short, false, func(ctx context.Context, s *strike) error {
			return s.stopStore(ctx, short)
		}),
		store("stopped-long", "stops for 3m", long, true, func(ctx context.Context, s *strike) error {
			return s.stopStore(ctx, long)
		}),
		store("killed", "is killed, and comes back after a second", 5*time.Second, false,
			func(ctx context.Context, s *strike) error {
				return s.killStore(ctx, time.Second)
			}),
		store("away", "is killed, and comes back after 25s", short, false, func(ctx context.Context, s *strike) error {
			return s.killStore(ctx, short)
		}),
		store("slow", "answers a second late for 25s", short, false,
			through(manner{delay: 500 * time.Millisecond}, short)),
		store("refusing", "takes no connection for 25s", short, false, through(manner{refuse: true}, short)),
		store("mute", "takes all and answers nothing for 25s", short, false, through(manner{down: true}, short)),
		store("forgetting", "answers, and its answers are lost, for 25s", short, false,
			through(manner{forget: true}, short)),
	}
}

// stopStore freezes the log store for a time.
func (s *strike) stopStore(ctx context.Context, length time.Duration) error {
	p := s.mongo.process()
	p.Signal(syscall.SIGSTOP)
	defer p.Signal(syscall.SIGCONT)
	return harness.Sleep(ctx, length)
}

// killStore takes the log store away for a time.
func (s *strike) killStore(ctx context.Context, length time.Duration) error {
	s.mongo.want(false, time.Second)
	defer s.mongo.want(true, time.Second)
	p := s.mongo.process()
	p.Signal(syscall.SIGKILL)
	<-p.Done
	return harness.Sleep(ctx, length)
}

// storeBehind has all processes reach the log store through proxies that do something to
// what they carry.
func (s *strike) storeBehind(ctx context.Context, m manner, length time.Duration) error {
	all := slices.Clone(s.masterMongo)
	for _, w := range s.workers {
		all = append(all, w.mongo...)
	}
	all.set(m)
	if m.refuse {
		all.cut()
	}
	err := harness.Sleep(ctx, length)
	all.set(manner{})
	if m.forget { // what has lost bytes cannot go on
		all.cut()
	}
	return err
}
