package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// defaults of the trials.
const (
	fewJobs   = 24
	manyJobs  = 200
	mixLength = 90 * time.Second
)

// run makes the trials that were asked for.
func (l *lab) run(ctx context.Context, o options) error {
	jobs := cmp.Or(o.jobs, fewJobs)
	if o.fault != "" {
		f, err := named(o.fault)
		if err != nil {
			return err
		}
		l.alone(ctx, f, o.seed, jobs)
	}
	if o.all {
		for _, f := range faults() {
			l.alone(ctx, f, o.seed, jobs)
		}
	}
	if o.quick {
		script, err := quick(o.seed)
		if err != nil {
			return err
		}
		l.make(ctx, "quick", o.seed, jobs, script, fmt.Sprintf("-quick -seed %d", o.seed))
	}
	for i := range o.mixes {
		seed := o.seed + uint64(i)
		l.make(ctx, fmt.Sprintf("mix %d", seed), seed, jobs, mix(seed, mixLength, mixable()),
			fmt.Sprintf("-mixes 1 -seed %d", seed))
	}
	if o.soak > 0 {
		script := mix(o.seed, o.soak, promised())
		for i := range script { // runs of a minute, tried again, take long to come to rest
			script[i].jobs, script[i].rest = likeSoak, max(script[i].rest, rest)
		}
		l.make(ctx, fmt.Sprintf("soak of %v", o.soak), o.seed, cmp.Or(o.jobs, manyJobs), script,
			fmt.Sprintf("-soak %v -seed %d", o.soak, o.seed))
	}
	return errors.Join(context.Cause(ctx), l.sum())
}

// make makes one trial, unless it is another program's, or all has come to its end.
func (l *lab) make(ctx context.Context, name string, seed uint64, jobs int, script []scheduled, again string) {
	l.turn++
	if ctx.Err() != nil || l.turn%l.share.of != l.share.mine%l.share.of {
		return
	}
	again = "go run ./test/chaos " + again
	if jobs != fewJobs && jobs != manyJobs {
		again += fmt.Sprintf(" -jobs %d", jobs)
	}
	if l.plain {
		again += " -plain"
	}
	l.say("%s: %s", name, again)
	r := l.try(ctx, name, seed, jobs, script)
	if ctx.Err() != nil { // what was interrupted says nothing
		return
	}
	r.Again = again
	l.rows = append(l.rows, r)
	l.print(r)
	if l.results == "" {
		return
	}
	if err := save(l.results, r); err != nil {
		l.say("write the results down: %v", err)
	}
}

// alone makes a trial of one fault; the worker is drawn by lot.
func (l *lab) alone(ctx context.Context, f fault, seed uint64, jobs int) {
	rng := rand.New(rand.NewPCG(seed, 3))
	l.make(ctx, f.name, seed, jobs, []scheduled{{
		fault:  f,
		worker: rng.IntN(workers),
		seed:   rng.Uint64(),
	}}, fmt.Sprintf("-fault %s -seed %d", f.name, seed))
}

// mixable are the faults that go together with others in a short time.
func mixable() []fault {
	return slices.DeleteFunc(faults(), func(f fault) bool { return f.alone })
}

// promised are the faults under which all promises are to be kept, and for which the
// stack is as usual and remembers everything.
func promised() []fault {
	return slices.DeleteFunc(faults(), func(f fault) bool {
		return len(f.permitted) > 0 || len(f.env) > 0 || f.disk > 0 || f.passwords || f.forgets
	})
}

// mix draws a script by lot: at most two faults at a time, which do not touch the
// same thing, and each worker left in peace for a while after a fault of its own.
func mix(seed uint64, length time.Duration, from []fault) []scheduled {
	rng := rand.New(rand.NewPCG(seed, 5))
	busy := map[string]time.Duration{} // until when a thing is not to be touched
	var script []scheduled
	for at := time.Duration(rng.Int64N(int64(3 * time.Second))); ; at += time.Duration(1+rng.IntN(6)) * time.Second {
		s := scheduled{
			fault:  from[rng.IntN(len(from))],
			at:     at.Round(10 * time.Millisecond),
			worker: rng.IntN(workers),
			seed:   rng.Uint64(),
		}
		if at >= length {
			return script
		}
		if at+s.takes > length {
			continue
		}
		running := 0
		for i := range script {
			if script[i].at+script[i].takes > at {
				running++
			}
		}
		things := s.things()
		if running >= 2 || slices.ContainsFunc(things, func(thing string) bool { return busy[thing] > at }) {
			continue
		}
		for _, thing := range things {
			busy[thing] = at + s.takes
		}
		script = append(script, s)
	}
}

// things are what a scheduled fault touches.
func (s *scheduled) things() []string {
	var all []string
	for _, r := range s.needs {
		if r == aWorker {
			all = append(all, fmt.Sprint(r, s.worker))
		} else {
			all = append(all, string(r))
		}
	}
	return all
}

// quick is a script that is over soon and holds the most telling faults, each on
// another thing, and three of them at the workers.
func quick(seed uint64) ([]scheduled, error) {
	rng := rand.New(rand.NewPCG(seed, 6))
	first := rng.IntN(workers)
	var script []scheduled
	for _, step := range []struct {
		at     time.Duration
		name   string
		worker int
	}{
		{0, "kill-worker", 0},
		{3 * time.Second, "master-killed", 0},
		{8 * time.Second, "cut-blackhole-short", 1},
		{10 * time.Second, "daemon-changes", 0},
		{20 * time.Second, "etcd-restart-5s", 0},
	} {
		f, err := named(step.name)
		if err != nil {
			return nil, err
		}
		f.jobs = likeShort // long ones take long to come to rest
		script = append(script, scheduled{
			fault:  f,
			at:     step.at,
			worker: (first + step.worker) % workers,
			seed:   rng.Uint64(),
		})
	}
	return script, nil
}
