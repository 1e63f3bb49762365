package jobmgr

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"
	"unique"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

// Catalog is a master's copy of all jobs, for lists and for finding a job by its uid. It follows the Watcher;
// Run is its only goroutine.
type Catalog struct {
	watcher  *Watcher
	interner *schedule.Interner

	mu sync.RWMutex
	tables
	next     *tables // a list that is being received in parts; owned by Run
	revision int64
	reached  chan struct{} // closed when revision grows
}

// tables holds the jobs, indexed in the ways in which they are looked up.
type tables struct {
	jobs  map[string]*entry
	names ordered
	byUID map[string]*entry
	bad   map[string]error
	needs map[string]int // features, and how many jobs need each
	all   usage
	used  map[unique.Handle[string]]usage // by group
}

func newTables() tables {
	return tables{
		jobs:  map[string]*entry{},
		byUID: map[string]*entry{},
		bad:   map[string]error{},
		needs: map[string]int{},
		used:  map[unique.Handle[string]]usage{},
	}
}

// NewCatalog returns an empty catalog.
func NewCatalog(watcher *Watcher, interner *schedule.Interner) *Catalog {
	return &Catalog{watcher: watcher, interner: interner, tables: newTables(), reached: make(chan struct{})}
}

// Run keeps the catalog up to date until the context ends.
func (c *Catalog) Run(ctx context.Context) error {
	return c.watcher.Run(ctx, func(_ context.Context, u JobsUpdate) error {
		c.apply(u)
		return nil
	})
}

func (c *Catalog) apply(u JobsUpdate) {
	entries := make([]slot, 0, len(u.Jobs))
	for i := range u.Jobs {
		e, err := c.entry(&u.Jobs[i])
		if err != nil {
			u.Bad = append(u.Bad, BadJob{Name: u.Jobs[i].Name, Err: err})
			continue
		}
		entries = append(entries, e)
	}
	if u.Whole {
		c.next = new(newTables())
	}
	if c.next != nil { // until the list is complete, readers see the previous one
		c.next.apply(&u, entries)
		if u.More {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		c.tables, c.next = *c.next, nil
	} else {
		c.tables.apply(&u, entries)
	}
	c.revision = max(c.revision, u.Revision)
	close(c.reached)
	c.reached = make(chan struct{})
}

func (t *tables) apply(u *JobsUpdate, entries []slot) {
	for _, e := range entries {
		t.put(e)
	}
	for _, b := range u.Bad {
		t.drop(b.Name)
		t.bad[b.Name] = b.Err
	}
	for _, name := range u.Gone {
		t.drop(name)
	}
}

func (c *Catalog) entry(job *common.JobState) (slot, error) {
	timetable, err := c.interner.OfJob(&job.Job)
	if err != nil {
		timetable = schedule.Schedule{}
	}
	e, err := newEntry(job, timetable)
	if err != nil {
		return slot{}, err
	}
	return newSlot(job, e), nil
}

func (t *tables) put(s slot) {
	job := s.job
	delete(t.bad, job.name)
	if old, known := t.jobs[job.name]; known {
		delete(t.byUID, old.uid)
		t.need(old, -1)
		t.weigh(old, -1)
		delete(t.jobs, job.name) // its key is part of the value that is removed
	}
	t.names.put(s)
	t.jobs[job.name] = job
	t.byUID[job.uid] = job
	t.need(job, 1)
	t.weigh(job, 1)
}

// need adds or removes the features that a job needs of a worker.
func (t *tables) need(job *entry, by int) {
	for _, need := range job.needs {
		if t.needs[need] += by; t.needs[need] == 0 {
			delete(t.needs, need)
		}
	}
}

func (t *tables) drop(name string) {
	delete(t.bad, name)
	old, known := t.jobs[name]
	if !known {
		return
	}
	delete(t.jobs, name)
	delete(t.byUID, old.uid)
	t.need(old, -1)
	t.weigh(old, -1)
	t.names.drop(name)
}

// Name returns the name of the job with a uid.
func (c *Catalog) Name(uid string) (string, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if job := c.byUID[uid]; job != nil {
		return job.name, true
	}
	return "", false
}

// usage returns what all jobs use of the limits, and what those of a group use.
func (c *Catalog) usage(group string) (all, of usage) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.all, c.used[unique.Make(group)]
}

// Len returns the number of jobs, and the number of those that cannot be read.
func (c *Catalog) Len() (jobs, bad int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.jobs), len(c.bad)
}

// Paused returns the number of jobs that are paused at a time.
func (c *Catalog) Paused(now time.Time) (n int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, job := range c.jobs {
		if job.pausedAt(now) {
			n++
		}
	}
	return n
}

// Needs returns the features that any job needs, sorted.
func (c *Catalog) Needs() []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Sorted(maps.Keys(c.needs))
}

// Bad returns the jobs that cannot be read, with the errors.
func (c *Catalog) Bad() map[string]error {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return maps.Clone(c.bad)
}

// reach waits until the catalog has received a revision.
func (c *Catalog) reach(ctx context.Context, revision int64, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		c.mu.RLock()
		there, reached := c.revision >= revision, c.reached
		c.mu.RUnlock()
		if there {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-reached:
		}
	}
}

// Job returns a job by its name.
func (c *Catalog) Job(name string) (common.JobState, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if found, known := c.jobs[name]; known {
		return found.state(), true
	}
	return common.JobState{}, false
}

// Whose returns the uid and the group of a job, "" if there is no job of this name. known is false before all
// jobs were read, and for a job that cannot be read.
func (s *Store) Whose(name string) (uid, group string, known bool) {
	c := s.cfg.Catalog
	c.mu.RLock()
	defer c.mu.RUnlock()
	if job, exists := c.jobs[name]; exists {
		return job.uid, job.group.Value(), true
	}
	_, bad := c.bad[name]
	return "", "", c.revision > 0 && !bad
}

// has reports whether the catalog has a job of this name.
func (c *Catalog) has(name string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, bad := c.bad[name]
	return bad || c.jobs[name] != nil
}

// Told returns the jobs that have notifications; known is false before all jobs were read.
func (c *Catalog) Told() (notifying []common.JobState, known bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, job := range c.jobs {
		if job.notifies {
			notifying = append(notifying, job.state())
		}
	}
	return notifying, c.revision > 0
}

// entries returns all jobs that have a schedule, of one group if a group is given.
func (c *Catalog) entries(group string) []*entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := make([]*entry, 0, len(c.jobs))
	for _, job := range c.jobs {
		if !job.timetable.IsZero() && (group == "" || group == job.group.Value()) {
			all = append(all, job)
		}
	}
	return all
}
