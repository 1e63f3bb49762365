package scheduler

import (
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

// Job is what the plan needs to know of a job.
type Job struct {
	Name     string
	UID      string
	Group    string
	Version  int64
	Cursor   time.Time
	Schedule schedule.Schedule
	Terms    *common.Terms // shared by the jobs that have the same
}

// Trigger is a fire outside the plan.
type Trigger struct {
	common.Trigger
	Revision int64 // ModRevision: a fire that waits may be replaced by a later one
}

// Jobs is news of jobs. With Whole set, Put is all there are, or the first of them,
// where More says that others follow.
type Jobs struct {
	Whole bool
	More  bool
	Put   []Job
	Gone  []string
}

// Triggers is news of triggers. With Whole set, Put is all there are.
type Triggers struct {
	Whole    bool
	Revision int64 // of etcd, up to which this is all news
	Put      []Trigger
	Gone     []TriggerKey
}

// TriggerKey names a trigger.
type TriggerKey struct{ Job, ID string }

// Fire is handed out when it is due. The receiver answers each with one Settled.
type Fire struct {
	Job     string
	UID     string
	Group   string
	Version int64
	Cursor  time.Time // of the plan
	At      time.Time // the planned time: the first fire after Cursor
	Due     time.Time // when it may start: with its jitter, after its pause
	Since   time.Time // when it was found to be due; the same when it is handed out again
	Terms   *common.Terms
	// Schedule lets the receiver look beyond At, where At is long past.
	Schedule schedule.Schedule
	Trigger  *Trigger // nil for a fire of the plan
	// Earlier are the next attempts of earlier fires of a job that queues its fires, due or not, as known at the
	// revision Seen of etcd.
	Earlier []Attempt
	Seen    int64
}

// Attempt is a next attempt of a fire.
type Attempt struct {
	Trigger   string // its id
	NotBefore time.Time
}

// Settled is what became of a fire.
type Settled struct {
	Fire Fire
	// Cursor is the job's cursor as far as known now; zero leaves it.
	Cursor time.Time
	// Version is the job's version as seen in etcd; zero where it is the plan's. A
	// job that is newer than its plan waits for the news of it.
	Version int64
	// Gone says that the job, or the trigger, is no more.
	Gone bool
	// RetryAt is when to try again, where nothing was decided.
	RetryAt time.Time
	// Run is set where the fire is being executed here.
	Run string
}
