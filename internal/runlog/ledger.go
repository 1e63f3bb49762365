package runlog

import (
	"context"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// Plan knows the fires that nobody has taken yet. Each look gives the newest that the
// query wants, at least one more than its limit where there are so many, in no order;
// whole is false where there may be older ones than it gives.
type Plan interface {
	// Due are those after the cursors, up to q.Now.
	Due(ctx context.Context, q *FireQuery) (fires []common.Fire, whole bool, err error)
	// Planned are those after q.Now.
	Planned(ctx context.Context, q *FireQuery) (fires []common.Fire, whole bool, err error)
}

// FireQuery narrows the ledger. Zero fields do not, but for To, Now and Limit, which
// must be given.
type FireQuery struct {
	Job      string
	Group    string
	Statuses []common.Status // of the fire, that is of its last attempt
	From, To time.Time       // PlannedAt: From inclusive, To exclusive
	// Now divides what is due from what is planned. It stays the same for all pages
	// of a list.
	Now    time.Time
	Before *Position // only what comes after this place of the list; its id is a fire's
	// Settled: what is due and not taken was listed on the pages before.
	Settled bool
	Limit   int
}

// FireCursor is where the next page of the ledger begins.
type FireCursor struct {
	Position
	Now     time.Time `json:"n"`
	Settled bool      `json:"s,omitempty"`
}

// FirePage is a page of the ledger, and where it goes on; nil at the end. A page may
// hold less than was asked for, and more may follow, where what fits is rare.
type FirePage struct {
	Fires   []common.Fire
	Next    *FireCursor
	Partial bool // the store is away: there is only what is live, due and planned
}

// PositionOfFire is the place of a fire in the ledger. Its order is that of its runs:
// their ids begin with it.
func PositionOfFire(f *common.Fire) Position { return Position{PlannedAt: f.PlannedAt, ID: f.ID} }

// CompareFires orders the ledger: negative when a comes first, that is when it is newer.
func CompareFires(a, b common.Fire) int { return PositionOfFire(&a).Compare(PositionOfFire(&b)) }

// Matches tells whether a fire belongs to the list, the limit aside.
func (q *FireQuery) Matches(f *common.Fire) bool {
	return q.wants(f.Status) && q.spans(f)
}

// wants tells whether fires of a status belong to the list.
func (q *FireQuery) wants(s common.Status) bool {
	return len(q.Statuses) == 0 || slices.Contains(q.Statuses, s)
}

// spans tells whether a fire is where the list looks, whatever its status.
func (q *FireQuery) spans(f *common.Fire) bool {
	return (q.Job == "" || q.Job == f.Job) && (q.Group == "" || q.Group == f.Group) &&
		(q.From.IsZero() || !f.PlannedAt.Before(q.From)) && f.PlannedAt.Before(q.To) &&
		(q.Before == nil || q.Before.Compare(PositionOfFire(f)) < 0)
}

// Bounds of the reads of a page: where few of the stored fires belong to the list, a
// page ends early and not after everything was read.
const (
	maxReads = 8
	minRows  = 100 // more than a fire has attempts
)

// Fires lists the ledger and the plan, the newest first. It looks at what is due
// first, then at what is live, then at what is stored: a fire moves this way only, so
// none is missed, and by its id it is listed once. While the store is away it lists the others.
func (v *View) Fires(ctx context.Context, q FireQuery) (FirePage, error) {
	due, dueWhole, err := v.due(ctx, &q)
	if err != nil {
		return FirePage{}, err
	}
	wanted := Query{Job: q.Job, Group: q.Group, Statuses: q.Statuses, From: q.From, To: q.To, Before: q.Before, Limit: q.Limit + 1}
	live, err := v.live.LiveRuns(ctx, &LiveQuery{Query: wanted, Fires: true})
	if err != nil {
		return FirePage{}, err
	}
	var planned []common.Fire
	plannedWhole := true
	if q.wants(common.StatusPlanned) && q.To.After(q.Now) {
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
			// A status narrows the rows: whether another attempt followed is not among them.
			if len(q.Statuses) > 0 && followed(fire.Status) {
				if fire, err = v.last(ctx, fire, m.live[fire.ID], live.Narrowed); isAway(ctx, err) {
					partial = true
				} else if err != nil {
					return FirePage{}, err
				}
			}
			m.add(fire)
		}
	}
	m.rest(m.lives(), true)
	if live.Edge != nil {
		m.bound(*live.Edge)
	}
	m.rest(due, dueWhole)
	m.rest(planned, plannedWhole)
	if partial {
		m.ended = true // no further read brings more
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

// due looks at the plan where what is due may belong to the page. Fires that jitter
// puts off are planned still.
func (v *View) due(ctx context.Context, q *FireQuery) (fires []common.Fire, whole bool, err error) {
	if q.Settled || q.From.After(q.Now) || !q.wants(common.StatusWaiting) && !q.wants(common.StatusPlanned) {
		return nil, true, nil
	}
	return v.plan.Due(ctx, q)
}

// followed tells whether an attempt that ended so may have another one after it.
func followed(s common.Status) bool {
	return s != common.StatusSucceeded && s != common.StatusMissed && s.Terminal()
}

// last is the fire as all of its attempts show it; narrowed says that there may be live ones beside those given.
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

// FireOf shows the attempts of a fire, of which there is one at least, as its entry
// in the ledger.
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
	f := common.Fire{ID: last.Fire, Job: last.Job, JobUID: last.JobUID, Group: last.Group, PlannedAt: last.PlannedAt, DueAt: last.DueAt,
		Cause: first.Cause, Status: last.Status, Reason: last.Reason, Attempts: []string{}, Gap: last.Gap}
	if f.Cause == common.CauseRetry || f.Cause == common.CauseRerun { // its first attempt is not at hand
		f.Cause = common.CauseCron
		if strings.HasPrefix(f.ID, f.JobUID+".t") {
			f.Cause = common.CauseManual
		}
	}
	// Attempts are counted from one, without a gap; the store may have let go of old ones.
	for n := 1; n <= last.Attempt; n++ {
		f.Attempts = append(f.Attempts, common.RunID(f.ID, n))
	}
	return f
}

// merge makes a page of what is stored, live, due and planned. It is pure.
type merge struct {
	q     *FireQuery
	live  map[string][]common.Run // attempts by fire
	found map[string]common.Fire
	count int       // of those found that belong to the list
	from  *Position // where the next read begins
	ended bool      // nothing is left to read
	// enough: what is left to read is for the next page.
	enough bool
	reads  int
	edge   *Position // beyond it something may not have been found
}

func newMerge(q *FireQuery, live []common.Run) *merge {
	m := &merge{q: q, live: map[string][]common.Run{}, found: map[string]common.Fire{}, from: q.Before}
	for i := range live {
		m.live[live[i].Fire] = append(m.live[live[i].Fire], live[i])
	}
	return m
}

// complete tells that enough of what is stored was read.
func (m *merge) complete() bool { return m.ended || m.enough || m.count > m.q.Limit }

// next is the read that the page needs.
func (m *merge) next() Query {
	q := m.q
	return Query{Job: q.Job, Group: q.Group, Statuses: q.Statuses, From: q.From, To: q.To, Before: m.from, Limit: m.rows()}
}

func (m *merge) rows() int { return max(minRows, 2*m.q.Limit) }

// take makes fires of rows that were read. Attempts of a fire stand side by side; those
// of the last one may not all be there, so it is read again.
func (m *merge) take(found Found) (fires []common.Fire) {
	rows := found.Runs
	m.ended = len(rows) < m.rows() && found.Until == nil
	m.enough = found.Until != nil // so much was looked at for so little that the page ends here
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
		// What is stored is the outcome: it stands over what was live a moment before.
		fire := FireOf(append(slices.Clone(rows[:n]), m.live[rows[0].Fire]...))
		fires = append(fires, fire)
		m.from = new(PositionOfFire(&fire))
		rows = rows[n:]
	}
	return fires
}

// add puts a fire on the list. One that was found before stands: who is asked first
// knows best.
func (m *merge) add(f common.Fire) {
	if _, known := m.found[f.ID]; known {
		return
	}
	m.found[f.ID] = f
	if m.q.Matches(&f) {
		m.count++
	}
}

// lives are the fires that live, as their live attempts show them.
func (m *merge) lives() (fires []common.Fire) {
	for _, attempts := range m.live {
		fires = append(fires, FireOf(attempts))
	}
	return fires
}

// rest adds what is not stored; whole is false where older ones were left out.
func (m *merge) rest(fires []common.Fire, whole bool) {
	for i := range fires {
		m.add(fires[i])
	}
	if !whole && len(fires) > 0 {
		oldest := slices.MaxFunc(fires, CompareFires)
		m.bound(PositionOfFire(&oldest))
	}
}

// bound lets the page go no further than a place.
func (m *merge) bound(p Position) {
	if m.edge == nil || p.Compare(*m.edge) < 0 {
		m.edge = &p
	}
}

// page gives the newest of the list, as far as everything was found.
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
