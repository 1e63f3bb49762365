package worker

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/maintenance"
	"carillon/internal/platform/wallclock"
	"carillon/internal/scheduler"
	"carillon/internal/scheduler/placement"
)

// cluster is a worker's view of the live members and their clocks.
type cluster struct {
	members    *members.Members
	life       common.Life
	windows    func() *maintenance.Set
	guard      *members.Guard
	conditions *health.Conditions // conditions of this worker
	wentBack   func() error       // why nothing may be claimed or resolved
	stopping   func() bool
	full       func() bool                             // whether the outboxes are full
	load       *scheduler.FlowLoad                     // the nodes of live flow runs
	clocked    func(skew time.Duration, disagree bool) // receives the verdict on this worker's clock
	loop       *health.Loop                            // loop of follow
}

func (c *cluster) Members() ([]common.Member, uint64) {
	s := c.members.Snapshot()
	return s.Members, s.Generation
}

// Latest returns the latest time whose fires may be decided; the zero time if etcd was restored.
func (c *cluster) Latest(now time.Time) time.Time {
	if c.wentBack() != nil {
		return time.Time{}
	}
	return c.guard.Recent().Limit(now)
}

// claimGate prevents claims in a restored etcd.
type claimGate struct{ w *Worker }

func (g claimGate) Check() error        { return g.w.cluster.wentBack() }
func (g claimGate) Registered() int64   { return g.w.keeper.Registered() }
func (g claimGate) WentBack(why string) { g.w.cfg.Origin.Lineage.WentBack(why) }

func (c *cluster) Trouble() string {
	if c.stopping() {
		return "the worker is stopping"
	}
	if err := c.wentBack(); err != nil {
		return err.Error()
	}
	return c.conditions.Trouble()
}

// Windows returns the maintenance windows.
func (c *cluster) Windows() *maintenance.Set { return c.windows() }

// drained reports whether a maintenance window drains this worker.
func (c *cluster) drained() bool {
	_, open := c.windows().Drains(c.life, wallclock.Now())
	return open
}

// FlowsFull reports whether a flow run has to wait. It implements scheduler.Cluster.
func (c *cluster) FlowsFull(nodes int) bool { return c.load.Full(nodes, wallclock.Now()) }

// Full reports whether the outboxes are full. It implements scheduler.Cluster.
func (c *cluster) Full() bool { return c.full() }

// follow watches members and clocks. It calls rouse when the set of eligible workers may have changed, and
// announce when this worker's own eligibility changed; it notifies gone when a worker left or died.
func (c *cluster) follow(ctx context.Context, log *slog.Logger, rouse, announce func(), gone ...chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	earlier, before, ill := c.members.Snapshot(), "", false
	windows, drained := c.windows(), false
	for {
		changed := c.members.Changed()
		now := c.members.Snapshot()
		for _, who := range now.Gone(earlier) {
			if who.Draining {
				log.Info("worker_left", "worker", who.Worker, "name", who.Name)
			} else {
				log.Warn("worker_gone", "worker", who.Worker, "name", who.Name)
			}
			for _, ch := range gone {
				select {
				case ch <- struct{}{}:
				default: // a notification is pending
				}
			}
		}
		earlier = now
		trouble := c.Trouble()
		if able := abilities(now.Members, trouble); able != before || c.windows() != windows {
			before, windows = able, c.windows()
			rouse()
		}
		if isIll, isDrained := trouble != "", c.drained(); isIll != ill || isDrained != drained {
			ill, drained = isIll, isDrained
			announce()
		}
		verdict := c.guard.Recent()
		c.clocked(verdict.Skew, verdict.Disagree)
		c.loop.Alive()
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case <-tick.C:
		}
	}
}

// abilities returns a text that changes whenever the eligibility of any worker may change.
func abilities(members []common.Member, trouble string) string {
	var text strings.Builder
	text.WriteString(trouble)
	for _, c := range placement.Candidates(members) {
		fmt.Fprintf(&text, "\n%s %v %d %d %t %s %v", c.ID, c.Labels, c.Slots, c.Weight, c.Draining, c.Trouble,
			c.Features)
	}
	return text.String()
}
