package main

import (
	"context"
	"fmt"
	"math"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/bench/check"
	"carillon/internal/common"
	"carillon/test/harness"
)

// flowSpread measures 100 fires that are due together, each on all of 50 workers: the time from the fire to the trigger
// of each node, as etcd reports it to a watch, and the Raft entries for each node.
func flowSpread(ctx context.Context, b *bench) error {
	workers, fires := 50, 100
	if b.quick {
		workers, fires = 10, 20
	}
	c, err := b.newCluster(ctx, make([]time.Duration, workers)...)
	if err != nil {
		return err
	}
	defer c.kill()
	client, err := dial(c.etcdURL)
	if err != nil {
		return err
	}
	defer client.Close()
	from, err := c.loadDue(ctx, "spread", fires, common.Job{
		Args:  short(),
		RunOn: &common.RunOn{Workers: common.AllWorkers},
	})
	if err != nil {
		return err
	}
	nodes := workers * fires
	watching, stop := context.WithCancel(ctx)
	defer stop()
	changes := client.Watch(watching, common.TriggersPrefix, clientv3.WithPrefix(), clientv3.WithFragment())
	seenBy := make(chan []time.Duration, 1)
	go func() { seenBy <- triggered(changes, from, nodes) }()
	if err := harness.SleepUntil(ctx, from.Add(-500*time.Millisecond)); err != nil {
		return err
	}
	began, seen := time.Now(), look(c.processes()...)
	before, err := entriesOf(ctx, c, client)
	if err != nil {
		return err
	}
	last, err := c.allEnded(ctx, "spread", fires, from)
	if err != nil {
		return err
	}
	after, err := entriesOf(ctx, c, client)
	if err != nil {
		return err
	}
	b.sheet.took("flow-spread", seen, time.Since(began), c.processes()...)
	stop() // a node without a trigger is not waited for: its fire would not have succeeded
	v := check.SpreadOf(<-seenBy)
	b.sheet.add("flow-spread",
		fmt.Sprintf("fire to the trigger of each node, %d fires due together, workers: %d", fires, workers),
		fmt.Sprintf("p50 %s, p99 %s, max %s (%d nodes, all ended after %s)", ms(v.P50), ms(v.P99), ms(v.Max), v.N,
			ms(last.Sub(from))),
		"≤ 1 s", reached(v.N == nodes && v.Max <= time.Second))
	entries := after.committed - before.committed - after.registrations + before.registrations
	each := float64(entries) / float64(nodes)
	b.sheet.add("flow-spread", "its Raft entries per node", fmt.Sprintf("%.2f (%d entries)", each, entries), "≤ 0.1",
		reached(math.Round(100*each) <= 10))
	return nil
}

// triggered returns how long after a time the trigger of each node of runs on several workers is put.
func triggered(changes clientv3.WatchChan, since time.Time, nodes int) (all []time.Duration) {
	for resp := range changes {
		for _, ev := range resp.Events {
			if !ev.IsCreate() {
				continue
			}
			t, err := common.Decode[common.Trigger](ev.Kv.Value)
			if err == nil && t.Flow.OfSpread() {
				all = append(all, time.Since(since))
			}
		}
		if len(all) >= nodes {
			break
		}
	}
	return all
}
