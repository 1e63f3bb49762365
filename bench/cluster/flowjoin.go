package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/bench/check"
	"carillon/internal/common"
	"carillon/test/harness"
)

// flowJoin measures a step that follows a map of 5,000 items: the time from the last mark to its trigger, both as etcd
// reports them to a watch, and what the largest transaction writes.
func flowJoin(ctx context.Context, b *bench) error {
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
	const items = 5000
	list := &common.ForEach{Concurrency: common.MaxConcurrency}
	for i := range items {
		list.Items = append(list.Items, fmt.Sprint(i))
	}
	if err := c.save(ctx, &common.Job{
		Name:        "join",
		Concurrency: common.MaxConcurrency,
		Steps: []common.Step{
			{Name: "first", Args: short()},
			{Name: "each", Args: short(), After: []common.Edge{{Step: "first"}}, ForEach: list},
			{Name: "last", Args: short(), After: []common.Edge{{Step: "each"}}},
		},
	}); err != nil {
		return err
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	seenBy := make(chan joinWatch, 1)
	changes := client.Watch(watching, common.Root, clientv3.WithPrefix(), clientv3.WithFragment())
	go func() { seenBy <- joined(changes, items) }()
	if err := harness.Sleep(ctx, 5*time.Second); err != nil { // the change is delivered
		return err
	}
	before, err := entriesOf(ctx, c, client)
	if err != nil {
		return err
	}
	began, seen := time.Now(), look(c.processes()...)
	r, err := c.succeeded(ctx, "join", items+2)
	if err != nil {
		return err
	}
	b.sheet.took("flow-join", seen, time.Since(began), c.processes()...)
	after, err := entriesOf(ctx, c, client)
	if err != nil {
		return err
	}
	watched := <-seenBy
	took := watched.took
	b.sheet.add("flow-join", "last mark of 5,000 items to the trigger of the join",
		fmt.Sprintf("%s (5,002 nodes in %s)", ms(took), ms(r.EndedAt.Sub(r.StartedAt))), "≤ 50 ms",
		reached(took > 0 && took <= 50*time.Millisecond))
	b.sheet.add("flow-join", "keys and values that one transaction writes, at most",
		fmt.Sprintf("%.0f KiB", float64(watched.largest)/1024), "≤ 512 KiB", reached(watched.largest <= 512<<10))
	entries := after.committed - before.committed - after.registrations + before.registrations
	b.sheet.add("flow-join", "Raft entries per item", fmt.Sprintf("%.2f", float64(entries)/items), "≤ 0.1",
		reached(math.Round(100*float64(entries)/items) <= 10))
	return b.itemsAgainstPlain(ctx, c, items, r.EndedAt.Sub(r.StartedAt))
}

// itemsAgainstPlain compares the rate of the items with that of as many plain fires that are due at once, in turn: one
// run of each says little, since the machine does other work meanwhile.
func (b *bench) itemsAgainstPlain(ctx context.Context, c *cluster, items int, first time.Duration) error {
	rounds := 3
	if b.quick {
		rounds = 1
	}
	maps, plain := []time.Duration{first}, []time.Duration(nil)
	for round := range rounds {
		if round > 0 {
			r, err := c.succeeded(ctx, "join", items+2)
			if err != nil {
				return err
			}
			maps = append(maps, r.EndedAt.Sub(r.StartedAt))
		}
		name := fmt.Sprintf("plain%d", round)
		from, err := c.loadDue(ctx, name, items, common.Job{Args: short()})
		if err != nil {
			return err
		}
		if err := harness.SleepUntil(ctx, from); err != nil {
			return err
		}
		last, err := c.allEnded(ctx, name, items, from)
		if err != nil {
			return err
		}
		plain = append(plain, last.Sub(from))
	}
	rate := func(took []time.Duration) float64 { return float64(items) / check.SpreadOf(took).P50.Seconds() }
	b.sheet.add("flow-join", fmt.Sprintf("%d items of a map, median of %d", items, rounds), fmt.Sprintf(
		"%.0f/s; as many plain fires due at once: %.0f/s: %.0f %%",
		rate(maps), rate(plain), 100*rate(maps)/rate(plain)), "≥ 90 %", reached(rate(maps) >= 0.9*rate(plain)))
	return nil
}

// joinWatch is what a watch has seen of the flow run.
type joinWatch struct {
	took    time.Duration // from the end of the last item to the start of the join; zero if they did not arrive
	largest int           // bytes of the keys and values of the largest transaction
}

// joined reads changes up to the start of the join.
func joined(changes clientv3.WatchChan, items int) (seen joinWatch) {
	var last time.Time
	revision, size, left := int64(0), 0, items
	for resp := range changes {
		for _, ev := range resp.Events {
			if ev.Kv.ModRevision != revision {
				revision, size = ev.Kv.ModRevision, 0
			}
			size += len(ev.Kv.Key) + len(ev.Kv.Value)
			seen.largest = max(seen.largest, size)
			path, found := strings.CutPrefix(string(ev.Kv.Key), common.FlowNodesPrefix)
			if !found || ev.Type != clientv3.EventTypePut {
				continue
			}
			mark, err := common.Decode[common.Node](ev.Kv.Value)
			_, name, _ := strings.Cut(path, "/")
			switch {
			case err != nil:
				return seen
			case mark.State == common.NodeEnded && strings.HasPrefix(name, "each@"):
				left--
				last = time.Now()
			case name == "last" && left == 0:
				seen.took = time.Since(last)
				return seen
			}
		}
	}
	return seen
}
