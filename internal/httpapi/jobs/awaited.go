package jobs

import (
	"context"
	"fmt"
	"sync"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

const (
	// Codes of warnings of steps that wait.
	warnKeptShort = "kept_too_short"
	warnKeptFew   = "kept_too_few"
	// mostNamed bounds the jobs that are read for the warnings of one request.
	mostNamed = 500
	// gapsWalked is the number of fires of a flow between which the longest time is searched; dense schedules with
	// pauses, as at night, are looked at every probeEvery for probed in addition.
	gapsWalked = 100
	probeEvery = 12 * time.Hour
	probed     = 62 * 24 * time.Hour
)

// named reads jobs that flows name, for the warnings of one request: each of them once. It is safe for concurrent use.
type named struct {
	jobs Store

	mu    sync.Mutex
	known map[string]*common.Job // guarded by mu
}

func (s *Resource) newNamed() *named { return &named{jobs: s.Jobs, known: map[string]*common.Job{}} }

// of returns a job that a flow names. It is nil if there is none yet, if the caller must not see it, or if the request
// names too many.
func (n *named) of(ctx context.Context, flow *common.Job, name string) *common.Job {
	if name == flow.Name {
		return flow
	}
	n.mu.Lock()
	job, read := n.known[name]
	full := len(n.known) >= mostNamed
	n.mu.Unlock()
	if read || full {
		return job
	}
	if target, err := n.jobs.Get(ctx, name); err == nil && core.May(ctx, access.Viewer, target.Group) {
		job = &target.Job
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[name] = job
	return job
}

// awaitedKept points out steps that wait for fires whose entries the awaited job may not keep for as long: those of the
// interval of the flow run, or the last fire of the flow itself. The last fire of another job is kept by retention.
func (s *Resource) awaitedKept(ctx context.Context, job *common.Job, named *named, all *common.Faults) {
	var gap interval
	for i := range job.Steps {
		w := job.Steps[i].Wait
		if w == nil || w.Selection() != common.WaitInterval &&
			(w.Selection() != common.WaitLatest || w.Job != job.Name) {
			continue
		}
		if gap.to.IsZero() {
			if gap = s.longestGap(job); gap.length() <= 0 {
				return // without fires there are no intervals
			}
		}
		if target := named.of(ctx, job, w.Job); target != nil {
			s.keptFor(target, gap, fmt.Sprintf("steps[%d].wait.job", i), all)
		}
	}
}

// keptFor adds a warning if a job does not keep its fires of an interval until it ends.
func (s *Resource) keptFor(job *common.Job, gap interval, at string, all *common.Faults) {
	var kept common.Retention
	if job.Retention != nil {
		kept = *job.Retention
	}
	if age := kept.Age.Or(common.DefaultRetention); age < gap.length() {
		span := common.DurationOf(gap.length())
		f := all.Add(at, warnKeptShort, job.Name, "keeps its runs for %s, and fires of up to %s are waited for: their "+
			"entries may be deleted before", common.DurationOf(age), span)
		f.Hint = "set a longer retention.age in that job"
		f.With("age", common.DurationOf(age), "span", span)
		return
	}
	if kept.Runs == 0 || kept.Runs >= common.MaxAwaited {
		return
	}
	plan, err := s.Interner.OfJob(job)
	if err != nil || plan.IsZero() {
		return // reported with the job
	}
	fires, _, err := plan.Passed(gap.from, gap.to, common.MaxAwaited)
	if err == nil && fires > int64(kept.Runs) {
		f := all.Add(at, warnKeptFew, job.Name, "keeps %s, and up to %d fires are waited for: the entries of the "+
			"first ones may be deleted before", common.Count(kept.Runs, "run", "runs"), fires)
		f.Hint = "set a larger retention.runs in that job"
		f.With("runs", kept.Runs, "fires", fires)
	}
}

// interval is the time between two fires of a flow that follow each other.
type interval struct{ from, to time.Time }

func (i interval) length() time.Duration { return i.to.Sub(i.from) }

// longestGap returns the longest time between fires of a job that was found from now on.
func (s *Resource) longestGap(job *common.Job) (longest interval) {
	plan, err := s.Interner.OfJob(job)
	now := s.Now()
	if err != nil || plan.IsZero() {
		return longest
	}
	look := func(from time.Time) (time.Time, bool) {
		next, found, err := plan.Next(from)
		if err != nil || !found {
			return next, false
		}
		if last, found, err := plan.Previous(next); err == nil && found && next.Sub(last) > longest.length() {
			longest = interval{last, next}
		}
		return next, true
	}
	for at, ok, n := now, true, 0; ok && n < gapsWalked; n++ {
		at, ok = look(at)
	}
	for d := probeEvery; d < probed; d += probeEvery {
		look(now.Add(d))
	}
	return longest
}
