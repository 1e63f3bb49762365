package main

import (
	"context"
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/test/harness"
)

// flowWait measures what 10,000 flow runs cost that wait for an approval.
func flowWait(ctx context.Context, b *bench) error {
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
	const flows, each = 250, 40
	if err := together(ctx, flows, func(ctx context.Context, i int) error {
		return c.save(ctx, &common.Job{
			Name:    fmt.Sprintf("wait-%05d", i),
			Overlap: common.OverlapAllow,
			Steps: []common.Step{
				{Name: "ask", Approval: &common.Approval{Text: "Continue?"}},
				{Name: "then", Args: short(), After: []common.Edge{{Step: "ask"}}},
			},
		})
	}); err != nil {
		return err
	}
	type idle struct {
		entries int64
		cpu     time.Duration
		length  time.Duration
	}
	measure := func() (idle, error) {
		if err := harness.Sleep(ctx, 10*time.Second); err != nil { // what was requested before is written
			return idle{}, err
		}
		began, cpu := time.Now(), c.workers[0].Usage().CPU
		before, err := entriesOf(ctx, c, client)
		if err != nil {
			return idle{}, err
		}
		if err := harness.Sleep(ctx, b.length(40*time.Second)); err != nil {
			return idle{}, err
		}
		after, err := entriesOf(ctx, c, client)
		return idle{after.committed - before.committed - after.registrations + before.registrations,
			c.workers[0].Usage().CPU - cpu, time.Since(began)}, err
	}
	without, err := measure()
	if err != nil {
		return err
	}
	b.say("flow-wait: starting %d flow runs", flows*each)
	if err := together(ctx, flows*each, func(ctx context.Context, i int) error {
		_, err := c.trigger(ctx, fmt.Sprintf("wait-%05d", i%flows))
		return err
	}); err != nil {
		return err
	}
	if err := harness.Until(ctx, flowLimit, "all flow runs wait", func() bool {
		resp, err := client.Get(ctx, common.FlowWaitsPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
		return err == nil && resp.Count == flows*each
	}); err != nil {
		return err
	}
	with, err := measure()
	if err != nil {
		return err
	}
	share := 100 * (with.cpu - without.cpu).Seconds() / with.length.Seconds()
	b.sheet.add("flow-wait", fmt.Sprintf("%d flow runs that wait: Raft entries in %v", flows*each,
		with.length.Round(time.Second)), fmt.Sprintf("%d; without them %d", with.entries, without.entries),
		"no more", reached(with.entries <= without.entries+2))
	b.sheet.add("flow-wait", "processor time of the worker for them", fmt.Sprintf(
		"%.2f %% of a core (%v, without them %v); memory of the worker %s", share, with.cpu, without.cpu,
		mib(c.workers[0].Usage().RSS)), "< 1 % of a core", reached(share < 1))
	return nil
}
