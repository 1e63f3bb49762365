package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"time"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// loadFaults are those that are measured under a load of their own.
func loadFaults() []fault {
	away := func(name string, length, drain time.Duration) fault {
		return fault{
			name:     name,
			about:    fmt.Sprintf("the log store is away for %v under 100 runs a second", length),
			takes:    length + 40*time.Second,
			rest:     drain,
			alone:    true,
			unharmed: true,
			needs:    []resource{theStore},
			run:      func(ctx context.Context, s *strike) error { return s.awayUnderLoad(ctx, length) },
		}
	}
	return []fault{
		{
			name:     "flood",
			about:    "a command prints 10 GB as fast as it can, three times, beside short ones",
			takes:    calmFlood + floodLimit + 10*time.Second,
			alone:    true,
			unharmed: true,
			needs:    []resource{aWorker},
			run:      flood,
		},
		away("store-away-1m-100", time.Minute, 2*time.Minute),
		away("store-away-10m-100", 10*time.Minute, 20*time.Minute),
	}
}

// The flood, and what is looked at beside it.
const (
	floodBytes  = 10_000_000_000
	floods      = 3 // one after the other, since one may be over within seconds
	floodLimit  = time.Minute
	floodMemory = 64 << 20 // by how much a worker may grow meanwhile
	calmFlood   = 25 * time.Second
	probes      = 30
)

// flood has short commands run beside one that prints without end, on the same worker,
// and compares how late they start with how late they did before.
func flood(ctx context.Context, s *strike) error {
	pinned := map[string]any{"workers": []string{s.w.name}}
	if err := s.crowd(ctx, "probe", probes, pinned); err != nil {
		return err
	}
	o := s.misbehaving("flood", []string{"-ms", "0", "0", "-flood", strconv.Itoa(floodBytes)})
	o.job.AnyText, o.job.OnLost = true, check.Abandon
	o.body["placement"], o.body["output"], o.body["onLost"] = pinned, map[string]any{"max": "1MiB"}, check.Abandon
	if err := o.make(ctx, 0); err != nil {
		return err
	}
	o.done()
	calm := check.Now().Add(3 * time.Second) // the first fires find everything cold
	if err := harness.Sleep(ctx, calmFlood); err != nil {
		return err
	}
	before, err := s.vitals(ctx, s.w)
	if err != nil {
		return err
	}
	began := check.Now()
	peak, err := s.floods(ctx)
	if err != nil {
		return err
	}
	ended := check.Now()
	normal, err := s.lateness(calm, began)
	if err != nil {
		return err
	}
	flooded, err := s.lateness(began, ended)
	if err != nil {
		return err
	}
	grown := peak - before.Memory
	s.figure("%d times 10 GB in %v; the worker held %d MiB before and grew by at most %d MiB; other commands started "+
		"late by %v at most of 99 in 100 before (%d), by %v beside it (%d): × %.1f",
		floods, ended.Sub(began).Round(100*time.Millisecond), before.Memory>>20, grown>>20, brief(normal.P99), normal.N,
		brief(flooded.P99), flooded.N, float64(flooded.P99)/float64(normal.P99))
	var broken []error
	if grown >= floodMemory {
		broken = append(broken, fmt.Errorf("%w: the worker grew by %d MiB", errPromise, grown>>20))
	}
	if flooded.P99 >= 2*normal.P99 {
		broken = append(broken, fmt.Errorf("%w: beside the flood, commands started %v late and not %v", errPromise,
			flooded.P99, normal.P99))
	}
	return errors.Join(broken...)
}

// crowd makes jobs that run a short command each second.
func (s *strike) crowd(ctx context.Context, name string, n int, placement map[string]any) error {
	var group sync.WaitGroup
	all := make([]error, n)
	for i := range n {
		o := s.misbehaving(fmt.Sprintf("%s-%03d", name, i), []string{"-ms", "0", "0"})
		if placement != nil {
			o.body["placement"] = placement
		}
		if i > 0 && i%8 == 0 {
			group.Wait()
		}
		group.Go(func() {
			if all[i] = o.make(ctx, 1); all[i] == nil {
				o.done()
			}
		})
	}
	group.Wait()
	return errors.Join(all...)
}

// floods runs them, and looks how much memory the worker holds meanwhile.
func (s *strike) floods(ctx context.Context) (peak int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, floodLimit)
	defer cancel()
	left := floods
	ended := make(chan error, 1)
	go func() {
		ended <- follow(ctx, s.ledger, func(e entry) bool {
			if e.what == "end" && e.job == "flood" {
				left--
			}
			return left == 0
		})
	}()
	for range floods { // the job forbids overlap: they wait for each other
		var accepted struct{ Fire string }
		if err := s.do(ctx, http.MethodPost, "/api/v1/jobs/flood/run", map[string]any{}, &accepted); err != nil {
			return 0, err
		}
		s.add(check.Event{Kind: check.Triggered, Job: "flood", Fire: accepted.Fire})
	}
	for {
		select {
		case err := <-ended:
			return peak, err
		case <-time.After(100 * time.Millisecond):
		}
		if v, err := s.vitals(ctx, s.w); err == nil {
			peak = max(peak, v.Memory)
		}
	}
}

// lateness is how late the probes started within a time.
func (s *strike) lateness(from, to check.Boot) (check.Spread, error) {
	lines, err := check.ReadLedger(s.ledger)
	if err != nil {
		return check.Spread{}, err
	}
	var late []time.Duration
	for i := range lines {
		if l := &lines[i]; l.What == check.Start && l.At >= from && l.At < to && len(l.Job) > 6 &&
			l.Job[:6] == "probe-" {
			late = append(late, time.Unix(0, l.B).Sub(l.Planned))
		}
	}
	if len(late) == 0 {
		return check.Spread{}, errors.New("no probe ran")
	}
	return check.SpreadOf(late), nil
}

// awayUnderLoad takes the log store away while a hundred jobs run each second.
func (s *strike) awayUnderLoad(ctx context.Context, length time.Duration) error {
	if err := s.crowd(ctx, "crowd", 100, nil); err != nil {
		return err
	}
	if err := harness.Sleep(ctx, 5*time.Second); err != nil {
		return err
	}
	if err := s.killStore(ctx, length); err != nil {
		return err
	}
	s.figure("%d outcomes waited in etcd when the log store came back", s.waiting(ctx))
	return nil
}

// waiting is how many outcomes wait for the log store.
func (s *strike) waiting(ctx context.Context) int64 {
	n, err := s.count(ctx, "/cron/outbox/")
	if err != nil {
		return -1
	}
	return n
}
