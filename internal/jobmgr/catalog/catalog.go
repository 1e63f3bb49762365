package catalog

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
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
	now      func() time.Time

	mu sync.RWMutex
	tables
	next     *tables // a list that is being received in parts; owned by Run
	revision int64
	reached  chan struct{} // closed when revision grows
	expected int64         // revision that lists wait for
}

// tables holds the jobs, indexed in the ways in which they are looked up.
type tables struct {
	jobs  map[string]*Entry
	names ordered
	byUID map[string]*Entry
	bad   map[string]error
	needs map[string]int // features, and how many jobs need each
	named map[string]int // names in after, and how many jobs have each
	// inSteps holds the names of jobs that steps run or wait for, and in how many flows.
	inSteps map[string]int
	all     Usage
	used    map[unique.Handle[string]]Usage // by group
}

// Usage is the number of jobs and the size of their definitions.
type Usage struct {
	Jobs  int
	Bytes int64
}

func newTables() tables {
	return tables{
		jobs:  map[string]*Entry{},
		byUID: map[string]*Entry{},
		bad:   map[string]error{},
		needs: map[string]int{},
		named: map[string]int{},

		inSteps: map[string]int{},
		used:    map[unique.Handle[string]]Usage{},
	}
}

// New returns an empty catalog.
func New(watcher *Watcher, interner *schedule.Interner, now func() time.Time) *Catalog {
	return &Catalog{watcher: watcher, interner: interner, now: now, tables: newTables(), reached: make(chan struct{})}
}

// Run keeps the catalog up to date until the context ends.
func (c *Catalog) Run(ctx context.Context) error {
	return c.watcher.Run(ctx, func(_ context.Context, u Update) error {
		c.apply(u)
		return nil
	})
}

func (c *Catalog) apply(u Update) {
	rows := make([]row, 0, len(u.Jobs))
	for i := range u.Jobs {
		e, err := NewEntry(&u.Jobs[i], c.interner)
		if err != nil {
			u.Bad = append(u.Bad, BadJob{Name: u.Jobs[i].Name, Err: err})
			continue
		}
		rows = append(rows, newRow(&u.Jobs[i], e))
	}
	if u.Whole {
		c.next = new(newTables())
	}
	if c.next != nil { // until the list is complete, readers see the previous one
		c.next.apply(&u, rows)
		if u.More {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.next != nil {
		c.tables, c.next = *c.next, nil
	} else {
		c.tables.apply(&u, rows)
	}
	c.revision = max(c.revision, u.Revision)
	close(c.reached)
	c.reached = make(chan struct{})
}

func (t *tables) apply(u *Update, rows []row) {
	for _, r := range rows {
		t.put(r)
	}
	for _, b := range u.Bad {
		t.drop(b.Name)
		t.bad[b.Name] = b.Err
	}
	for _, name := range u.Gone {
		t.drop(name)
	}
}

func (t *tables) put(r row) {
	job := r.job
	delete(t.bad, job.Name)
	if old, known := t.jobs[job.Name]; known {
		delete(t.byUID, old.UID)
		t.count(old, -1)
		delete(t.jobs, job.Name) // its key is part of the value that is removed
	}
	t.names.put(r)
	t.jobs[job.Name] = job
	t.byUID[job.UID] = job
	t.count(job, 1)
}

// count adds the features that a job needs of a worker, its parents, the jobs of its steps, and its size, or removes
// them if by is -1.
func (t *tables) count(job *Entry, by int) {
	for _, need := range job.needs {
		if t.needs[need] += by; t.needs[need] == 0 {
			delete(t.needs, need)
		}
	}
	refers := job.refers.Value()
	add := func(counts map[string]int, names string) {
		for name := range strings.FieldsSeq(names) {
			if counts[name] += by; counts[name] == 0 {
				delete(counts, name)
			}
		}
	}
	add(t.named, refers.parents)
	add(t.inSteps, refers.steps)
	add(t.inSteps, refers.waits)
	size := int64(by * (len(job.text) + int(job.body)))
	t.all.Jobs, t.all.Bytes = t.all.Jobs+by, t.all.Bytes+size
	of := t.used[job.group]
	of.Jobs, of.Bytes = of.Jobs+by, of.Bytes+size
	if t.used[job.group] = of; of.Jobs == 0 {
		delete(t.used, job.group)
	}
}

func (t *tables) drop(name string) {
	delete(t.bad, name)
	old, known := t.jobs[name]
	if !known {
		return
	}
	delete(t.jobs, name)
	delete(t.byUID, old.UID)
	t.count(old, -1)
	t.names.drop(name)
}

// Name returns the name of the job with a uid.
func (c *Catalog) Name(uid string) (string, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if job := c.byUID[uid]; job != nil {
		return job.Name, true
	}
	return "", false
}

// Flow returns the name of the job with a uid, and the digest of its steps, which is empty if it is no flow. exists is
// false without such a job.
func (c *Catalog) Flow(uid string) (job, digest string, exists bool) {
	c.mu.RLock()
	found := c.byUID[uid]
	c.mu.RUnlock()
	switch {
	case found == nil:
		return "", "", false
	case found.body == 0:
		return found.Name, "", true
	}
	state := found.State()
	if state.HasBody() {
		digest = state.Flow.Digest
	}
	return found.Name, digest, true
}

// UIDs returns the uids of all jobs, by name.
func (c *Catalog) UIDs() map[string]string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	uids := make(map[string]string, len(c.jobs))
	for name, job := range c.jobs {
		uids[name] = job.UID
	}
	return uids
}

// Usage returns what all jobs use of the limits, and what those of a group and of the groups within it use.
func (c *Catalog) Usage(group string) (all, of Usage) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for g, u := range c.used {
		if g.Value() == group || common.InGroup(g.Value(), group) {
			of.Jobs, of.Bytes = of.Jobs+u.Jobs, of.Bytes+u.Bytes
		}
	}
	return c.all, of
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

// Expect makes the lists that follow wait, for a second at most, until the catalog has received a revision.
func (c *Catalog) Expect(revision int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.expected = max(c.expected, revision)
}

// Sync waits, for a second at most, for the expected revision, and returns the one that was received.
func (c *Catalog) Sync(ctx context.Context) (revision int64) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	c.mu.RLock()
	expected := c.expected
	c.mu.RUnlock()
	for {
		c.mu.RLock()
		revision, reached := c.revision, c.reached
		c.mu.RUnlock()
		if revision >= expected {
			return revision
		}
		select {
		case <-ctx.Done():
			return revision
		case <-reached:
		}
	}
}

// Job returns a job by its name.
func (c *Catalog) Job(name string) (common.JobState, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if found, known := c.jobs[name]; known {
		return found.State(), true
	}
	return common.JobState{}, false
}

// UIDAndGroup returns the uid and the group of a job, "" if there is no job of this name. known is false before all
// jobs were read, and for a job that cannot be read.
func (c *Catalog) UIDAndGroup(name string) (uid, group string, known bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if job, exists := c.jobs[name]; exists {
		return job.UID, job.Group(), true
	}
	_, bad := c.bad[name]
	return "", "", c.revision > 0 && !bad
}

// Title returns the title of a job; "" without a title or a job.
func (c *Catalog) Title(name string) string {
	c.mu.RLock()
	job := c.jobs[name]
	c.mu.RUnlock()
	if job == nil {
		return ""
	}
	return job.Title()
}

// Has reports whether the catalog has a job of this name.
func (c *Catalog) Has(name string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	_, bad := c.bad[name]
	return bad || c.jobs[name] != nil
}

// IsParent reports whether other jobs name a job in after.
func (c *Catalog) IsParent(name string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.named[name] > 0
}

// Notifying returns the jobs that have notifications or autoPause; known is false before all jobs were read.
func (c *Catalog) Notifying() (jobs []common.JobState, known bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, job := range c.jobs {
		if job.refers.Value().channels != "" || job.autoPause {
			jobs = append(jobs, job.State())
		}
	}
	return jobs, c.revision > 0
}

// Scheduled returns all jobs that have a schedule, of one group if a group is given.
func (c *Catalog) Scheduled(group string) []*Entry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	all := make([]*Entry, 0, len(c.jobs))
	for _, job := range c.jobs {
		if !job.Timetable.IsZero() && (group == "" || group == job.Group()) {
			all = append(all, job)
		}
	}
	return all
}

// Since returns the jobs that were saved after a revision, in no order, and the revision that the catalog has received.
func (c *Catalog) Since(revision int64) (jobs []common.JobState, received int64) {
	c.mu.RLock()
	found, received := make([]*Entry, 0, 64), c.revision
	for _, job := range c.jobs {
		if job.version > revision {
			found = append(found, job)
		}
	}
	c.mu.RUnlock()
	jobs = make([]common.JobState, len(found))
	for i := range found {
		jobs[i] = found[i].State()
	}
	return jobs, received
}

// Plans returns all jobs that have a schedule, in no order: of each job only what planning needs, which is
// its identity, cursor, pause, jitter and retention.
func (c *Catalog) Plans() iter.Seq2[*common.JobState, schedule.Schedule] {
	return func(yield func(*common.JobState, schedule.Schedule) bool) {
		for _, job := range c.Scheduled("") {
			if !yield(job.Plan(), job.Timetable) {
				return
			}
		}
	}
}

// Lag returns the time since the jobs were last confirmed to be complete.
func (c *Catalog) Lag() time.Duration { return c.watcher.Lag() }

// Fault returns why the jobs are not known as of now.
func (c *Catalog) Fault() error {
	if err := c.watcher.Fault(); err != nil {
		return err
	}
	if !c.Whole() {
		return errors.New("jobs not read yet")
	}
	return nil
}

// Whole reports whether the catalog has received a complete list of the jobs: a job that is not in it does
// not exist then.
func (c *Catalog) Whole() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.revision > 0
}

// Retention returns how long a job's runs are kept. exists is false if there is no such job; an error reports
// why a job cannot be read.
func (c *Catalog) Retention(name string) (r common.Retention, exists bool, err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if err, bad := c.bad[name]; bad {
		return common.Retention{}, true, err
	}
	job, exists := c.jobs[name]
	if !exists || job.retention == nil {
		return common.Retention{}, exists, nil
	}
	if r = *job.retention; r.Age != "" {
		_, err = r.Age.Value() // an unreadable value must not become the default
	}
	return r, true, err
}

// JobFigures returns the first jobs by name, limit at most, with their next fires, and the number of all jobs.
func (c *Catalog) JobFigures(limit int, now time.Time) (jobs []common.JobFigures, all int) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	jobs = make([]common.JobFigures, 0, min(limit, len(c.jobs)))
	for r := range c.names.after("") {
		if len(jobs) == limit {
			break
		}
		job := common.JobFigures{Name: r.job.Name, UID: r.job.UID, Daemon: common.Fleet(r.job.daemon),
			Paused: r.job.pausedAt(now)}
		if next := r.nextFire(now.UnixNano()); next != noFire {
			job.NextFire = time.Unix(0, next)
		}
		jobs = append(jobs, job)
	}
	return jobs, len(c.jobs)
}
