package scheduler

import (
	"math/rand/v2"
	"sync"

	"carillon/internal/common"
)

// PoolSlot is a slot of a pool that is in use, or that was freed by a deletion at Revision.
type PoolSlot struct {
	Pool string
	common.PoolUse
}

// PoolChanges is a set of changes of pools and of the slots that are in use, complete up to Revision. With Whole set,
// Pools and Used are complete.
type PoolChanges struct {
	Whole    bool
	Revision int64
	Pools    []common.Pool
	Gone     []common.Pool // their names, and the revisions of the deletions
	Used     []PoolSlot
	Freed    []PoolSlot
}

// Pools is this worker's view of the pools and of the slots in use: what the watch has delivered, and the slots of this
// worker's claims that were granted since. It is safe for concurrent use.
type Pools struct {
	mu    sync.Mutex
	pools map[string]*poolView // guarded by mu
	seen  int64                // guarded by mu; the watch is complete up to this revision
}

// poolView is a pool and its slots in use. A pool that does not exist has no version; slots of it may be in use.
type poolView struct {
	slots    int
	version  int64
	awaited  int64 // a version of the pool that the watch has not delivered yet
	used     map[int]common.PoolUse
	reserved map[int]bool   // by claims in flight
	jobs     map[string]int // number of slots in use, by job
}

// NewPools returns a view without pools.
func NewPools() *Pools { return &Pools{pools: map[string]*poolView{}} }

// Apply applies changes, and returns the names of the pools that they concern.
func (p *Pools) Apply(u PoolChanges) (changed []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := map[string]bool{}
	if u.Whole {
		p.reset(u.Revision, names)
	}
	for i := range u.Pools {
		v := p.view(u.Pools[i].Name)
		names[u.Pools[i].Name] = true
		v.slots, v.version = u.Pools[i].Slots, u.Pools[i].Version
	}
	for i := range u.Gone {
		names[u.Gone[i].Name] = true
		if v := p.view(u.Gone[i].Name); v.version < u.Gone[i].Version {
			v.slots, v.version = 0, 0
		}
	}
	for _, s := range u.Used {
		names[s.Pool] = true
		p.view(s.Pool).take(s.PoolUse)
	}
	for _, s := range u.Freed {
		names[s.Pool] = true
		if v := p.view(s.Pool); v.used[s.Index].Revision < s.Revision {
			v.free(s.Index)
		}
	}
	p.seen = u.Revision
	for name, v := range p.pools {
		if v.version == 0 && len(v.used) == 0 && len(v.reserved) == 0 && v.awaited <= p.seen {
			delete(p.pools, name)
		}
	}
	for name := range names {
		changed = append(changed, name)
	}
	return changed
}

// reset drops what a complete list as of a revision replaces: slots that were taken since are kept.
func (p *Pools) reset(revision int64, names map[string]bool) {
	for name, v := range p.pools {
		names[name] = true
		v.slots, v.version, v.awaited = 0, 0, 0
		for index, use := range v.used {
			if use.Revision <= revision || revision < p.seen { // etcd may have been restored from a backup
				v.free(index)
			}
		}
	}
}

func (p *Pools) view(name string) *poolView {
	v := p.pools[name]
	if v == nil {
		v = &poolView{used: map[int]common.PoolUse{}, reserved: map[int]bool{}, jobs: map[string]int{}}
		p.pools[name] = v
	}
	return v
}

// take notes that a slot is in use, unless a later use is known.
func (v *poolView) take(use common.PoolUse) {
	if before, known := v.used[use.Index]; known {
		if before.Revision >= use.Revision {
			return
		}
		v.free(use.Index)
	}
	v.used[use.Index] = use
	v.jobs[use.Job]++
}

func (v *poolView) free(index int) {
	use, known := v.used[index]
	if !known {
		return
	}
	delete(v.used, index)
	if v.jobs[use.Job]--; v.jobs[use.Job] == 0 {
		delete(v.jobs, use.Job)
	}
}

// Pick chooses n free slots of a pool for a claim, and reserves them until Release. ok is false if there are not as
// many, or the pool does not exist. It starts at a random one, so that workers seldom choose the same.
func (p *Pools) Pick(pool string, n int) (hold common.PoolHold, claim common.PoolClaim, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.pools[pool]
	if v == nil || v.version == 0 || v.version < v.awaited || len(v.used)+len(v.reserved)+n > v.slots {
		return hold, claim, false
	}
	claim.Version = v.version
	for index := range v.used {
		if index >= v.slots { // slots was lowered
			claim.Seen = p.seen
		}
	}
	hold.Pool = pool
	start := rand.IntN(v.slots)
	for i := 0; i < v.slots && len(hold.Indexes) < n; i++ {
		index := (start + i) % v.slots
		if _, used := v.used[index]; !used && !v.reserved[index] {
			hold.Indexes = append(hold.Indexes, index)
		}
	}
	if len(hold.Indexes) < n { // a reservation beyond slots
		return common.PoolHold{}, claim, false
	}
	for _, index := range hold.Indexes {
		v.reserved[index] = true
	}
	return hold, claim, true
}

// Release ends the reservation of a claim. If the claim was granted at a revision, the slots are in use.
func (p *Pools) Release(hold *common.PoolHold, slot common.PoolSlot, granted int64) {
	if hold == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.view(hold.Pool)
	for _, index := range hold.Indexes {
		delete(v.reserved, index)
		if granted != 0 {
			v.take(common.PoolUse{PoolSlot: slot, Index: index, Revision: granted})
		}
	}
}

// Learn takes what a refused claim has read: slots in use, and the version of the pool, which the watch may not have
// delivered yet.
func (p *Pools) Learn(pool string, used []common.PoolUse, version int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.view(pool)
	for _, use := range used {
		if use.Revision > p.seen { // otherwise the watch knows better
			v.take(use)
		}
	}
	if version > p.seen {
		v.awaited = max(v.awaited, version)
	}
}

// Holds reports whether a run of a job has a slot of a pool.
func (p *Pools) Holds(pool, job string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.pools[pool]
	return v != nil && v.jobs[job] > 0
}

// room returns the number of free slots, at most 0 if there is none; exists is false if there is no such pool.
func (p *Pools) room(pool string) (free int, exists bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.pools[pool]
	if v == nil || v.version == 0 {
		return 0, false
	}
	return v.slots - len(v.used), true
}
