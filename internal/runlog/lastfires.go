package runlog

import (
	"cmp"
	"slices"
	"time"

	"carillon/internal/common"
)

// LastFire is a fire whose last known attempt has ended.
type LastFire struct {
	ID      string
	Attempt int
	Status  common.Status
	At      time.Time // planned time
}

// LastFires summarizes the newest entries of a job's ledger. Skipped fires are left out of Last and Before: they show
// nothing about the job's work, and would hide that the run before them failed.
type LastFires struct {
	UID string
	// Last is the newest completed fire, and Before the one before it; zero if there is none.
	Last, Before LastFire
	// Newest is the planned time of the newest entry, skipped fires and current runs included.
	Newest time.Time
	// Ran reports whether any run of the job was started.
	Ran bool
	// recent are the newest completed and skipped fires, newest first. Add replaces the list, since copies share it.
	recent []recentFire
}

// recentFire is a fire in the planned time's nanoseconds, of which no two fires of a schedule have the same.
type recentFire struct {
	at      int64
	crowded bool // skipped by a run or a fire before it, or after it
}

// RecentFires is the number of fires of which Skipping is decided.
const RecentFires = common.RecentFires

// lately is the number of fires of which one was skipped.
const lately = 3

// Skipping reports whether the job often skips fires: 3 or more of its last 10 were skipped because an earlier run was
// unresolved or another fire waited, one of the last 3 among them.
func (r *LastFires) Skipping() bool {
	n := 0
	for i := range r.recent {
		if r.recent[i].crowded {
			n++
		}
	}
	return n >= common.OftenSkipped && r.SkippedLately()
}

// SkippedLately reports whether one of the last 3 fires was skipped in this way.
func (r *LastFires) SkippedLately() bool {
	return slices.ContainsFunc(r.recent[:min(lately, len(r.recent))], func(f recentFire) bool { return f.crowded })
}

// remember adds a completed or skipped fire to the newest ones.
func (r *LastFires) remember(at time.Time, crowded bool) {
	f := recentFire{at.UnixNano(), crowded}
	i, known := slices.BinarySearchFunc(r.recent, f, func(a, b recentFire) int { return cmp.Compare(b.at, a.at) })
	switch {
	case known && r.recent[i].crowded && !crowded: // it was run later
		r.recent = slices.Clone(r.recent)
		r.recent[i] = f
	case !known && i < RecentFires:
		r.recent = slices.Insert(slices.Clone(r.recent), i, f)
		r.recent = r.recent[:min(len(r.recent), RecentFires)]
	}
}

// Settled returns the newest completed fire of which no further attempt is pending or running; open is the fire of such
// an attempt. A job that recovers by a retry is judged by the retry.
func (r *LastFires) Settled(open func(fire string) bool) LastFire {
	if r.Last.ID != "" && open(r.Last.ID) {
		return r.Before
	}
	return r.Last
}

// Add adds a run, or a newer status of it, with the code of its reason. The order of calls does not matter.
func (r *LastFires) Add(uid, fire string, attempt int, status common.Status, reason string, at time.Time) {
	if r.UID != uid {
		if r.UID != "" && at.Before(r.Newest) { // an outcome of an earlier job of this name
			return
		}
		*r = LastFires{UID: uid}
	}
	if at.After(r.Newest) {
		r.Newest = at
	}
	r.Ran = r.Ran || Started(status)
	if !status.Terminal() {
		return
	}
	r.remember(at, status == common.StatusSkipped && common.GivesWay(reason))
	if status == common.StatusSkipped {
		return
	}
	f := LastFire{ID: fire, Attempt: attempt, Status: status, At: at}
	switch {
	case fire == r.Last.ID:
		if attempt >= r.Last.Attempt {
			r.Last = f
		}
	case f.after(&r.Last):
		r.Before, r.Last = r.Last, f
	case fire == r.Before.ID:
		if attempt >= r.Before.Attempt {
			r.Before = f
		}
	case f.after(&r.Before):
		r.Before = f
	}
}

// after reports whether a fire is newer than another one, in the order of the ledger.
func (f *LastFire) after(other *LastFire) bool {
	if c := f.At.Compare(other.At); c != 0 {
		return c > 0
	}
	return f.ID > other.ID
}

// Started reports whether a run with this status was claimed by a worker.
func Started(s common.Status) bool {
	switch s {
	case common.StatusWaiting, common.StatusSkipped, common.StatusMissed:
		return false
	}
	return true
}
