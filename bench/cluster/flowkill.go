package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/bench/check"
	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
	"carillon/test/harness"
)

// flowKill kills the worker that keeps a flow run, while its items run on three workers. The next start is one that
// etcd reports to a watch after the kill, and that no worker had requested before: a batch in flight comes at once.
func flowKill(ctx context.Context, b *bench) error {
	c, err := b.newCluster(ctx, 0, 0, 0)
	if err != nil {
		return err
	}
	defer c.kill()
	client, err := dial(c.etcdURL)
	if err != nil {
		return err
	}
	defer client.Close()
	items := 6000
	if b.quick {
		items = 2000
	}
	list := &common.ForEach{Concurrency: 100}
	for i := range items {
		list.Items = append(list.Items, fmt.Sprint(i))
	}
	if err := c.save(ctx, &common.Job{
		Name:        "kill",
		Concurrency: 100,
		LostAfter:   "20s",
		OnLost:      common.LostRerun,
		KillGrace:   "5s",
		Steps: []common.Step{
			{Name: "each", Args: b.helper(c.ledger), ForEach: list},
			{Name: "last", Args: short(), After: []common.Edge{{Step: "each"}}},
		},
	}); err != nil {
		return err
	}
	began, seen := time.Now(), look(c.processes()...)
	id, err := c.trigger(ctx, "kill")
	if err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	starts := make(chan time.Time, 2*items)
	changes := client.Watch(watching, common.FlowNodesOf(id), clientv3.WithPrefix())
	go func() { defer close(starts); started(changes, starts) }()

	var rate float64
	var first time.Time
	for range items / 4 {
		at, open := <-starts
		if !open {
			return errors.New("the watch of the nodes ended")
		}
		if first.IsZero() {
			first = at
		}
		rate = float64(items/4) / at.Sub(first).Seconds()
	}
	victim, err := c.keeperOf(id)
	if err != nil {
		return err
	}
	victim.Kill()
	blow, next := time.Now(), time.Duration(0)
	// What was on its way when the worker died arrives within a fraction of a second.
	for next < 100*time.Millisecond {
		at, open := <-starts
		if !open {
			return errors.New("no node was started after the kill")
		}
		next = at.Sub(blow)
	}
	r, err := c.ended(ctx, id)
	if err != nil {
		return err
	}
	b.sheet.took("flow-kill", seen, time.Since(began), c.processes()...)
	lines, err := check.ReadLines(c.ledger)
	if err != nil {
		return err
	}
	runs, again := map[string]int{}, 0
	for _, l := range lines {
		if runs[l.Run]++; l.Attempt > 1 {
			again++
		}
	}
	doubled := len(lines) - len(runs)
	b.sheet.add("flow-kill", fmt.Sprintf("its keeper killed at %.0f nodes/s: the next start", rate), ms(next), "≤ 3 s",
		reached(next <= 3*time.Second))
	b.sheet.add("flow-kill", "nodes that succeeded; runs started twice; runs again of the killed worker",
		fmt.Sprintf("%d of %d; %d; %d", r.Nodes.Succeeded, items+1, doubled, again), "all; 0; –",
		reached(r.Nodes.Succeeded == items+1 && doubled == 0 && r.Status == string(common.StatusSucceeded)))
	return nil
}

// started passes on when nodes of a flow run were started.
func started(changes clientv3.WatchChan, to chan<- time.Time) {
	for resp := range changes {
		now := time.Now()
		for _, ev := range resp.Events {
			mark, err := common.Decode[common.Node](ev.Kv.Value)
			if ev.Type == clientv3.EventTypePut && err == nil && mark.State == common.NodeStarted {
				to <- now
			}
		}
	}
}

// keeperOf returns the worker that keeps a flow run.
func (c *cluster) keeperOf(run string) (*harness.Process, error) {
	ids := make([]string, len(c.workers))
	var all []placement.Candidate
	for i, w := range c.workers {
		id, err := os.ReadFile(filepath.Join(w.dir, "worker.id"))
		if err != nil {
			return nil, err
		}
		ids[i] = strings.TrimSpace(string(id))
		all = append(all, placement.Candidate{ID: ids[i]})
	}
	for i, w := range c.workers {
		if placement.SettleRank(run, all, ids[i]) == 0 {
			return w.Process, nil
		}
	}
	return nil, errors.New("no worker keeps the flow run")
}
