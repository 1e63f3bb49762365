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
	Jitter        time.Duration
	Paused        bool
	PausedUntil   int64 // Unix nanoseconds; 0: until it is resumed
	Strategy      Strategy
	Selector      string
	Workers       string // names or ids, separated by commas
	Needs         string // features that a worker must have, separated by commas; see StoredJob.MustHave
	Priority      int
	Slots         int
}

// Terms returns the job's terms.
func (j *Job) Terms() Terms {
	t := Terms{
		Policy: Policy{Overlap: or(j.Overlap, OverlapSkip), KillGrace: j.KillGrace.Or(DefaultKillGrace),
			LostAfter: j.LostAfter.Or(DefaultLostAfter), OnLost: or(j.OnLost, LostRerun)},
		StartDeadline: j.StartDeadline.Or(DefaultStartDeadline),
		CatchUp:       CatchUpLatest, Window: DefaultWindow, Max: DefaultCatchUpMax,
		Jitter: j.Jitter.Or(0), Paused: j.Paused, Strategy: StrategyHash,
		Priority: or(j.Priority, DefaultPriority), Slots: or(j.Slots, DefaultSlots),
	}
	if j.Paused && j.PauseUntil != nil {
		t.PausedUntil = j.PauseUntil.UnixNano()
	}
	if c := j.CatchUp; c != nil {
		t.CatchUp, t.Window, t.Max = or(c.Policy, CatchUpLatest), c.Window.Or(DefaultWindow),
			or(c.Max, DefaultCatchUpMax)
	}
	if p := j.Placement; p != nil {
		t.Strategy, t.Selector, t.Workers = or(p.Strategy, StrategyHash), p.Selector, strings.Join(p.Workers, ",")
	}
	return t
}

// Delay returns the jitter of a fire: how much later than planned it is due. It is the same in every process.
func (t *Terms) Delay(uid string, at time.Time) time.Duration {
	if t.Jitter <= 0 {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(PlannedFire(uid, at))) // a hash never fails
	return time.Duration(h.Sum64() % uint64(t.Jitter))
}

func or[T comparable](v, otherwise T) T {
	var none T
	if v == none {
		return otherwise
	}
	return v
}
