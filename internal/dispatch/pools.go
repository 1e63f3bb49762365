package dispatch

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// poolRetry is when a fire is tried again whose slots were taken by another worker, or were chosen from an old view.
const poolRetry = 50 * time.Millisecond

// pickSlots adds slots of the job's pool to a claim that starts a run. It returns false if there are none; then a fire
// that a run of its own job forbids is claimed nevertheless, to be skipped or queued.
func (d *Dispatcher) pickSlots(f *scheduler.Fire, claim *common.Claim) bool {
	if f.Terms.Pool == "" || claim.Head != nil || claim.Record.Run == "" {
		return true
	}
	claim.Pool = &common.PoolClaim{}
	hold, pool, ok := d.cfg.Pools.Pick(f.Terms.Pool, f.Terms.PoolSlots)
	if ok {
		*claim.Pool, claim.Record.Pool = pool, &hold
		return true
	}
	return f.Trigger == nil && f.Terms.Overlap.Forbids() && d.cfg.Pools.Holds(f.Terms.Pool, f.Job)
}
