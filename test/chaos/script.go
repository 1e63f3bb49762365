package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
)

// run makes the trials that were asked for.
func (l *lab) run(ctx context.Context, o options) error {
	jobs := o.jobs
	if jobs == 0 {
		jobs = 24
	}
	var chosen []fault
	if o.fault != "" {
		f, err := named(o.fault)
		if err != nil {
			return err
		}
		chosen = append(chosen, f)
	}
	if o.all {
		chosen = append(chosen, faults()...)
	}
	for _, f := range chosen {
		if ctx.Err() != nil {
			break
		}
		l.done(l.try(ctx, f.name, o.seed, jobs, alone(f, o.seed)), fmt.Sprintf("go run ./test/chaos -fault %s -seed %d", f.name, o.seed))
	}
	return errors.Join(context.Cause(ctx), l.sum(o))
}

// alone is a script of one fault; the worker is drawn by lot.
func alone(f fault, seed uint64) []scheduled {
	rng := rand.New(rand.NewPCG(seed, 3))
	return []scheduled{{fault: f, worker: rng.IntN(3), seed: rng.Uint64()}}
}

// done takes a result down, and prints it.
func (l *lab) done(r row, again string) {
	r.Again = again
	l.rows = append(l.rows, r)
	l.print(r)
}
