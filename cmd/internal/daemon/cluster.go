package daemon

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"carillon/internal/cluster/clock"
	"carillon/internal/cluster/continuity"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/platform/wallclock"
	"carillon/internal/scheduler/placement"
)

// cluster is a worker's view of the live members and their clocks.
type cluster struct {
	*clockVerdict
	conditions *health.Conditions // conditions of this worker
	origin     *continuity.Origin
	stopping   func() bool
	full       func() bool                             // whether the outboxes are full
	clocked    func(skew time.Duration, disagree bool) // receives the verdict on this worker's clock
	loop       *health.Loop                            // loop of follow
}

// clockVerdict is the verdict on this worker's clock, cached for a moment. It is safe for concurrent use.
type clockVerdict struct {
	members *members.Members
	guard   *members.Guard

	mu      sync.Mutex
	verdict clock.Verdict
	judged  time.Time // with a monotonic reading
	wall    time.Time // wall clock that was judged
	of      uint64    // generation of the members at that time
}

const (
	// judgeEvery is the validity of a verdict on the clock, unless the clock jumps or the members change.
	judgeEvery = 500 * time.Millisecond
	clockJump  = 100 * time.Millisecond
)

func (c *cluster) Members() ([]common.Member, uint64) {
	s := c.members.Snapshot()
	return s.Members, s.Generation
}

// Latest returns the latest time whose fires may be decided; the zero time if etcd was restored.
func (c *cluster) Latest(now time.Time) time.Time {
	if c.wentBack() != nil {
		return time.Time{}
	}
	return c.clock().Limit(now)
}

// wentBack returns why nothing may be claimed or resolved: this or another worker has noticed that etcd was
// restored from a backup.
func (c *cluster) wentBack() error {
	if err := c.origin.WentBack(); err != nil {
		return err
	}
	return noticed(c.members.Snapshot().Members)
}

// noticed returns the error of workers that report a restored etcd.
func noticed(members []common.Member) error {
	for i := range members {
		for _, c := range members[i].Conditions {
			if c.Code == common.ConditionEtcdWentBack {
				name := common.Excerpt(cmp.Or(members[i].Name, members[i].Worker))
				return continuity.RestoredError("worker " + name + " noticed it")
			}
		}
	}
	return nil
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

// Full reports whether the outboxes are full. It implements scheduler.Cluster.
func (c *cluster) Full() bool { return c.full() }

// clock returns the verdict on this worker's clock.
func (c *clockVerdict) clock() clock.Verdict {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall, since, generation := wallclock.Now(), time.Since(c.judged), c.members.Snapshot().Generation
	if c.judged.IsZero() || generation != c.of || since > judgeEvery || (wall.Sub(c.wall)-since).Abs() > clockJump {
		c.verdict, c.judged, c.wall, c.of = c.guard.Judge(), time.Now(), wall, generation
	}
	return c.verdict
}

// follow watches members and clocks. It calls rouse when the set of eligible workers may have changed, and
// announce when this worker's own eligibility changed; it notifies gone when a worker left or died.
func (c *cluster) follow(ctx context.Context, log *slog.Logger, rouse, announce func(), gone ...chan struct{}) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	earlier, before, ill := c.members.Snapshot(), "", false
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
		if able := abilities(now.Members, trouble); able != before {
			before = able
			rouse()
		}
		if (trouble != "") != ill {
			ill = !ill
			announce()
		}
		verdict := c.clock()
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

// Conditions reports a clock that differs from the cluster's, or that cannot be compared.
func (c *clockVerdict) Conditions() []common.Condition { return c.clock().Conditions(wallclock.Now()) }
