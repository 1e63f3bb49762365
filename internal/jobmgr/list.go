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
	"carillon/internal/placement"
)

// List gives a page of jobs, and where to go on, empty at the end. What this master has written
// it shows.
func (s *Store) List(ctx context.Context, q common.JobQuery) ([]common.JobState, string, error) {
	selector, err := placement.ParseSelector(q.Selector)
	if refusal, ok := errors.AsType[*common.Error](err); ok {
		return nil, "", common.Invalid("the jobs cannot be listed", common.Fault{Location: "selector", Code: "selector",
			Message: refusal.Message, Hint: refusal.Hint, Value: common.Excerpt(q.Selector)})
	}
	s.cfg.Catalog.reach(ctx, s.written.Load(), time.Second)
	page, next := s.cfg.Catalog.list(q, selector, s.cfg.Now())
	return page, next, nil
}

// spot is where a job stands in an order.
type spot struct {
	at   int64  // the time that is ordered by
	text string // or the text
	job  *entry // nil of a place to go on from
	name string // of that place
}

// tie is what those that are equal are ordered by. It is not looked at before: it lies elsewhere in memory.
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

// write and readSpot make a place to go on from of it: of the names, the name.
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
		return spot{name: text} // somebody made it up; every place is one
	}
	return spot{at: when, text: group, name: name}
}

// filter is a question for jobs, made ready.
type filter struct {
	q        common.JobQuery
	group    unique.Handle[string]
	wanted   string
	selector *placement.Selector
	matches  map[unique.Handle[string]]bool // what the selector says of labels, which many jobs share
	now      int64
}

func (f *filter) takes(job *slot) bool {
	switch {
	case f.q.Group != "" && f.group != job.group:
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

// spot is where the job stands in the order that was asked for.
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

// list gives a page of jobs, and where the page after it begins; empty at the end.
func (c *Catalog) list(q common.JobQuery, selector *placement.Selector, now time.Time) (page []common.JobState, next string) {
	f := &filter{q: q, group: unique.Make(q.Group), wanted: strings.ToLower(q.Q), selector: selector, matches: map[unique.Handle[string]]bool{}, now: now.UnixNano()}
	var found []spot
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
		page[i] = found[i].job.state()
	}
	if more {
		next = found[len(found)-1].write(q.Order)
	}
	return page, next
}

// byName needs to look at no more than it gives, and at what the filter leaves out.
func (c *Catalog) byName(f *filter) (found []spot, more bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	jobs := c.names.after(f.q.After)
	if f.q.Descending {
		jobs = c.names.before(f.q.After)
	}
	for job := range jobs {
		if !f.takes(job) {
			continue
		}
		if f.q.Limit > 0 && len(found) == f.q.Limit {
			return found, true
		}
		found = append(found, f.spot(job))
	}
	return found, false
}

// ordered looks at all jobs.
func (c *Catalog) ordered(f *filter) (found []spot, more bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	after, best := readSpot(f.q.After, f.q.Order), firsts{limit: f.q.Limit, descending: f.q.Descending}
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

// firsts keeps the first of many in an order: limit of them, and one more to tell that there is
// one; all, where there is no limit.
type firsts struct {
	limit      int
	descending bool
	heap       []spot // the last one is on top, once there are more than limit
}

func (f *firsts) order(a, b *spot) int {
	if f.descending {
		return b.compare(a)
	}
	return a.compare(b)
}

func (f *firsts) add(at spot) {
	switch {
	case f.limit <= 0 || len(f.heap) <= f.limit:
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

// sorted gives them in their order, and whether there are more.
func (f *firsts) sorted() (found []spot, more bool) {
	slices.SortFunc(f.heap, func(a, b spot) int { return f.order(&a, &b) })
	if f.limit > 0 && len(f.heap) > f.limit {
		return f.heap[:f.limit], true
	}
	return f.heap, false
}
