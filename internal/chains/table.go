package chains

import (
	"maps"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
)

// table holds what the fires of children are decided on. It does no I/O.
type table struct {
	children  map[string]*child
	listed    map[string]bool // children of a complete list that is being received; nil: none is
	successes map[string]common.JobValue[common.Success]
	consumed  map[string]common.JobValue[common.After]
	of        map[string]map[string]bool // names of children, by parent in consumed
	pending   map[string]bool            // children with a trigger
	ready     map[string]*child          // those that are to be acted on
	parents   *names
}

// child is a job with parents.
type child struct {
	Job
	since   time.Time // when it was found to be ready
	rest    time.Time // nothing is requested before: changes of or before an earlier request are on their way
	refused int       // requests in a row that were refused
}

func newTable(parents *names) *table {
	return &table{
		children:  map[string]*child{},
		successes: map[string]common.JobValue[common.Success]{},
		consumed:  map[string]common.JobValue[common.After]{},
		of:        map[string]map[string]bool{},
		pending:   map[string]bool{},
		ready:     map[string]*child{},
		parents:   parents,
	}
}

func (t *table) applyJobs(u Jobs, now time.Time) {
	if u.Whole {
		t.listed = map[string]bool{}
	}
	for _, name := range u.Gone {
		t.dropJob(name)
	}
	for i := range u.Put {
		j := u.Put[i]
		if t.listed != nil {
			t.listed[j.Name] = true
		}
		if old, known := t.children[j.Name]; known {
			if j.Version < old.Version {
				continue // a list that is older than a change that arrived before
			}
			t.parents.add(old.Parents, -1)
			old.Job = j
		} else {
			t.children[j.Name] = &child{Job: j}
		}
		t.parents.add(j.Parents, 1)
		t.decide(j.Name, now)
	}
	if t.listed != nil && !u.More {
		for name := range t.children {
			if !t.listed[name] {
				t.dropJob(name)
			}
		}
		t.listed = nil
		t.parents.setComplete()
	}
}

func (t *table) dropJob(name string) {
	if old, known := t.children[name]; known {
		t.parents.add(old.Parents, -1)
		delete(t.children, name)
		delete(t.ready, name)
	}
}

func (t *table) applySuccesses(u Successes, now time.Time) {
	if u.Whole {
		clear(t.successes)
	}
	for _, s := range u.Put {
		t.successes[s.Job] = s
	}
	for _, job := range u.Gone {
		delete(t.successes, job)
	}
	if u.Whole {
		t.decideAll(now)
		return
	}
	for _, s := range u.Put {
		for name := range t.of[s.Job] {
			t.decide(name, now)
		}
	}
	for _, job := range u.Gone {
		for name := range t.of[job] {
			t.decide(name, now)
		}
	}
}

func (t *table) applyConsumed(u Consumed, now time.Time) {
	if u.Whole {
		clear(t.consumed)
		clear(t.of)
	}
	for _, c := range u.Put {
		t.forget(c.Job)
		t.consumed[c.Job] = c
		for parent := range c.Value.Consumed {
			if t.of[parent] == nil {
				t.of[parent] = map[string]bool{}
			}
			t.of[parent][c.Job] = true
		}
	}
	for _, job := range u.Gone {
		t.forget(job)
		t.decide(job, now)
	}
	if u.Whole {
		t.decideAll(now)
		return
	}
	for _, c := range u.Put {
		if one := t.children[c.Job]; one != nil {
			one.rest, one.refused = time.Time{}, 0 // this is what it rested for
		}
		t.decide(c.Job, now)
	}
}

// forget removes what a child has consumed.
func (t *table) forget(job string) {
	for parent := range t.consumed[job].Value.Consumed {
		if delete(t.of[parent], job); len(t.of[parent]) == 0 {
			delete(t.of, parent)
		}
	}
	delete(t.consumed, job)
}

// setPending notes whether a child has a trigger.
func (t *table) setPending(job string, pending bool, now time.Time) {
	if pending {
		t.pending[job] = true
	} else {
		delete(t.pending, job)
	}
	t.decide(job, now)
}

func (t *table) decideAll(now time.Time) {
	for name := range t.children {
		t.decide(name, now)
	}
}

// decide updates whether there is something to request for a child.
func (t *table) decide(name string, now time.Time) {
	c := t.children[name]
	if c == nil {
		return
	}
	if _, act := t.request(c); !act {
		delete(t.ready, name)
		return
	}
	if t.ready[name] == nil {
		c.since = now
		t.ready[name] = c
	}
}

// request returns the fire of a child whose parents have succeeded, without its trigger; false if there is nothing to
// request. The parents are those of the stored value, which the transaction compares: the job may have been received
// before or after it. Without a stored value the request is to write one, from which on successes count.
func (t *table) request(c *child) (common.AfterFire, bool) {
	a, known := t.consumed[c.Name]
	f := common.AfterFire{Job: c.Name, Version: c.Version, Seen: a.Revision}
	if !known || a.Value.Created != c.Created {
		f.After = common.After{Created: c.Created, Consumed: map[string]int64{}}
		for _, parent := range c.Parents {
			f.After.Consumed[parent] = 0
		}
		return f, true
	}
	if t.pending[c.Name] || len(a.Value.Consumed) == 0 {
		return f, false
	}
	f.Successes = make(map[string]int64, len(a.Value.Consumed))
	for parent, consumed := range a.Value.Consumed {
		s, succeeded := t.successes[parent]
		if !succeeded || s.Revision <= consumed {
			return f, false
		}
		f.Successes[parent] = s.Revision
	}
	f.After = common.After{Created: c.Created, Consumed: f.Successes}
	return f, true
}

// plannedAt returns the planned time of a fire: the latest of those of the successes that it consumes.
func (t *table) plannedAt(f *common.AfterFire) (latest time.Time) {
	for parent := range f.Successes {
		if at := t.successes[parent].Value.PlannedAt; at.After(latest) {
			latest = at
		}
	}
	return latest.UTC()
}

// runs returns the runs of the successes that a fire consumes, by the names of their jobs.
func (t *table) runs(f *common.AfterFire) []common.ParentRun {
	runs := make([]common.ParentRun, 0, len(f.Successes))
	for _, parent := range slices.Sorted(maps.Keys(f.Successes)) {
		s := t.successes[parent].Value
		runs = append(runs, common.ParentRun{Job: parent, Run: s.Run, PlannedAt: s.PlannedAt})
	}
	return runs
}

// names counts how many jobs name a job.
type names struct {
	mu       sync.RWMutex
	n        map[string]int
	complete bool // the list of all jobs was received
}

func (n *names) setComplete() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.complete = true
}

func (n *names) add(parents []string, by int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range parents {
		if n.n[p] += by; n.n[p] == 0 {
			delete(n.n, p)
		}
	}
}

func (n *names) has(job string) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.n[job] > 0 || !n.complete && common.ValidName(job)
}
