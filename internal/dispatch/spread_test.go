package dispatch

import (
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// spreadFire returns a fire that runs on several workers.
func (r *rig) spreadFire(job string, workers common.Fleet) scheduler.Fire {
	f := r.fire(job, func(t *common.Terms) {
		t.Spread, t.Slots, t.StartDeadline, t.Strategy = true, 2, time.Minute, common.StrategyAny
	})
	f.Flow = &scheduler.Flow{Digest: "d", RunOn: &common.RunOn{Workers: workers}}
	return f
}

func idsOf(s *common.Spread) (ids []string) {
	for _, w := range s.Workers {
		ids = append(ids, w.ID)
	}
	return ids
}

// fleet makes this worker one of several.
func (r *rig) fleet() {
	busy := func(m *common.Member) { m.Slots, m.Used = 4, 4 }
	r.cluster.alive(member("w"), member("b", busy), member("c", busy),
		member("d", func(m *common.Member) { m.Draining = true }),
		member("e", func(m *common.Member) { m.Slots = 1 })) // a run uses two
}

// The claim fixes the workers. Those whose slots are in use take part, and wait for a slot.
func TestClaim_RunOn_FixesTheEligibleWorkers(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.fleet()
		all, one := r.spreadFire("all", common.AllWorkers), r.spreadFire("one", 1)
		r.hand(all, one)
		for _, c := range r.claimer.claims() {
			head := c.Head
			if head.Kind != common.KindSpread || head.StartDeadline != time.Minute || head.Digest != "d" {
				t.Fatalf("head %+v", head)
			}
			ids := idsOf(head.Spread)
			switch c.Job {
			case "all":
				if !slices.Equal(ids, []string{"b", "c", "w"}) || head.Spread.Nodes != 3 {
					t.Errorf("all: %+v", head.Spread)
				}
			case "one":
				if !slices.Equal(ids, []string{"b", "c"}) || head.Spread.Nodes != 1 { // one is in reserve
					t.Errorf("one: %+v", head.Spread)
				}
			}
		}
	})
}

// A re-run repeats the workers that have failed, whichever are eligible now.
func TestClaim_RunOn_ReRun_KeepsItsWorkers(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.fleet()
		f := r.shot("again", "t", func(t *common.Terms) { t.Spread, t.Strategy = true, common.StrategyAny })
		f.Flow = &scheduler.Flow{Digest: "d", RunOn: &common.RunOn{Workers: common.AllWorkers}}
		f.Trigger.Digest = "d"
		f.Trigger.Keep = &common.Base{Run: "before", Items: map[string]common.Bits{"worker": {1}},
			Spread: &common.Spread{Nodes: 2, Workers: []common.SpreadWorker{{ID: "x"}, {ID: "y"}}}}
		r.hand(f)
		head := r.claimer.claims()[0].Head
		if !slices.Equal(idsOf(head.Spread), []string{"x", "y"}) || head.Base.Spread != nil ||
			len(head.Base.Items) != 1 {
			t.Errorf("head %+v, base %+v", head.Spread, head.Base)
		}
	})
}

func TestRetry_RunOn_StaysOnItsWorker(t *testing.T) {
	record := common.Record{Fire: "f", Attempt: 1, Flow: &common.FlowNode{Kind: common.KindSpread},
		Owner: common.Life{Worker: "w"}, Policy: common.Policy{OnLost: common.LostRerun}}
	job := common.StoredJob{Job: common.Job{Retry: &common.Retry{Max: 1}}}
	next := retryOf(&job, &record, &common.Run{Attempt: 1, Status: common.StatusFailed}, "w", time.Now())
	if next == nil || next.Worker != "w" || next.Avoid != "" {
		t.Errorf("retry: %+v", next)
	}
	if next := rerunOf(&record, time.Now()); next == nil || next.Worker != "w" || next.Avoid != "w" {
		t.Errorf("after a loss: %+v", next) // its keeper replaces the worker
	}
	record.Policy.OnLost = common.LostAbandon
	if next := rerunOf(&record, time.Now()); next != nil {
		t.Errorf("under all a lost run is repeated: %+v", next)
	}
}
