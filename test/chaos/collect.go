package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"carillon/test/chaos/check"
)

// lostAlive returns the runs that were lost while their command ran.
func lostAlive(h *check.History) (died []string) {
	began := map[string]bool{}
	for i := range h.Lines {
		if h.Lines[i].What == check.Start {
			began[h.Lines[i].Run] = true
		}
	}
	for i := range h.Runs {
		if r := &h.Runs[i]; r.Status == "lost" && began[r.ID] {
			died = append(died, r.ID)
		}
	}
	return died
}

// Number of runs whose output is read: with floods each takes long.
const (
	manyOutputs = 60
	fewOutputs  = 15
	// reading bounds the time of reading output: with floods each takes much longer.
	reading = 5 * time.Minute
)

// sample chooses runs whose output is read: first those that a fault may have affected.
func (t *trial) sample(h *check.History) map[string]bool {
	first, rest := map[string]bool{}, map[string]bool{}
	for i := range h.Lines {
		line := &h.Lines[i]
		met := slices.ContainsFunc(h.Journal, func(e check.Event) bool {
			return (e.Worker == "" || e.Worker == line.Worker) && line.At.Add(3*time.Second) > e.At &&
				line.At < max(e.At, e.Until).Add(2*time.Second)
		})
		if met {
			first[line.Run] = true
		} else {
			rest[line.Run] = true
		}
	}
	chosen := map[string]bool{}
	rng := rand.New(rand.NewPCG(t.seed, 4))
	for _, from := range []map[string]bool{first, rest} {
		all := slices.Sorted(maps.Keys(from))
		rng.Shuffle(len(all), func(a, b int) { all[a], all[b] = all[b], all[a] })
		for _, run := range all {
			if len(chosen) < t.outputs {
				chosen[run] = true
			}
		}
	}
	return chosen
}

func (t *trial) collect(ctx context.Context, h *check.History) (err error) {
	from, to := t.from.Add(-time.Minute), time.Now().Add(time.Minute) // replicas start until their jobs are deleted
	if h.Lines, err = check.ReadLedger(t.ledger); err != nil {
		return err
	}
	runs, late := t.runs(ctx, from, to)
	if late != nil {
		return fmt.Errorf("list runs: %w", late)
	}
	if err := t.addNodes(ctx, runs); err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for _, r := range runs {
		if r.Flow != nil {
			h.Nodes = append(h.Nodes, r)
		} else {
			h.Runs = append(h.Runs, r)
		}
	}
	if h.Fires, late = t.fires(ctx, from, to); late != nil {
		return fmt.Errorf("list fires: %w", late)
	}
	return errors.Join(err, late)
}

// addNodes adds what only the lists of nodes have: the failures that were accepted, and the parameters of approvals.
func (t *trial) addNodes(ctx context.Context, runs []check.Run) error {
	byID := map[string]*check.Run{}
	for i := range runs {
		byID[runs[i].ID] = &runs[i]
	}
	for i := range runs {
		r := &runs[i]
		if r.Attempt == 0 || r.Gap != nil || r.Job != flowAgain && r.Job != flowFills {
			continue
		}
		nodes, err := t.nodes(ctx, r.ID)
		if err != nil {
			return err
		}
		for _, n := range nodes {
			if n.Accepted != nil && !n.Kept {
				r.Accepted = append(r.Accepted, n.Node)
			}
			if run := byID[n.Run]; run != nil {
				run.Outputs = n.Outputs
			}
		}
	}
	return nil
}
