package scheduler

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/maintenance"
)

// Job is a job as the plan needs it.
type Job struct {
	Name     string
	UID      string
	Group    string
	Labels   maintenance.Labels
	Version  int64
	Cursor   time.Time
	Schedule schedule.Schedule
	Terms    *common.Terms // shared by jobs with equal terms
	Flow     *Flow         // nil for a job that is not a flow
	RunsAs   string        // of a daemon job: StoredJob.RunsAs; empty for others
}

// Flow is what a fire of a flow, or of a job that runs on several workers, needs: it begins a flow run, which has no
// process and uses no slots.
type Flow struct {
	Digest  string        // of the definition of the steps
	Timeout time.Duration // of a flow run; 0: none
	Needs   []string      // features of all workers that keep flow runs
	Nodes   int           // steps and constant items; of one with RunOn 0
	RunOn   *common.RunOn // of a job whose fires run on several workers; nil for one with steps
}

// Trigger is a fire outside the plan.
type Trigger struct {
	common.Trigger
	Revision int64   // ModRevision: a queued fire may be replaced by a later one under the same key
	Inline   *Inline // of an inline step of a flow, which is no job of the plan; nil for other triggers
}

// Inline is the definition of an inline step as a job.
type Inline struct {
	Job   common.StoredJob // must not be modified
	Terms *common.Terms
}

// Jobs is a set of changes of jobs. With Whole set, Put is the complete list, or its first part if More is set.
type Jobs struct {
	Whole bool
	More  bool
	Put   []Job
	Gone  []string
}

// Triggers is a set of changes of triggers. With Whole set, Put is the complete list.
type Triggers struct {
	Whole    bool
	Revision int64 // of etcd; the changes are complete up to it
	Put      []Trigger
	Gone     []TriggerKey
}

// TriggerKey identifies a trigger.
type TriggerKey struct{ Job, ID string }

// Fire is a due fire that this worker may act on by its rank. The receiver answers each one with exactly one Settled.
type Fire struct {
	Job     string
	UID     string
	Group   string
	Labels  maintenance.Labels
	Version int64
	Cursor  time.Time // of the plan
	At      time.Time // the planned time: the first fire after Cursor
	Due     time.Time // due time: planned time plus jitter, not before the end of a pause
	Since   time.Time // when it was found to be due; unchanged when it is sent again
	// Late is the end of an outage, if the fire was due long before it: no worker could claim the fires that were due
	// by then, and they were found together. Zero for other fires. Follows reports that it is not the first of them.
	Late    time.Time
	Follows bool
	Terms   *common.Terms
	// Schedule lets the receiver compute fires after At, where At is long past, and before it.
	Schedule schedule.Schedule
	Flow     *Flow    // nil for a job that is not a flow
	Trigger  *Trigger // nil for a fire of the plan
	// Window is the maintenance window within which a fire of the plan was planned; nil if there is none. A fire that
	// waited for its end is due then.
	Window *maintenance.Opening
	Action Action
	// Earlier are the next attempts of earlier fires of a job with the overlap policy queue, due or not, as of the etcd
	// revision Seen.
	Earlier []Attempt
	Seen    int64
	// Replicas are the pending replicas of a daemon job, if the fire is one of them and not bound to a worker.
	Replicas *Replicas
	RunsAs   string // of a replica: that of its job
	// PoolFull reports that the fire waits for slots of its pool, and PoolMissing that there is no such pool; otherwise
	// it may start since Admitted, if it has a pool.
	PoolFull, PoolMissing bool
	Admitted              time.Time
}

// FlowNeeds returns the features of the workers that advance the flow run which the fire begins: those of the
// definition with which it is tried or run again, if its trigger names them.
func (f *Fire) FlowNeeds() []string {
	switch {
	case f.Flow == nil:
		return nil
	case f.Trigger == nil:
		return f.Flow.Needs
	}
	return f.Trigger.FlowNeeds(f.Flow.Needs)
}

// Bounded reports whether the fire waits while the live flow runs have too many nodes. A step that is a flow does not:
// the flow run that waits for it would keep its nodes meanwhile.
func (f *Fire) Bounded() bool {
	return f.Flow != nil && f.Flow.RunOn == nil && (f.Trigger == nil || !f.Trigger.Nested())
}

// Key identifies a planned fire by its job, and another one by its trigger.
func (f *Fire) Key() string {
	if f.Trigger != nil {
		return f.Job + "/" + f.Trigger.ID
	}
	return f.Job
}

// Action is what a worker does with a due fire, by its rank.
type Action struct {
	HoldUntil time.Time // nothing until then, when it is ranked again; zero: act now
	// Maintained reports that it is held because a maintenance window is open: it keeps no slots of a pool for itself.
	Maintained bool
	Expire     bool          // no worker was eligible: record its outcome; otherwise claim it
	Read       bool          // only after a read that shows that it is unclaimed
	Reason     common.Reason // of the outcome; empty: it is late
	Nowhere    bool          // no worker is eligible
	Unable     bool          // this worker is not eligible
}

// Attempt is the trigger for a further attempt of a fire.
type Attempt struct {
	Trigger   string // its id
	NotBefore time.Time
}

// Settled is the result of a fire.
type Settled struct {
	Fire Fire
	// Cursor is the job's latest known cursor; zero: unchanged.
	Cursor time.Time
	// Version is the job's version in etcd; zero: that of the plan. A job with a newer version is not planned until
	// that version arrives.
	Version int64
	// Gone reports that the job or the trigger was deleted.
	Gone bool
	// RetryAt is when to send the fire again, if nothing was decided.
	RetryAt time.Time
	// Run is the id of the run if the fire is executed on this worker.
	Run string
}
