package runlog

import (
	"context"
	"slices"

	"carillon/internal/common"
)

// Live reads the runs that etcd holds: pending triggers, unresolved records, and outcomes in the outboxes.
type Live interface {
	// LiveRuns returns all pending and active runs, and of the outcomes at least those that q wants.
	LiveRuns(ctx context.Context, q *LiveQuery) (Lives, error)
	// LiveRun returns one of them.
	LiveRun(ctx context.Context, id string) (run common.Run, found bool, err error)
	// LateEnds returns the late ends in the outboxes.
	LateEnds(ctx context.Context) ([]common.LateEnd, error)
}

// LiveQuery selects the outcomes in the outboxes that a list wants: the first q.Limit that match, and, of all
// of these, where the list begins.
type LiveQuery struct {
	Query
	// Fires: the limit and the statuses are those of fires, as their last attempts in the outboxes show them,
	// and Before names a fire. All attempts of these fires are wanted.
	Fires bool
	// Jobs: instead of all this, the Each newest of each of them.
	Jobs []string
	Each int
}

// Lives are runs that etcd holds.
type Lives struct {
	Runs []common.Run
	// Edge is the last position up to which outcomes were read; nil: all were.
	Edge *Position
	// Narrowed: outcomes that the list does not want may be left out.
	Narrowed bool
	// Partial: outcomes that it wants may be missing.
	Partial bool
}

// View is the history as users see it: live and stored runs, merged, so that a run that was accepted is
// always found, and listed once. It reads live runs first: a run moves from there into the store, never back,
// so a run that moved between the two reads is found by the second.
type View struct {
	live  Live
	plan  Plan
	store Reader
}

// NewView merges live, planned and stored runs.
func NewView(live Live, plan Plan, store Reader) *View {
	return &View{live: live, plan: plan, store: store}
}

// Run returns a run by its id.
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

// orphans adds late ends that the store does not have yet to lost runs. One that moves between the two reads
// appears in the next request.
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
	// Until is where the list continues although it has fewer than the limit; otherwise nil.
	Until   *Position
	Partial bool // the store is unavailable: only live runs are listed; or not all of those are known
}

// Runs lists the newest first, or the oldest. While the store is unavailable it lists live runs.
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

// isAway reports whether an error means that the store does not answer, as opposed to a caller that has left.
func isAway(ctx context.Context, err error) bool {
	return common.CodeOf(err) == common.CodeUnavailable && ctx.Err() == nil
}

// mergeRuns merges both: an id that is in both is shown as stored, since the stored run is the outcome. Runs
// beyond the position up to which both were read are left out.
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

// Output returns the chunks of a run that end after offset.
func (v *View) Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error) {
	return v.store.Output(ctx, run, offset, limit)
}
