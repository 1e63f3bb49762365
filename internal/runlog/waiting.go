package runlog

import (
	"context"
	"time"

	"carillon/internal/common"
)

// PausedFires selects among waiting fires by whether they wait for the end of a pause of their job. Other fires match
// always.
type PausedFires string

const (
	ExcludePaused PausedFires = "exclude"
	OnlyPaused    PausedFires = "only"
)

func (p PausedFires) matches(f *common.Fire) bool {
	return p == "" || f.Status != common.StatusWaiting || ofPausedJob(f.Status, f.Reason) == (p == OnlyPaused)
}

// ofPausedJob reports whether a fire or run waits for the end of a pause of its job. It does not wait in the sense of
// lists and counts: it would not run if it could.
func ofPausedJob(status common.Status, reason *common.Reason) bool {
	return status == common.StatusWaiting && reason != nil && reason.Code == common.ReasonPaused
}

// WaitingFires counts the waiting fires of the ledger: those that are due or requested, and have not started. A gap
// entry counts all of its fires.
type WaitingFires struct {
	Waiting int64 // would run if they could
	Paused  int64 // wait for the end of a pause
}

// mostWaiting is more than there are.
const mostWaiting = 1 << 40

// Waiting counts the fires that Fires lists with the status waiting: Paused those with OnlyPaused, Waiting the others.
// It reads no stored runs.
func (v *View) Waiting(ctx context.Context, now time.Time) (count WaitingFires, err error) {
	q := FireQuery{Statuses: []common.Status{common.StatusWaiting}, Now: now, To: now.Add(1), Limit: mostWaiting}
	due, _, err := v.due(ctx, &q) // first, as in Fires
	if err != nil {
		return count, err
	}
	live, err := v.live.LiveRuns(ctx, &LiveQuery{Query: q.rows(nil, 1), Fires: true})
	if err != nil {
		return count, err
	}
	m := newMerge(&q, live.Runs)
	m.rest(m.lives(), true)
	m.rest(due, true)
	for _, f := range m.found {
		n := int64(1)
		if f.Gap != nil {
			n = f.Gap.Count
		}
		switch {
		case !q.Matches(&f):
		case ofPausedJob(f.Status, f.Reason):
			count.Paused += n
		default:
			count.Waiting += n
		}
	}
	return count, nil
}
