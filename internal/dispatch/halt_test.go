package dispatch

import (
	"testing"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
)

// A halted worker claims nothing more: neither retries of its runs nor due fires.
func TestHalt_ClaimsNothing(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		r.long("a")
		r.hand(r.fire("a"))
		r.d.Halt()
		r.d.Halt()
		virtualtime.Wait()
		r.runner.started()
		r.d.ask(r.d.runs.killAll)
		virtualtime.Wait()
		r.expectOutcomes("a lost 42 no grace")
		if next := r.finisher.batches[0][0].Next; next == nil || next.Attempt != 2 || r.finisher.batches[0][0].Unbegun {
			r.Fatalf("what follows: %+v", next)
		}
		r.d.ask(func() {
			expires := r.fire("b")
			expires.Action.Expire = true
			r.d.pending.put(item{fire: r.shot("a", "2")}, item{fire: expires})
		})
		virtualtime.Wait()
		r.expectBatches([]string{"a"})
	})
}

// A run whose claim was in flight is returned: its attempt is not used up.
func TestHalt_ReturnsRunsBeingClaimed(t *testing.T) {
	bubble(t, nil, func(r *rig) {
		gate := make(chan struct{})
		r.claimer.set(func(c *fakeClaimer) { c.hold = gate })
		shot := r.shot("b", "x")
		shot.Trigger.Worker, shot.Trigger.Avoid = "w", "v"
		r.hand(r.fire("a"))
		r.hand(shot)
		r.d.Halt()
		close(gate)
		virtualtime.Wait()
		r.expectBatches([]string{"a"})
		if told := r.told(); len(told) > 0 || r.unsure.Load() == 0 || r.running() != 0 ||
			r.metrics.count(common.StatusLost) > 0 {
			r.Fatalf("told %q, %d run", told, r.running())
		}
		back := r.finisher.batches[0][0]
		record := r.claimer.batches[0][0].Record
		next := back.Next
		if !back.Unbegun || back.Token != 42 || back.Created != 7 || next == nil || next.RunID() != record.Run ||
			next.Attempt != 1 ||
			next.Cause != record.Cause || !next.PlannedAt.Equal(record.PlannedAt) || next.ID == common.QueuedTrigger {
			r.Fatalf("given back: %+v, %+v", back, next)
		}
	})
}
