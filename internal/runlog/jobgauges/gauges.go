package jobgauges

import (
	"cmp"
	"context"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

const (
	every    = 15 * time.Second // between two looks
	newest   = 3                // runs of each job that an update reads
	together = 100              // jobs that are read with one call
	pages    = 5                // of a search for an older run; each is bounded by the log store
)

// Catalog knows the jobs.
type Catalog interface {
	// JobFigures returns the first jobs by name, limit at most, with their next fires, and the number of all jobs.
	JobFigures(limit int, now time.Time) (jobs []common.JobFigures, all int)
}

// History reads stored runs.
type History interface {
	Last(ctx context.Context, jobs []string, n int) (map[string][]common.Run, error)
	Runs(ctx context.Context, q runlog.Query) (runlog.Found, error)
}

// Config is what Gauges need.
type Config struct {
	Limit   int // most jobs that have figures
	Catalog Catalog
	History History
	Overdue func() []common.Overdue // jobs that are overdue, as the elected master found them
	// Count returns the numbers of replicas of daemon jobs, by job, from their uids.
	Count func(ctx context.Context, uids map[string]string) (map[string]common.ReplicaCounts, error)
	// Now returns the time, or why the jobs or the time are not known at present.
	Now    func() (time.Time, error)
	Away   func() bool                                 // reports whether the log store is away
	Show   func(jobs []common.JobFigures, omitted int) // receives the figures; nil when the term ends
	Report func(error)                                 // receives the result of each update
}

// Gauges compute the figures.
type Gauges struct {
	cfg   Config
	known map[string]*memory // by job; owned by Run
}

// New makes Gauges.
func New(cfg Config) *Gauges { return &Gauges{cfg: cfg} }

// Run computes the figures again and again until the context ends.
func (g *Gauges) Run(ctx context.Context) error {
	g.known = map[string]*memory{}
	defer g.cfg.Show(nil, 0)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		g.cfg.Report(g.update(ctx))
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
	}
}

func (g *Gauges) update(ctx context.Context) error {
	now, err := g.cfg.Now()
	if err != nil {
		return err
	}
	jobs, all := g.cfg.Catalog.JobFigures(g.cfg.Limit, now)
	g.forget(jobs)
	if !g.cfg.Away() {
		err = g.read(ctx, jobs)
	}
	err = cmp.Or(err, g.count(ctx, jobs))
	overdue := map[string]time.Time{}
	for _, o := range g.cfg.Overdue() {
		overdue[o.Job] = o.DueAt
	}
	for i := range jobs {
		job := &jobs[i]
		if m := g.known[job.Name]; m != nil && m.uid == job.UID {
			job.LastSuccess, job.LastStatus = m.success, m.status
		}
		if due, is := overdue[job.Name]; is {
			job.Overdue = max(0, now.Sub(due))
		}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	g.cfg.Show(jobs, all-len(jobs))
	return err
}

// count sets the numbers of replicas of daemon jobs.
func (g *Gauges) count(ctx context.Context, jobs []common.JobFigures) error {
	uids := map[string]string{}
	for i := range jobs {
		if jobs[i].Daemon != 0 {
			uids[jobs[i].Name] = jobs[i].UID
		}
	}
	if len(uids) == 0 {
		return nil
	}
	counts, err := g.cfg.Count(ctx, uids)
	if err != nil {
		return err
	}
	for i := range jobs {
		job := &jobs[i]
		found, counted := counts[job.Name]
		if !counted {
			continue
		}
		figures := common.ReplicaFigures{Wanted: int(job.Daemon), ReplicaCounts: found}
		switch {
		case job.Paused:
			figures.Wanted = 0
		case job.Daemon == common.AllWorkers:
			figures.Wanted = found.Pending + found.Running
		}
		job.Replicas = &figures
	}
	return nil
}

// forget drops what is known of jobs that no longer have figures.
func (g *Gauges) forget(jobs []common.JobFigures) {
	if len(g.known) == 0 {
		return
	}
	kept := make(map[string]*memory, len(jobs))
	for i := range jobs {
		if m := g.known[jobs[i].Name]; m != nil {
			kept[jobs[i].Name] = m
		}
	}
	g.known = kept
}

// read brings what is known of the jobs up to date.
func (g *Gauges) read(ctx context.Context, jobs []common.JobFigures) error {
	for part := range slices.Chunk(jobs, together) {
		names := make([]string, len(part))
		for i := range part {
			names[i] = part[i].Name
		}
		last, err := g.cfg.History.Last(ctx, names, newest)
		if err != nil {
			return err
		}
		for i := range part {
			job := &part[i]
			m := g.known[job.Name]
			if m == nil || m.uid != job.UID {
				m = &memory{uid: job.UID}
				g.known[job.Name] = m
			}
			runs := last[job.Name]
			asks := m.take(runs)
			if err := g.search(ctx, job, m, asks); err != nil {
				return err
			}
			m.seen = idsOf(runs)
		}
	}
	return nil
}

// search looks for what the newest runs do not tell.
func (g *Gauges) search(ctx context.Context, job *common.JobFigures, m *memory, asks questions) error {
	if asks.status {
		run, found, err := g.first(ctx, job, tellingStatuses())
		if err != nil {
			return err
		}
		if found {
			m.status = run.Status
		}
	}
	if asks.success {
		run, found, err := g.first(ctx, job, []common.Status{common.StatusSucceeded})
		if err != nil {
			return err
		}
		if found {
			m.succeeded(&run)
		}
	}
	return nil
}

// first returns the newest run of a job with one of the statuses.
func (g *Gauges) first(ctx context.Context, job *common.JobFigures, statuses []common.Status) (common.Run,
	bool, error) {
	q := runlog.Query{Job: job.Name, JobUID: job.UID, Statuses: statuses, Limit: 1}
	for range pages {
		found, err := g.cfg.History.Runs(ctx, q)
		if err != nil {
			return common.Run{}, false, err
		}
		if len(found.Runs) > 0 {
			return found.Runs[0], true, nil
		}
		if found.Until == nil {
			break
		}
		q.Before = found.Until
	}
	return common.Run{}, false, nil
}
