package runlog

import (
	"context"
	"slices"

	"carillon/internal/common"
)

// Live knows the runs that etcd still has: waiting triggers, unresolved records,
// and outcomes in the outboxes.
type Live interface {
	// LiveRuns returns all that wait or run, and of the outcomes at least those that q wants.
	LiveRuns(ctx context.Context, q *LiveQuery) (Lives, error)
	// LiveRun finds one of them.
	LiveRun(ctx context.Context, id string) (run common.Run, found bool, err error)
	// LateEnds gives the late ends in the outboxes.
	LateEnds(ctx context.Context) ([]common.LateEnd, error)
}

// LiveQuery says which of the outcomes in the outboxes a list wants: the first q.Limit that
// match, and, of all of these, where the list begins.
type LiveQuery struct {
	Query
	// Fires: the limit and the statuses are those of fires, as their last attempts in the outboxes
	// show them, and Before names a fire. All attempts of these fires that are there are wanted.
	Fires bool
	// Jobs: in place of all this, the Each newest of each of them.
	Jobs []string
	Each int
}

// Lives are runs that etcd still has.
type Lives struct {
	Runs []common.Run
	// Edge is the last place up to which outcomes were looked at; nil: all were.
	Edge *Position
	// Narrowed: outcomes that the list does not want may be left out.
	Narrowed bool
	// Partial: outcomes that it wants may be missing.
	Partial bool
}

// View is the history as users see it: what is live and what is stored, merged, so
// that a run that was accepted is always found, and listed once. It looks at what
// is live first: a run moves from there into the store, never back, so what left
// between the two looks is found by the second.
type View struct {
	live  Live
	plan  Plan
	store Reader
}

// NewView merges them.
func NewView(live Live, plan Plan, store Reader) *View {
	return &View{live: live, plan: plan, store: store}
}

// Run finds a run by its id.
func (v *View) Run(ctx context.Context, id string) (common.Run, error) {
	live, found, err := v.live.LiveRun(ctx, id)
	if err != nil {
		return common.Run{}, err
	}
	if !found {
		if live, err = v.store.Run(ctx, id); err != nil {
			return common.Run{}, err
		}
	}
	runs := []common.Run{live}
	err = v.orphans(ctx, runs)
	return runs[0], err
}

// orphans puts the late ends that the store does not have yet beside the runs that were
// lost. One that is on its way between the two looks is seen by the next who asks.
func (v *View) orphans(ctx context.Context, runs []common.Run) error {
	mayHave := func(r common.Run) bool { return r.Status == common.StatusLost && r.Orphaned == nil }
	if !slices.ContainsFunc(runs, mayHave) {
		return nil
	}
	late, err := v.live.LateEnds(ctx)
	if err != nil {
		return err
	}
	for i := range late {
		for j := range runs {
			if runs[j].ID == late[i].Run && mayHave(runs[j]) {
				runs[j].Orphaned = &late[i]
			}
		}
	}
	return nil
}

// RunPage is a page of runs.
type RunPage struct {
	Runs []common.Run
	// Until is where the list goes on although it has fewer than were asked for; else nil.
	Until   *Position
	Partial bool // the store is away: there is only what is live; or not all of that is known
}

// Runs lists the newest first, or the oldest. While the store is away it lists what is live.
func (v *View) Runs(ctx context.Context, q Query) (RunPage, error) {
	live, err := v.live.LiveRuns(ctx, &LiveQuery{Query: q})
	if err != nil {
		return RunPage{}, err
	}
	stored, err := v.store.Runs(ctx, q)
	partial := isAway(ctx, err)
	if err != nil && !partial {
		return RunPage{}, err
	}
	if stored.Until == nil || live.Edge != nil && q.Compare(*live.Edge, *stored.Until) < 0 {
		stored.Until = live.Edge
	}
	page := RunPage{Until: stored.Until, Partial: partial || live.Partial}
	page.Runs = mergeRuns(live.Runs, stored, &q)
	if q.Limit > 0 && len(page.Runs) >= q.Limit {
		page.Until = nil // the next page begins after the last of these
	}
	return page, v.orphans(ctx, page.Runs)
}

// isAway tells whether an error is that the store does not answer, rather than that the
// caller does not wait for it any more.
func isAway(ctx context.Context, err error) bool {
	return common.CodeOf(err) == common.CodeUnavailable && ctx.Err() == nil
}

// mergeRuns puts both together: an id that is in both is shown as stored, since what
// is stored is its outcome. What is beyond the place up to which both were looked at is left out.
func mergeRuns(live []common.Run, found Found, q *Query) []common.Run {
	beyond := func(r *common.Run) bool { return found.Until != nil && q.Compare(*found.Until, PositionOf(r)) < 0 }
	stored := slices.DeleteFunc(found.Runs, func(r common.Run) bool { return beyond(&r) })
	seen := make(map[string]bool, len(stored))
	for i := range stored {
		seen[stored[i].ID] = true
	}
	for i := range live {
		if !beyond(&live[i]) && q.Matches(&live[i]) && !seen[live[i].ID] {
			stored = append(stored, live[i])
			seen[live[i].ID] = true
		}
	}
	slices.SortFunc(stored, q.CompareRuns)
	if q.Limit > 0 && len(stored) > q.Limit {
		stored = stored[:q.Limit]
	}
	return stored
}

// Output gives the chunks of a run that end after offset.
func (v *View) Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error) {
	return v.store.Output(ctx, run, offset, limit)
}
