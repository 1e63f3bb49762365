package live

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/runlog"
)

const (
	// mostOutcomes bounds the outcomes that are read for a list without a limit.
	mostOutcomes = 10_000
	// searchedAtOnce outcomes are read at a time in a text search, up to mostSearched in total: the list ends
	// early then. One search runs at a time.
	searchedAtOnce = 500
	mostSearched   = 5000
)

// foundRows are the outcomes that a list wants, in its order; the outcomes of a fire are adjacent.
type foundRows struct {
	keys []string
	edge *runlog.Position // up to which all outcomes were read; nil: all were
}

// find selects the outcomes of a list from the index.
func (o *Outboxes) find(q *runlog.LiveQuery) foundRows {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case q.Fire != "":
		var f foundRows
		for _, stem := range []string{q.Fire, stemOf(q.Fire)} { // the latter for a gap entry
			for _, r := range o.rows.chain(stem) {
				if r.fire() == q.Fire {
					f.keys = append(f.keys, o.key(r))
				}
			}
		}
		return f
	case q.Jobs != nil:
		return o.ofJobs(q.Jobs, q.Each)
	}
	m := o.matcher(q)
	limit := q.Limit
	if limit <= 0 || limit > mostOutcomes {
		limit = mostOutcomes
	}
	top := topRows{limit: limit, oldest: q.Oldest}
	o.rows.each(!q.Oldest, func(r *outboxRow) {
		if m.matches(r) && (!q.Fires || o.isLast(r)) {
			top.add(r)
		}
	})
	rows := top.sorted()
	var f foundRows
	for _, r := range rows {
		if !q.Fires {
			f.keys = append(f.keys, o.key(r))
			continue
		}
		for _, attempt := range o.attempts(r) {
			f.keys = append(f.keys, o.key(attempt))
		}
	}
	if top.cut {
		last := rows[len(rows)-1]
		f.edge = &runlog.Position{PlannedAt: time.Unix(0, last.planned).UTC(), ID: last.runID()}
		if q.Fires {
			f.edge.ID = last.fire()
		}
	}
	return f
}

func (o *Outboxes) key(r *outboxRow) string {
	return common.OutboxKey(o.rows.names[r.owner], r.runID())
}

// attempts returns the rows of the same fire.
func (o *Outboxes) attempts(r *outboxRow) []*outboxRow {
	if r.gap {
		return []*outboxRow{r}
	}
	fire := r.fire()
	return slices.DeleteFunc(o.rows.chain(fire), func(other *outboxRow) bool { return other.gap })
}

// isLast reports whether a row is the last attempt of its fire in the outboxes.
func (o *Outboxes) isLast(r *outboxRow) bool {
	if !r.shared {
		return true
	}
	return !slices.ContainsFunc(o.attempts(r), func(other *outboxRow) bool {
		return other.attempt > r.attempt || other.attempt == r.attempt && other.owner > r.owner
	})
}

// ofJobs returns the newest rows of each of the jobs.
func (o *Outboxes) ofJobs(jobs []string, each int) foundRows {
	tops := make(map[string]*topRows, len(jobs))
	for _, job := range jobs {
		tops[job] = &topRows{limit: each}
	}
	o.rows.each(true, func(r *outboxRow) {
		if top := tops[r.job.name]; top != nil {
			top.add(r)
		}
	})
	var f foundRows
	for _, top := range tops {
		for _, r := range top.sorted() {
			f.keys = append(f.keys, o.key(r))
		}
	}
	return f
}

// topRows keeps the first rows of a list.
type topRows struct {
	limit  int
	oldest bool
	rows   []*outboxRow
	worst  *outboxRow // once there are enough: rows after it are not kept
	exact  bool       // worst is the last row to keep; otherwise rows of the same time may come before it
	cut    bool
}

func (t *topRows) compare(a, b *outboxRow) int {
	if t.oldest {
		a, b = b, a
	}
	return compareRows(a, b)
}

// before compares rows by time alone, which is cheap.
func (t *topRows) before(a, b *outboxRow) int {
	if t.oldest {
		a, b = b, a
	}
	return cmp.Compare(b.planned, a.planned)
}

func (t *topRows) add(r *outboxRow) {
	if t.worst != nil {
		if c := t.before(r, t.worst); c > 0 || c == 0 && t.exact && t.compare(r, t.worst) > 0 {
			t.cut = true
			return
		}
	}
	if t.rows = append(t.rows, r); len(t.rows) >= 4*t.limit+64 {
		t.prune()
	}
}

// prune drops the rows that cannot be among the first. Those of the same time as the last one to keep stay,
// unless they are many.
func (t *topRows) prune() {
	slices.SortFunc(t.rows, t.before)
	keep := t.limit
	for keep < len(t.rows) && keep > 0 && t.rows[keep].planned == t.rows[t.limit-1].planned {
		keep++
	}
	if keep > 2*t.limit {
		t.sorted()
		return
	}
	t.rows, t.cut = t.rows[:keep], true
	if t.limit > 0 {
		t.worst, t.exact = t.rows[t.limit-1], false
	}
}

func (t *topRows) sorted() []*outboxRow {
	slices.SortFunc(t.rows, t.compare)
	if len(t.rows) > t.limit {
		t.rows, t.cut = t.rows[:t.limit], true
	}
	if len(t.rows) == t.limit && t.limit > 0 {
		t.worst, t.exact = t.rows[t.limit-1], true
	}
	return t.rows
}

// matcher holds the filters of a list that the index can decide.
type matcher struct {
	q        *runlog.LiveQuery
	from, to int64
	worker   uint32
	top      bool // leaves out runs of nodes
	statuses []uint8
	cause    uint8
	nothing  bool // matches
}

func (o *Outboxes) matcher(q *runlog.LiveQuery) matcher {
	m := matcher{q: q, top: q.TopLevel()}
	if !q.From.IsZero() {
		m.from = q.From.UnixNano()
	}
	if !q.To.IsZero() {
		m.to = catalog.Nanos(q.To)
	}
	for _, s := range q.Statuses {
		m.statuses = append(m.statuses, uint8(slices.Index(common.Statuses[:], s)))
	}
	if q.Cause != "" {
		m.cause = uint8(slices.Index(common.Causes[:], q.Cause))
	}
	if q.Worker != "" {
		var known bool
		m.worker, known = o.rows.ids[q.Worker]
		m.nothing = !known
	}
	return m
}

func (m *matcher) matches(r *outboxRow) bool {
	q := m.q
	return !m.nothing && (q.Job == "" || q.Job == r.job.name) &&
		(q.JobUID == "" || q.JobUID == r.job.uid) &&
		(q.Group == "" || q.Group == r.job.group) &&
		(q.Worker == "" || m.worker == r.worker) &&
		(q.FlowRun == "" || q.FlowRun == r.job.flow) &&
		(!m.top || !common.OfNode(r.id)) &&
		(q.Cause == "" || m.cause == r.cause) &&
		(q.ExitCode == nil || r.exit != noExit && int32(*q.ExitCode) == r.exit) &&
		(len(m.statuses) == 0 || slices.Contains(m.statuses, r.status)) &&
		(q.From.IsZero() || r.planned >= m.from) &&
		(q.To.IsZero() || r.planned < m.to) &&
		(q.Before == nil || m.after(r))
}

// after reports whether a row comes after the position at which the list begins.
func (m *matcher) after(r *outboxRow) bool {
	before := m.q.Before
	if at := before.PlannedAt.UnixNano(); r.planned != at {
		return (r.planned < at) != m.q.Oldest
	}
	id := r.runID()
	if m.q.Fires {
		id = r.fire()
	}
	return m.q.Compare(*before, runlog.Position{PlannedAt: before.PlannedAt, ID: id}) < 0
}

// read reads outcomes by their keys. Those deleted meanwhile are in the log store.
func (o *Outboxes) read(ctx context.Context, keys []string) ([]StoredRun, error) {
	runs := make([]StoredRun, 0, len(keys))
	kvs, err := etcdkit.GetAll(ctx, o.client, keys)
	for _, kv := range kvs {
		if run, ok := Decode(kv); ok {
			runs = append(runs, run)
		}
	}
	return runs, err
}

// keyOf returns the key of a run's outcome; empty if no outbox has one.
func (o *Outboxes) keyOf(run string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, r := range o.rows.chain(stemOf(run)) {
		if r.runID() == run {
			return o.key(r)
		}
	}
	return ""
}

func (o *Outboxes) lateKeys() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Collect(maps.Keys(o.late))
}

// outcomes returns those that a list wants, and the position up to which it has read.
func (o *Outboxes) outcomes(ctx context.Context, q *runlog.LiveQuery) ([]StoredRun, *runlog.Position, error) {
	if q.Text == "" && q.Step == "" { // the rows have neither
		f := o.find(q)
		runs, err := o.read(ctx, f.keys)
		return runs, f.edge, err
	}
	select {
	case o.searches <- struct{}{}:
		defer func() { <-o.searches }()
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	var all []StoredRun
	step := *q
	step.Limit = searchedAtOnce
	for searched := 0; ; searched += searchedAtOnce {
		f := o.find(&step)
		runs, err := o.read(ctx, f.keys)
		if err != nil {
			return nil, nil, err
		}
		for i := range runs {
			if q.Matches(&runs[i].Run) {
				all = append(all, runs[i])
			}
		}
		if f.edge == nil || q.Limit > 0 && len(all) > q.Limit || searched >= mostSearched {
			return all, f.edge, nil
		}
		step.Before = f.edge
	}
}
