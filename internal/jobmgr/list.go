package jobmgr

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
	"unique"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

// List returns a page of jobs, and the cursor of the next one, empty at the end. The page includes all that
// this master has written.
func (s *Store) List(ctx context.Context, q common.JobQuery) ([]common.JobState, string, error) {
	selector, err := parseSelector(q.Selector)
	if err != nil {
		return nil, "", err
	}
	s.cfg.Catalog.reach(ctx, s.written.Load(), time.Second)
	page, next := s.cfg.Catalog.list(newFilter(q, selector, s.cfg.Now()))
	return page, next, nil
}

// Count returns the number of jobs that a query matches, without its page limits.
func (s *Store) Count(_ context.Context, q common.JobQuery) (int, error) {
	selector, err := parseSelector(q.Selector)
	if err != nil {
		return 0, err
	}
	return s.cfg.Catalog.count(newFilter(q, selector, s.cfg.Now())), nil
}

func parseSelector(text string) (*placement.Selector, error) {
	selector, err := placement.ParseSelector(text)
	if refusal, ok := errors.AsType[*common.Error](err); ok {
		return nil, common.Invalid("the jobs cannot be listed", common.Fault{Location: "selector", Code: "selector",
			Message: refusal.Message, Hint: refusal.Hint, Value: common.Excerpt(text)})
	}
	return selector, nil
}

// spot is the position of a job in an order.
type spot struct {
	at   int64  // the time to order by
	text string // or the text
	job  *entry // nil for a cursor
	name string // of a cursor
}

// tie returns the name, which orders equal jobs. It is read only when needed: it lies elsewhere in memory.
func (a *spot) tie() string {
	if a.job != nil {
		return a.job.name
	}
	return a.name
}

func (a *spot) compare(b *spot) int {
	switch {
	case a.at != b.at:
		return cmp.Compare(a.at, b.at)
	case a.text != b.text:
		return cmp.Compare(a.text, b.text)
	}
	return cmp.Compare(a.tie(), b.tie())
}

// write encodes the position as a cursor, and readSpot decodes it; ordered by name, the cursor is the name.
func (a *spot) write(order common.JobOrder) string {
	if order == "" || order == common.OrderName {
		return a.tie()
	}
	return strconv.FormatInt(a.at, 10) + "/" + a.text + "/" + a.tie()
}

func readSpot(text string, order common.JobOrder) spot {
	if order == "" || order == common.OrderName {
		return spot{name: text}
	}
	at, rest, _ := strings.Cut(text, "/")
	group, name, _ := strings.Cut(rest, "/")
	when, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return spot{name: text} // not a cursor of ours; any text is a valid position
	}
	return spot{at: when, text: group, name: name}
}

// filter is a prepared query for jobs.
type filter struct {
	q        common.JobQuery
	group    unique.Handle[string]
	wanted   string
	selector *placement.Selector
	matches  map[unique.Handle[string]]bool // results of the selector by labels, which many jobs share
	beneath  map[unique.Handle[string]]bool // whether a group is within the queried one, likewise
	now      int64
}

func newFilter(q common.JobQuery, selector *placement.Selector, now time.Time) *filter {
	return &filter{
		q:        q,
		group:    unique.Make(q.Group),
		wanted:   strings.ToLower(q.Q),
		selector: selector,
		now:      now.UnixNano(),
		matches:  map[unique.Handle[string]]bool{},
		beneath:  map[unique.Handle[string]]bool{},
	}
}

func (f *filter) takes(job *slot) bool {
	switch {
	case (f.q.Group != "" || f.q.Ungrouped) && f.group != job.group:
		return false
	case f.q.Below != "" && !f.below(job.group):
		return false
	case f.wanted != "" && !strings.Contains(job.search, f.wanted):
		return false
	case f.q.Selector != "" && !f.selects(job.labels):
		return false
	}
	return f.q.Phase == "" || f.q.Phase == job.phase(f.now)
}

func (f *filter) selects(labels unique.Handle[string]) bool {
	match, known := f.matches[labels]
	if !known {
		match = f.selector.Matches(labelsOf(labels.Value()))
		f.matches[labels] = match
	}
	return match
}

// below reports whether a group is the queried one or lies below it.
func (f *filter) below(group unique.Handle[string]) bool {
	is, known := f.beneath[group]
	if !known {
		rest, begins := strings.CutPrefix(group.Value(), f.q.Below)
		is = begins && (rest == "" || rest[0] == '.' || rest[0] == '-')
		f.beneath[group] = is
	}
	return is
}

// spot returns the position of the job in the requested order.
func (f *filter) spot(job *slot) spot {
	s := spot{job: job.job}
	switch f.q.Order {
	case common.OrderNextFire:
		s.at = job.nextFire(f.now)
	case common.OrderUpdated:
		s.at = job.updated
	case common.OrderGroup:
		s.text = job.group.Value()
	}
	return s
}

// list returns a page of jobs, and the cursor of the next page; empty at the end.
func (c *Catalog) list(f *filter) (page []common.JobState, next string) {
	var found []spot
	var more bool
	if f.q.Order == "" || f.q.Order == common.OrderName {
		found, more = c.byName(f)
	} else {
		found, more = c.ordered(f)
	}
	if len(found) > 0 {
		page = make([]common.JobState, len(found))
	}
	for i := range found {
		page[i] = found[i].job.state()
	}
	if more {
		next = found[len(found)-1].write(f.q.Order)
	}
	return page, next
}

func (c *Catalog) count(f *filter) (n int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for job := range c.names.after("") {
		if f.takes(job) {
			n++
		}
	}
	return n
}

// byName reads only the jobs of the page and those that the filter excludes.
func (c *Catalog) byName(f *filter) (found []spot, more bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	jobs := c.names.after(f.q.After)
	if f.q.Descending {
		jobs = c.names.before(f.q.After)
	}
	skip := f.q.Skip
	for job := range jobs {
		if !f.takes(job) {
			continue
		}
		if skip > 0 {
			skip--
			continue
		}
		if f.q.Limit > 0 && len(found) == f.q.Limit {
			return found, true
		}
		found = append(found, f.spot(job))
	}
	return found, false
}

// ordered reads all jobs.
func (c *Catalog) ordered(f *filter) (found []spot, more bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	after, best := readSpot(f.q.After, f.q.Order), firsts{limit: f.q.Limit, skip: f.q.Skip, descending: f.q.Descending}
	for job := range c.names.after("") {
		if !f.takes(job) {
			continue
		}
		if at := f.spot(job); f.q.After == "" || best.order(&at, &after) > 0 {
			best.add(at)
		}
	}
	return best.sorted()
}

// firsts keeps the first jobs of an order: limit of them after the skipped ones, and one more to detect a
// further page; all if there is no limit.
type firsts struct {
	limit      int
	skip       int
	descending bool
	heap       []spot // the last one on top, once there are more than limit
}

func (f *firsts) order(a, b *spot) int {
	if f.descending {
		return b.compare(a)
	}
	return a.compare(b)
}

func (f *firsts) add(at spot) {
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

func (f *firsts) up(i int) {
	for parent := (i - 1) / 2; i > 0 && f.order(&f.heap[i], &f.heap[parent]) > 0; i, parent = parent, (parent-1)/2 {
		f.heap[i], f.heap[parent] = f.heap[parent], f.heap[i]
	}
}

func (f *firsts) down(i int) {
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
func (f *firsts) sorted() (found []spot, more bool) {
	slices.SortFunc(f.heap, func(a, b spot) int { return f.order(&a, &b) })
	found = f.heap[min(f.skip, len(f.heap)):]
	if f.limit > 0 && len(found) > f.limit {
		return found[:f.limit], true
	}
	return found, false
}
