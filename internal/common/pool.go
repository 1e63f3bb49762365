package common

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Bounds of pools.
const (
	MaxPools     = 1000
	MaxPoolSlots = 1000 // of a pool
	// MaxRunPoolSlots bounds the slots that one run takes: each is a key in the transaction of its claim.
	MaxRunPoolSlots = 64

	// DefaultPoolSlots is how many slots a run of a job with a pool takes.
	DefaultPoolSlots = 1
)

// Pool is the value of /cron/pools/<name>: a limit on runs across jobs.
type Pool struct {
	Name      string    `json:"name"`
	Group     string    `json:"group,omitempty"`
	Slots     int       `json:"slots"`
	CreatedAt time.Time `json:"createdAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	UpdatedBy string    `json:"updatedBy,omitempty"`

	Version int64 `json:"-"` // ModRevision of the key
}

// PoolDefinition is a pool as an operator defines it.
type PoolDefinition struct {
	Slots int    `json:"slots" minimum:"1" maximum:"1000" doc:"Number of slots: each run of a job that uses the pool takes one, or as many as the job's poolSlots."`
	Group string `json:"group,omitempty" pattern:"^([a-z0-9]([a-z0-9._/-]{0,126}[a-z0-9])?)?$" doc:"The group that the pool belongs to: its operators may change it. Jobs of all groups may use the pool."`
}

// Faults returns what is wrong with the definition.
func (d *PoolDefinition) Faults() Faults {
	c := &checker{}
	if d.Slots < 1 || d.Slots > MaxPoolSlots {
		c.add("slots", "range", d.Slots, "must be from %d to %d", 1, MaxPoolSlots).
			With("least", 1, "most", MaxPoolSlots)
	}
	c.group("group", d.Group)
	return c.faults
}

// PoolSlot is the value of /cron/pool/<name>/<index>: the run that has the slot. The key exists as long as the record
// of the run: the transaction that writes or deletes the record does the same with the key.
type PoolSlot struct {
	Job string `json:"job"`
	Run string `json:"run"`
}

// PoolHold names the slots of a pool that a run has.
type PoolHold struct {
	Pool    string `json:"pool"`
	Indexes []int  `json:"indexes"`
}

// Keys returns the keys of the slots; none for a run without a pool.
func (h *PoolHold) Keys() (keys []string) {
	if h == nil {
		return nil
	}
	for _, index := range h.Indexes {
		keys = append(keys, PoolSlotKey(h.Pool, index))
	}
	return keys
}

// PoolClaim is what a claim of a job with a pool compares, in addition to the absence of the slots that its record
// names. If that names none, the fire can only be skipped or queued because of a run of its own job.
type PoolClaim struct {
	Version int64 // of the pool
	Seen    int64 // unless 0: no slot of the pool was taken after this revision
}

// PoolUse is a slot in use.
type PoolUse struct {
	PoolSlot
	Index    int
	Revision int64 // of its key
}

// PoolKey holds a pool.
func PoolKey(name string) string { return PoolsPrefix + name }

// PoolUsersKey is changed by each save that makes a job use a pool, so that a pool that is deleted at the same time is
// not in use.
func PoolUsersKey(name string) string { return PoolUsersPrefix + name }

// PoolSlotsOf returns the prefix of the slots of a pool that are in use.
func PoolSlotsOf(name string) string { return PoolSlotsPrefix + name + "/" }

// PoolSlotKey means that a slot of a pool is in use.
func PoolSlotKey(name string, index int) string {
	return fmt.Sprintf("%s%03d", PoolSlotsOf(name), index)
}

// ParsePoolSlotKey returns the pool and the index of such a key.
func ParsePoolSlotKey(key string) (pool string, index int, ok bool) {
	rest, found := strings.CutPrefix(key, PoolSlotsPrefix)
	pool, digits, cut := strings.Cut(rest, "/")
	index, err := strconv.Atoi(digits)
	return pool, index, found && cut && err == nil && index >= 0 && ValidName(pool) && PoolSlotKey(pool, index) == key
}

// PoolSlotsOfRun returns how many slots of its pool a run of the job takes; 0 without a pool.
func (j *Job) PoolSlotsOfRun() int {
	if j.Pool == "" {
		return 0
	}
	return or(j.PoolSlots, DefaultPoolSlots)
}

// poolFaults checks the pool of the job, and the fields that it cannot be used with.
func (j *Job) poolFaults(c *checker) {
	if j.Pool == "" {
		if j.PoolSlots != 0 {
			c.add("poolSlots", "exclusive", nil, "has no meaning without a pool").With("without", "pool")
		}
		return
	}
	c.name("pool", j.Pool)
	c.number("poolSlots", j.PoolSlots, 1, MaxRunPoolSlots)
	for _, beside := range []struct {
		field string
		given bool
	}{{"daemon", j.Daemon != nil}, {"runOn", j.RunOn != nil}} {
		if beside.given {
			c.add("pool", "exclusive", nil, "cannot be used with %s", beside.field).With("beside", beside.field)
		}
	}
}

// PoolWaiter is a fire that waits for slots of a pool.
type PoolWaiter struct {
	Job      string
	Group    string
	Run      string    // empty: a fire of the schedule
	At       time.Time // the planned time
	Due      time.Time // since when it waits
	Priority int
	Slots    int

	Waits    bool // the slots that are free are not enough for it and those before it
	Position int  // in the queue of the waiting fires, from 1; 0: it is about to start
}

// ComparePoolWaiters is the order of the queue of a pool: by priority, highest first, by time, and by name.
func ComparePoolWaiters(priorityA, priorityB int, dueA, dueB int64, nameA, nameB string) int {
	return cmp.Or(cmp.Compare(priorityB, priorityA), cmp.Compare(dueA, dueB), cmp.Compare(nameA, nameB))
}

// PoolState is a pool with its usage.
type PoolState struct {
	Pool
	Used    []PoolUse
	Waiting []PoolWaiter
}

// Sort sorts the fires by priority and then by time, as all workers do, and finds out which of them wait.
func (p *PoolState) Sort() {
	slices.SortFunc(p.Waiting, func(a, b PoolWaiter) int {
		return ComparePoolWaiters(a.Priority, b.Priority, a.Due.UnixNano(), b.Due.UnixNano(), a.Job+"/"+a.Run,
			b.Job+"/"+b.Run)
	})
	taken, position := len(p.Used), 0
	for i := range p.Waiting {
		w := &p.Waiting[i]
		taken += w.Slots
		if w.Waits = taken > p.Slots; w.Waits {
			position++
			w.Position = position
		}
	}
}

// Waits returns the number of fires that wait.
func (p *PoolState) Waits() (n int) {
	for i := range p.Waiting {
		if p.Waiting[i].Waits {
			n++
		}
	}
	return n
}

// PoolFull returns the reason of a fire that waits for slots of a pool; position 0: unknown.
func PoolFull(pool string, position int) Reason {
	r := Reason{Code: ReasonPoolFull, Data: map[string]string{"pool": pool}}
	r.Text = fmt.Sprintf("pool %q has no free slot", pool)
	if position > 0 {
		r.Data["position"] = strconv.Itoa(position)
		r.Text += fmt.Sprintf(": position %d in the queue", position)
	}
	return r
}

// PoolMissing returns the reason of a fire whose pool does not exist.
func PoolMissing(pool string) Reason {
	return Reason{Code: ReasonPoolMissing, Data: map[string]string{"pool": pool},
		Text: fmt.Sprintf("pool %q does not exist", pool)}
}
