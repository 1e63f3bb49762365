package catalog

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unique"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

// List returns a page of jobs, and the cursor of the next one, empty at the end. The page includes all that
// this master has written.
func (c *Catalog) List(ctx context.Context, q common.JobQuery) (page []common.JobState, next string, err error) {
	f, err := c.filter(q)
	if err != nil {
		return nil, "", err
	}
	c.Sync(ctx)
	var found []position
	var more bool
	if q.Order == "" || q.Order == common.OrderName {
		found, more = c.byName(f)
	} else {
		found, more = c.ordered(f)
	}
	if len(found) > 0 {
		page = make([]common.JobState, len(found))
	}
	for i := range found {
		page[i] = found[i].job.State()
	}
	if more {
		next = found[len(found)-1].encode(q.Order)
	}
	return page, next, nil
}

// Count returns the number of jobs that a query matches, without its page limits.
func (c *Catalog) Count(_ context.Context, q common.JobQuery) (n int, err error) {
	f, err := c.filter(q)
	if err != nil {
		return 0, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	for job := range c.names.after("") {
		if f.matches(job) {
			n++
		}
	}
	return n, nil
}

// position is the position of a job in an order.
type position struct {
	at   int64  // the time to order by
	text string // or the text
	job  *Entry // nil for a cursor
	name string // of a cursor
}

// jobName returns the name, which orders equal jobs. It is read only when needed: it lies elsewhere in memory.
func (a *position) jobName() string {
	if a.job != nil {
		return a.job.Name
	}
	return a.name
}

func (a *position) compare(b *position) int {
	switch {
	case a.at != b.at:
		return cmp.Compare(a.at, b.at)
	case a.text != b.text:
		return cmp.Compare(a.text, b.text)
	}
	return cmp.Compare(a.jobName(), b.jobName())
}

// encode encodes the position as a cursor, and parsePosition decodes it; ordered by name, the cursor is the name.
func (a *position) encode(order common.JobOrder) string {
	if order == "" || order == common.OrderName {
		return a.jobName()
	}
	return strconv.FormatInt(a.at, 10) + "/" + a.text + "/" + a.jobName()
}

func parsePosition(text string, order common.JobOrder) position {
	if order == "" || order == common.OrderName {
		return position{name: text}
	}
	at, rest, _ := strings.Cut(text, "/")
	group, name, _ := strings.Cut(rest, "/")
	when, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return position{name: text} // not a cursor of ours; any text is a valid position
	}
	return position{at: when, text: group, name: name}
}

// filter is a prepared query for jobs.
type filter struct {
	q        common.JobQuery
	group    unique.Handle[string]
	text     string // that name or title contain
	selector *placement.Selector
	selected map[unique.Handle[string]]bool // results of the selector by labels, which many jobs share
	inGroup  map[unique.Handle[string]]bool // whether a group is within the queried one, by group
	now      int64
	facts    common.JobFacts // of the job that is being filtered or ranked
}

// filter prepares a query.
func (c *Catalog) filter(q common.JobQuery) (*filter, error) {
	selector, err := placement.ParseSelector(q.Selector)
	if refusal, ok := errors.AsType[*common.Error](err); ok {
		return nil, common.Invalid("the jobs cannot be listed", common.Fault{Location: "selector", Code: "selector",
			Message: refusal.Message, Hint: refusal.Hint, Value: common.Excerpt(q.Selector)})
	}
	return &filter{
		q:        q,
		group:    unique.Make(q.Group),
		text:     strings.ToLower(q.Q),
		selector: selector,
		now:      c.now().UnixNano(),
		selected: map[unique.Handle[string]]bool{},
		inGroup:  map[unique.Handle[string]]bool{},
	}, nil
}

func (f *filter) matches(job *row) bool {
	switch {
	case (f.q.Group != "" || f.q.Ungrouped) && f.group != job.group:
		return false
	case f.q.Below != "" && !f.below(job.group):
		return false
	case f.text != "" && !strings.Contains(job.search, f.text) && !(f.q.Similar && similar(f.text, job.search)):
		return false
	case f.q.Selector != "" && !f.selects(job.labels):
		return false
	}
	return (f.q.Phase == "" || f.q.Phase == job.phase(f.now)) &&
		(f.q.Pick == nil || f.q.Pick.Only == nil || f.q.Pick.Only(f.factsOf(job)))
}

func (f *filter) factsOf(job *row) *common.JobFacts {
	f.facts = common.JobFacts{Name: job.job.Name, UID: job.job.UID, FailureTo: job.job.failureTo()}
	return &f.facts
}

func (f *filter) selects(labels unique.Handle[string]) bool {
	match, known := f.selected[labels]
	if !known {
		match = f.selector.Matches(labelsOf(labels.Value()))
		f.selected[labels] = match
	}
	return match
}

// below reports whether a group is the queried one or lies below it.
func (f *filter) below(group unique.Handle[string]) bool {
	is, known := f.inGroup[group]
	if !known {
		rest, begins := strings.CutPrefix(group.Value(), f.q.Below)
		is = begins && (rest == "" || strings.IndexByte("./-", rest[0]) >= 0)
		f.inGroup[group] = is
	}
	return is
}

// position returns the position of the job in the requested order.
func (f *filter) position(job *row) position {
	s := position{job: job.job}
	switch f.q.Order {
	case common.OrderNextFire:
		s.at = job.nextFire(f.now)
	case common.OrderUpdated:
		s.at = job.updated
	case common.OrderGroup:
		s.text = job.group.Value()
	case common.OrderRank:
		s.at = f.q.Pick.Rank(f.factsOf(job))
	}
	return s
}

// byName reads only the jobs of the page and those that the filter excludes.
func (c *Catalog) byName(f *filter) (found []position, more bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	jobs := c.names.after(f.q.After)
	if f.q.Descending {
		jobs = c.names.before(f.q.After)
	}
	skip := f.q.Skip
	for job := range jobs {
		if !f.matches(job) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if f.q.Limit > 0 && len(found) == f.q.Limit {
			return found, true
		}
		found = append(found, f.position(job))
	}
	return found, false
}

// ordered reads all jobs.
func (c *Catalog) ordered(f *filter) (found []position, more bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	after := parsePosition(f.q.After, f.q.Order)
	best := topRows{limit: f.q.Limit, skip: f.q.Skip, descending: f.q.Descending}
	for job := range c.names.after("") {
		if !f.matches(job) {
			continue
		}
		if at := f.position(job); f.q.After == "" || best.order(&at, &after) > 0 {
			best.add(at)
		}
	}
	return best.sorted()
}

// topRows keeps the first jobs of an order: limit of them after the skipped ones, and one more to detect a
// further page; all if there is no limit.
type topRows struct {
	limit      int
	skip       int
	descending bool
	heap       []position // the last one on top, once there are more than limit
}

func (f *topRows) order(a, b *position) int {
	if f.descending {
		return b.compare(a)
	}
	return a.compare(b)
}

func (f *topRows) add(at position) {
	switch {
	case f.limit <= 0 || len(f.heap)-f.skip <= f.limit: // the sum of these could overflow
		f.heap = append(f.heap, at)
		if f.limit > 0 {
			f.up(len(f.heap) - 1)
		}
	case f.order(&at, &f.heap[0]) < 0:
		f.heap[0] = at
		f.down(0)
	}
}

func (f *topRows) up(i int) {
	for parent := (i - 1) / 2; i > 0 && f.order(&f.heap[i], &f.heap[parent]) > 0; i, parent = parent, (parent-1)/2 {
		f.heap[i], f.heap[parent] = f.heap[parent], f.heap[i]
	}
}

func (f *topRows) down(i int) {
	for {
		last, left := i, 2*i+1
		for child := left; child <= left+1 && child < len(f.heap); child++ {
			if f.order(&f.heap[child], &f.heap[last]) > 0 {
				last = child
			}
		}
		if last == i {
			return
		}
		f.heap[i], f.heap[last] = f.heap[last], f.heap[i]
		i = last
	}
}

// sorted returns them in order, and whether there are more.
func (f *topRows) sorted() (found []position, more bool) {
	slices.SortFunc(f.heap, func(a, b position) int { return f.order(&a, &b) })
	found = f.heap[min(f.skip, len(f.heap)):]
	if f.limit > 0 && len(found) > f.limit {
		return found[:f.limit], true
	}
	return found, false
}
