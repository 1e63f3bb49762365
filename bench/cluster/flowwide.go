package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"time"

	"carillon/internal/common"
	"carillon/test/harness"
)

const (
	flowLayers = 100
	flowWidth  = 100
)

// layered returns a flow of 100 layers of 100 steps, each of which follows three steps of the layer before.
func layered(name string) *common.Job {
	job := &common.Job{Name: name}
	step := func(layer, n int) string { return fmt.Sprintf("s%02d-%02d", layer, n%flowWidth) }
	for layer := range flowLayers {
		for n := range flowWidth {
			s := common.Step{Name: step(layer, n), Args: short()}
			if layer > 0 {
				for _, parent := range []int{n, n + 1, n + 7} {
					s.After = append(s.After, common.Edge{Step: step(layer-1, parent)})
				}
			}
			job.Steps = append(job.Steps, s)
		}
	}
	return job
}

// flowLayered compares a flow of 10,000 nodes with as many manual runs of plain jobs, and counts its Raft entries.
func flowLayered(ctx context.Context, b *bench) error {
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, "flow-layers"))
	if err != nil {
		return err
	}
	defer s.Kill()
	const nodes, each = flowLayers * flowWidth, 10
	jobs, names := many("plain", nodes/each, job{Args: short()})
	if err := s.load(ctx, jobs); err != nil {
		return err
	}
	before, err := s.done(ctx)
	if err != nil {
		return err
	}
	b.say("flow-layers: %d manual runs", nodes)
	began, seen := time.Now(), look(s.Process)
	if err := together(ctx, nodes, func(ctx context.Context, i int) error {
		_, err := s.trigger(ctx, names[i%len(names)])
		return err
	}); err != nil {
		return err
	}
	if err := s.untilDone(ctx, before+nodes); err != nil {
		return err
	}
	plain := nodes / time.Since(began).Seconds()
	b.sheet.took("flow-layers, plain", seen, time.Since(began), s.Process)
	saved := time.Now()
	if err := s.save(ctx, layered("layers")); err != nil {
		return err
	}
	b.sheet.add("flow-layers", "save of 10,000 steps", ms(time.Since(saved)), "≤ 2 s",
		reached(time.Since(saved) <= 2*time.Second))
	b.say("flow-layers: %d nodes", nodes)
	began, seen = time.Now(), look(s.Process)
	r, err := s.succeeded(ctx, "layers", nodes)
	if err != nil {
		return err
	}
	b.sheet.took("flow-layers, flow", seen, time.Since(began), s.Process)
	rate := nodes / r.EndedAt.Sub(r.StartedAt).Seconds()
	b.sheet.add("flow-layers", "10,000 nodes, 100 layers, 3 parents each", fmt.Sprintf(
		"%.0f nodes/s; as many manual runs: %.0f/s: %.0f %%", rate, plain, 100*rate/plain), "≥ 70 %",
		reached(rate >= 0.7*plain))
	s.Kill()
	return b.flowEntries(ctx)
}

// flowEntries counts the Raft entries of the flow of 10,000 nodes on a cluster of one.
func (b *bench) flowEntries(ctx context.Context) error {
	c, err := b.newCluster(ctx, 0)
	if err != nil {
		return err
	}
	defer c.kill()
	client, err := dial(c.etcdURL)
	if err != nil {
		return err
	}
	defer client.Close()
	if err := c.save(ctx, layered("layers")); err != nil {
		return err
	}
	if err := harness.Sleep(ctx, 5*time.Second); err != nil { // the change is delivered
		return err
	}
	before, err := entriesOf(ctx, c, client)
	if err != nil {
		return err
	}
	const nodes = flowLayers * flowWidth
	r, err := c.succeeded(ctx, "layers", nodes)
	if err != nil {
		return err
	}
	after, err := entriesOf(ctx, c, client)
	if err != nil {
		return err
	}
	entries := after.committed - before.committed - after.registrations + before.registrations
	b.sheet.add("flow-layers", "Raft entries per node, cluster of one", fmt.Sprintf("%.2f (%d in %v)",
		float64(entries)/nodes, entries, r.EndedAt.Sub(r.StartedAt).Round(100*time.Millisecond)), "≤ 0.2",
		reached(math.Round(100*float64(entries)/nodes) <= 20))
	return nil
}

// done returns the number of outcomes that a standalone has counted.
func (s *standalone) done(ctx context.Context) (float64, error) {
	samples, err := s.metrics(ctx)
	return samples[fmt.Sprintf("carillon_fires_total{status=%q}", common.StatusSucceeded)], err
}

// untilDone waits until a standalone has counted outcomes.
func (s *standalone) untilDone(ctx context.Context, n float64) error {
	var failed error
	err := harness.Until(ctx, flowLimit, fmt.Sprintf("%.0f runs have succeeded", n), func() bool {
		var done float64
		done, failed = s.done(ctx)
		return failed == nil && done >= n
	})
	if failed != nil {
		return failed
	}
	return err
}
