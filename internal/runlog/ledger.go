package runlog

import (
	"context"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// Plan returns the unclaimed fires. Each method returns the newest that the query wants, at least one more
// than its limit if there are so many, in no order; whole is false if there may be older ones.
type Plan interface {
	// Due returns those after the cursors, up to q.Now.
	Due(ctx context.Context, q *FireQuery) (fires []common.Fire, whole bool, err error)
	// Planned returns those after q.Now.
	Planned(ctx context.Context, q *FireQuery) (fires []common.Fire, whole bool, err error)
}

// FireQuery filters the ledger. Zero fields do not filter, except To, Now and Limit, which are required.
type FireQuery struct {
	Job      string
	Group    string
	FlowRun  string          // the fires of its nodes, which are listed only so, or by their job
	Step     string          // of the flow run
	Cause    common.Cause    // of the first attempt; CauseFlow also lists the fires of nodes
	Statuses []common.Status // of the fire, which is that of its last attempt
	Paused   PausedFires     // which of the waiting fires
	From, To time.Time       // PlannedAt: From inclusive, To exclusive
	// Unacknowledged leaves out acknowledged failures; only Ledger knows them.
	Unacknowledged bool
	// Now separates due from planned fires. It stays the same for all pages of a list.
	Now    time.Time
	Before *Position // only fires after this position of the list; its id is that of a fire
	// Settled: due and unclaimed fires were listed on earlier pages.
	Settled bool
	Limit   int
}

// FireCursor is where the next page of the ledger begins.
type FireCursor struct {
	Position
	Now     time.Time `json:"n"`
	Settled bool      `json:"s,omitempty"`
}

// FirePage is a page of the ledger, and its cursor; nil at the end. A page may contain fewer than the limit
// although more follow, if matches are rare.
type FirePage struct {
	Fires   []common.Fire
	Next    *FireCursor
	Partial bool // the store is unavailable: only live, due and planned fires are listed
}

// PositionOfFire returns the position of a fire in the ledger. The order is the same as that of its runs:
// their ids begin with that of the fire.
func PositionOfFire(f *common.Fire) Position { return Position{PlannedAt: f.PlannedAt, ID: f.ID} }

// CompareFires orders the ledger: it is negative if a comes first, which means that it is newer.
func CompareFires(a, b common.Fire) int { return PositionOfFire(&a).Compare(PositionOfFire(&b)) }

// Matches reports whether a fire belongs to the list, apart from the limit.
func (q *FireQuery) Matches(f *common.Fire) bool {
	return q.wants(f.Status) && q.Paused.matches(f) && q.spans(f)
}

// nodes reports whether fires of nodes are listed beside others.
func (q *FireQuery) nodes() bool { return q.Cause == common.CauseFlow }

// wants reports whether fires of a status belong to the list.
func (q *FireQuery) wants(s common.Status) bool {
	return len(q.Statuses) == 0 || slices.Contains(q.Statuses, s)
}

// spans reports whether a fire is in the range of the list, whatever its status.
func (q *FireQuery) spans(f *common.Fire) bool {
	return (q.Job == "" || q.Job == f.Job) && (q.Group == "" || q.Group == f.Group) &&
		(q.Cause == "" || q.Cause == f.Cause) &&
		(q.From.IsZero() || !f.PlannedAt.Before(q.From)) && f.PlannedAt.Before(q.To) &&
		(q.Before == nil || q.Before.Compare(PositionOfFire(f)) < 0)
}

// Bounds of the reads of a page: if few of the stored fires match, a page ends early instead of reading
// everything.
const (
	maxReads = 8
	minRows  = 100 // more than a fire has attempts
)

// Fires lists the ledger and the plan, the newest first. It reads due fires first, then live ones, then
// stored ones: a fire moves only in this direction, so none is missed, and it is listed once by its id. While
// the store is unavailable it lists the others.
func (v *View) Fires(ctx context.Context, q FireQuery) (FirePage, error) {
	due, dueWhole, err := v.due(ctx, &q)
	if err != nil {
		return FirePage{}, err
	}
	wanted := q.rows(q.Before, q.Limit+1)
	live, err := v.live.LiveRuns(ctx, &LiveQuery{Query: wanted, Fires: true})
	if err != nil {
		return FirePage{}, err
	}
	var planned []common.Fire
	plannedWhole := true
	if q.wants(common.StatusPlanned) && q.To.After(q.Now) && q.FlowRun == "" {
		if planned, plannedWhole, err = v.plan.Planned(ctx, &q); err != nil {
			return FirePage{}, err
		}
	}
	m := newMerge(&q, live.Runs)
	partial := false
	for !partial && !m.complete() {
		if m.reads++; m.reads > maxReads {
			break
		}
		rows, err := v.store.Runs(ctx, m.next())
		if partial = isAway(ctx, err); err != nil && !partial {
			return FirePage{}, err
		}
		for _, fire := range m.take(rows) {
			// A filter by status applies to rows: a later attempt of the same fire may not be among them. Any outcome
			// may be followed by one: fires are run again on request.
			if len(q.Statuses) > 0 && fire.Status.Terminal() {
				if fire, err = v.last(ctx, fire, m.live[fire.ID], live.Narrowed); isAway(ctx, err) {
					partial = true
				} else if err != nil {
					return FirePage{}, err
				}
			}
			if m.add(fire); m.count > q.Limit { // the others are for the next page
				m.from, m.ended = new(PositionOfFire(&fire)), false
				break
			}
		}
	}
	m.rest(m.lives(), true)
	if live.Edge != nil {
		m.bound(*live.Edge)
	}
	m.rest(due, dueWhole)
	m.rest(planned, plannedWhole)
	if partial {
		m.ended = true // a further read returns nothing more
	}
	page := m.page()
	page.Partial = partial || live.Partial
	if page.Next != nil {
		page.Next.Now = q.Now
		page.Next.Settled = q.Settled || dueWhole && !slices.ContainsFunc(due, func(f common.Fire) bool {
			return page.Next.Compare(PositionOfFire(&f)) < 0
		})
	}
	return page, nil
}

// due reads the plan if due fires may belong to the page. Fires that are delayed by jitter are still planned.
func (v *View) due(ctx context.Context, q *FireQuery) (fires []common.Fire, whole bool, err error) {
	if q.Settled || q.FlowRun != "" || q.From.After(q.Now) ||
		!q.wants(common.StatusWaiting) && !q.wants(common.StatusPlanned) {
		return nil, true, nil
	}
	return v.plan.Due(ctx, q)
}

// last returns the fire as all of its attempts show it; narrowed indicates that there may be live ones beside
// those given.
func (v *View) last(ctx context.Context, fire common.Fire, live []common.Run, narrowed bool) (common.Fire, error) {
	if narrowed {
		more, err := v.live.LiveRuns(ctx, &LiveQuery{Query: Query{Fire: fire.ID}})
		if err != nil {
			return fire, err
		}
		live = slices.DeleteFunc(more.Runs, func(r common.Run) bool { return r.Fire != fire.ID })
	}
	stored, err := v.store.Runs(ctx, Query{Fire: fire.ID})
	if err != nil || len(stored.Runs) == 0 {
		return fire, err
	}
	return FireOf(append(stored.Runs, live...)), nil
}

// FireOf combines the attempts of a fire, at least one, to its entry in the ledger.
func FireOf(attempts []common.Run) common.Fire {
	first, last := &attempts[0], &attempts[0]
	for i := range attempts {
		if attempts[i].Attempt < first.Attempt {
			first = &attempts[i]
		}
		if attempts[i].Attempt > last.Attempt {
			last = &attempts[i]
		}
	}
	f := common.Fire{
		ID:        last.Fire,
		Job:       last.Job,
		JobUID:    last.JobUID,
		Group:     last.Group,
		PlannedAt: last.PlannedAt,
		DueAt:     last.DueAt,
		Schedule:  last.Schedule,
		Cause:     first.Cause,
		Status:    last.Status,
		Reason:    last.Reason,
		Attempts:  []string{},
		Gap:       last.Gap,
	}
	if f.Cause == common.CauseRetry || f.Cause == common.CauseRerun { // its first attempt is not available
		f.Cause = common.CauseCron
		if strings.HasPrefix(f.ID, f.JobUID+".t") {
			f.Cause = common.CauseManual
		} else if common.OfNode(f.ID) {
			f.Cause = common.CauseFlow
		}
	}
	// Attempts are numbered from one, without a gap; the store may have deleted old ones.
	for n := 1; n <= last.Attempt; n++ {
		f.Attempts = append(f.Attempts, common.RunID(f.ID, n))
	}
	return f
}

// merge combines stored, live, due and planned fires to a page. It is pure.
type merge struct {
	q     *FireQuery
	live  map[string][]common.Run // attempts by fire
	found map[string]common.Fire
	count int       // number of fires found that belong to the list
	from  *Position // where the next read begins
	ended bool      // nothing is left to read
	// enough: the rest is for the next page.
	enough bool
	reads  int
	edge   *Position // beyond it the result may be incomplete
}

func newMerge(q *FireQuery, live []common.Run) *merge {
	m := &merge{q: q, live: map[string][]common.Run{}, found: map[string]common.Fire{}, from: q.Before}
	shown := Query{Job: q.Job, FlowRun: q.FlowRun, Step: q.Step, Nodes: q.nodes()}
	for i := range live {
		if shown.Matches(&live[i]) {
			m.live[live[i].Fire] = append(m.live[live[i].Fire], live[i])
		}
	}
	return m
}

// complete reports whether enough stored fires were read.
func (m *merge) complete() bool { return m.ended || m.enough || m.count > m.q.Limit }

// next returns the next read for the page.
func (m *merge) next() Query {
	q := m.q
	return q.rows(m.from, m.rows())
}

// rows returns the query for the runs of the fires after a position.
func (q *FireQuery) rows(before *Position, limit int) Query {
	return Query{
		Job:      q.Job,
		Group:    q.Group,
		FlowRun:  q.FlowRun,
		Step:     q.Step,
		Nodes:    q.nodes(),
		Statuses: q.Statuses,
		From:     q.From,
		To:       q.To,
		Before:   before,
		Limit:    limit,
	}
}

func (m *merge) rows() int { return max(minRows, 2*m.q.Limit) }

// take converts rows to fires. Attempts of a fire are adjacent; those of the last one may be incomplete, so
// it is read again.
func (m *merge) take(found Found) (fires []common.Fire) {
	rows := found.Runs
	m.ended = len(rows) < m.rows() && found.Until == nil
	m.enough = found.Until != nil // so many rows were read for so few matches that the page ends here
	if len(rows) == 0 && m.enough {
		m.from = found.Until
	}
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Fire == rows[0].Fire {
			n++
		}
		if n == len(rows) && !m.ended && len(fires) > 0 {
			break
		}
		// A stored attempt is the outcome: it replaces the live one that was read before.
		fire := FireOf(append(slices.Clone(rows[:n]), m.live[rows[0].Fire]...))
		fires = append(fires, fire)
		m.from = new(PositionOfFire(&fire))
		rows = rows[n:]
	}
	return fires
}

// add adds a fire to the list. A fire that was found before is kept: the later source is read first, and is
// more recent.
func (m *merge) add(f common.Fire) {
	if _, known := m.found[f.ID]; known {
		return
	}
	m.found[f.ID] = f
	if m.q.Matches(&f) {
		m.count++
	}
}

// lives returns the live fires, as their live attempts show them.
func (m *merge) lives() (fires []common.Fire) {
	for _, attempts := range m.live {
		fires = append(fires, FireOf(attempts))
	}
	return fires
}

// rest adds fires that are not stored; whole is false if older ones were left out.
func (m *merge) rest(fires []common.Fire, whole bool) {
	for i := range fires {
		m.add(fires[i])
	}
	if !whole && len(fires) > 0 {
		oldest := slices.MaxFunc(fires, CompareFires)
		m.bound(PositionOfFire(&oldest))
	}
}

// bound limits the page to a position.
func (m *merge) bound(p Position) {
	if m.edge == nil || p.Compare(*m.edge) < 0 {
		m.edge = &p
	}
}

// page returns the newest fires of the list, as far as it is complete.
func (m *merge) page() FirePage {
	if !m.ended && m.from != nil {
		m.bound(*m.from)
	}
	var all []common.Fire
	for _, f := range m.found {
		if m.q.Matches(&f) && (m.edge == nil || m.edge.Compare(PositionOfFire(&f)) >= 0) {
			all = append(all, f)
		}
	}
	slices.SortFunc(all, CompareFires)
	switch {
	case len(all) > m.q.Limit:
		all = all[:m.q.Limit]
		return FirePage{Fires: all, Next: &FireCursor{Position: PositionOfFire(&all[len(all)-1])}}
	case m.edge != nil:
		return FirePage{Fires: all, Next: &FireCursor{Position: *m.edge}}
	}
	return FirePage{Fires: all}
}
