package common

import (
	"hash/fnv"
	"strings"
	"time"
)

// Policy is what a claim writes into the record, so that the owner of the run and its successors use the same values
// whatever is saved later.
type Policy struct {
	Overlap   Overlap       `json:"overlap"`
	KillGrace time.Duration `json:"killGrace"`
	LostAfter time.Duration `json:"lostAfter"`
	OnLost    OnLost        `json:"onLost,omitempty"`
	Daemon    DaemonPolicy  `json:"daemon,omitzero"`
}

// maxFenceGrace bounds the time between TERM and KILL for a run that the fence ends.
const maxFenceGrace = 5 * time.Second

// FenceGrace returns the time between TERM and KILL for a run that the fence ends. It is limited by the fence: KILL
// must come before another worker may resolve the run. ttl is that of the lease that the lock is under.
func (p *Policy) FenceGrace(ttl time.Duration) time.Duration {
	return max(0, min(p.KillGrace, maxFenceGrace, (p.LostAfter-ttl)/2))
}

// Terms are the properties of a job that decide when and where its fires run, with defaults filled in. They are
// comparable, so that jobs with equal terms share them.
type Terms struct {
	Policy
	StartDeadline time.Duration
	CatchUp       CatchUpPolicy
	Window        time.Duration
	Max           int
	Jitter        time.Duration // of several schedules, the longest one; see schedule.Schedule.Delay
	Paused        bool
	PausedUntil   int64 // Unix nanoseconds; 0: until it is resumed
	Strategy      Strategy
	Selector      string
	Workers       string // names or ids, separated by commas
	Needs         string // features that a worker must have, separated by commas; see StoredJob.MustHave
	Priority      int
	Slots         int
	Spread        bool // a fire runs on several workers: to claim it takes no slot
	Pool          string
	PoolSlots     int // of the pool, that a run takes; 0 without a pool
}

// Terms returns the job's terms.
func (j *Job) Terms() Terms {
	t := Terms{
		Policy: Policy{Overlap: or(j.Overlap, OverlapSkip), KillGrace: j.KillGrace.Or(DefaultKillGrace),
			LostAfter: j.LostAfter.Or(DefaultLostAfter), OnLost: or(j.OnLost, LostRerun),
			Daemon: j.Daemon.policy()},
		StartDeadline: j.StartDeadline.Or(DefaultStartDeadline),
		CatchUp:       CatchUpLatest, Window: DefaultWindow, Max: DefaultCatchUpMax,
		Jitter: j.MostJitter(), Paused: j.Paused, Strategy: StrategyHash,
		Priority: or(j.Priority, DefaultPriority), Slots: or(j.Slots, DefaultSlots),
		Spread: j.RunOn != nil, Pool: j.Pool, PoolSlots: j.PoolSlotsOfRun(),
	}
	if t.Daemon.IsDaemon() { // its replicas run at the same time, each at most once
		t.Overlap = OverlapAllow
	}
	if j.Paused && j.PauseUntil != nil {
		t.PausedUntil = j.PauseUntil.UnixNano()
	}
	if c := j.CatchUp; c != nil {
		t.CatchUp, t.Window, t.Max = or(c.Policy, CatchUpLatest), c.Window.Or(DefaultWindow),
			or(c.Max, DefaultCatchUpMax)
	}
	if p := j.Placement; p != nil {
		t.Strategy, t.Selector, t.Workers = or(p.Strategy, StrategyHash), strings.TrimSpace(p.Selector),
			strings.Join(p.Workers, ",")
	}
	return t
}

// MostJitter returns the longest jitter of the job's schedules.
func (j *Job) MostJitter() (most time.Duration) {
	j.EachSchedule(func(_ string, _ int, s *JobSchedule) { most = max(most, s.Jitter.Or(0)) })
	return most
}

// Delay returns the jitter of a fire, at most so long: how much later than planned it is due. It is the same in every
// process.
func Delay(most time.Duration, uid string, at time.Time) time.Duration {
	if most <= 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(PlannedFire(uid, at))) // a hash never fails
	return time.Duration(h.Sum64() % uint64(most))
}

func or[T comparable](v, otherwise T) T {
	var none T
	if v == none {
		return otherwise
	}
	return v
}
