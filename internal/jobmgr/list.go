package jobmgr

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

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
	name string
}

func (a spot) compare(b spot) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.text, b.text), cmp.Compare(a.name, b.name))
}

// write and readSpot make a place to go on from of it: of the names, the name.
func (a spot) write(order common.JobOrder) string {
	if order == "" || order == common.OrderName {
		return a.name
	}
	return strconv.FormatInt(a.at, 10) + "/" + a.text + "/" + a.name
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
	wanted   string
	selector *placement.Selector
	now      time.Time
}

func (f *filter) takes(job *entry) bool {
	switch {
	case f.q.Group != "" && f.q.Group != job.Group:
		return false
	case f.wanted != "" && !strings.Contains(job.Name, f.wanted) && !strings.Contains(strings.ToLower(job.Title), f.wanted):
		return false
	case !f.selector.Matches(job.Labels):
		return false
	}
	return f.q.Phase == "" || f.q.Phase == job.phase(f.now)
}

// spot is where the job stands in the order that was asked for.
func (f *filter) spot(job *entry) spot {
	s := spot{name: job.Name}
	switch f.q.Order {
	case common.OrderNextFire:
		s.at = math.MaxInt64
		if next := job.nextFire(f.now); !next.IsZero() {
			s.at = next.UnixNano()
		}
	case common.OrderUpdated:
		s.at = job.UpdatedAt.UnixNano()
	case common.OrderGroup:
		s.text = job.Group
	}
	return s
}

// list gives a page of jobs, and where the page after it begins; empty at the end.
func (c *Catalog) list(q common.JobQuery, selector *placement.Selector, now time.Time) (page []common.JobState, next string) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	f := &filter{q: q, wanted: strings.ToLower(q.Q), selector: selector, now: now}
	if (q.Order == "" || q.Order == common.OrderName) && !q.Descending {
		return c.listByName(f)
	}
	after := readSpot(q.After, q.Order)
	order := spot.compare
	if q.Descending {
		order = func(a, b spot) int { return b.compare(a) }
	}
	best := firsts{limit: q.Limit, order: order}
	for _, job := range c.jobs {
		if !f.takes(job) {
			continue
		}
		if at := f.spot(job); q.After == "" || order(at, after) > 0 {
			best.add(at, job)
		}
	}
	found, more := best.sorted()
	for i := range found {
		page = append(page, found[i].job.JobState)
	}
	if more {
		next = found[len(found)-1].at.write(q.Order)
	}
	return page, next
}

// listByName needs to look at no more than it gives, and at what the filter leaves out.
func (c *Catalog) listByName(f *filter) (page []common.JobState, next string) {
	from, found := slices.BinarySearch(c.names, f.q.After)
	if found {
		from++
	}
	for _, name := range c.names[from:] {
		job := c.jobs[name]
		if !f.takes(job) {
			continue
		}
		if f.q.Limit > 0 && len(page) == f.q.Limit {
			return page, page[len(page)-1].Name
		}
		page = append(page, job.JobState)
	}
	return page, ""
}

// firsts keeps the first of many in an order: limit of them, and one more to tell that there is
// one; all, where there is no limit.
type firsts struct {
	limit int
	order func(a, b spot) int
	heap  []placed // the last one is on top, once there are more than limit
}

type placed struct {
	at  spot
	job *entry
}

func (f *firsts) add(at spot, job *entry) {
	switch {
	case f.limit <= 0 || len(f.heap) <= f.limit:
		f.heap = append(f.heap, placed{at, job})
		if f.limit > 0 {
			f.up(len(f.heap) - 1)
		}
	case f.order(at, f.heap[0].at) < 0:
		f.heap[0] = placed{at, job}
		f.down(0)
	}
}

func (f *firsts) up(i int) {
	for parent := (i - 1) / 2; i > 0 && f.order(f.heap[i].at, f.heap[parent].at) > 0; i, parent = parent, (parent-1)/2 {
		f.heap[i], f.heap[parent] = f.heap[parent], f.heap[i]
	}
}

func (f *firsts) down(i int) {
	for {
		last, left := i, 2*i+1
		for child := left; child <= left+1 && child < len(f.heap); child++ {
			if f.order(f.heap[child].at, f.heap[last].at) > 0 {
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
func (f *firsts) sorted() (found []placed, more bool) {
	slices.SortFunc(f.heap, func(a, b placed) int { return f.order(a.at, b.at) })
	if f.limit > 0 && len(f.heap) > f.limit {
		return f.heap[:f.limit], true
	}
	return f.heap, false
}

// nextFire is when the job fires next; zero where it does not.
func (e *entry) nextFire(now time.Time) time.Time {
	if e.timetable.IsZero() {
		return time.Time{}
	}
	if e.PausedAt(now) {
		if e.PauseUntil == nil {
			return time.Time{}
		}
		now = *e.PauseUntil
	}
	fire, ok, err := e.timetable.Upcoming(e.Cursor, now)
	if err != nil || !ok {
		return time.Time{}
	}
	return fire
}

func (e *entry) phase(now time.Time) common.Phase {
	switch {
	case e.PausedAt(now):
		return common.PhasePaused
	case e.CronExpr == "":
		return common.PhaseManual
	case e.nextFire(now).IsZero():
		return common.PhaseDone
	}
	return common.PhaseActive
}
