// Package history reads the jobs and runs that notifications are about.
//
// It promises that a job is returned at the requested version or a later one, and that no run which etcd or the log
// store holds is left out: it returns an error while a source is away. It starts no goroutine.
package history

import (
	"context"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/notify"
	"carillon/internal/runlog"
)

// Catalog holds the jobs in memory.
type Catalog interface {
	Notifying() (jobs []common.JobState, known bool)
	Job(name string) (common.JobState, bool)
}

// Jobs reads jobs from etcd.
type Jobs interface {
	Get(ctx context.Context, name string) (common.JobState, error)
	Pause(ctx context.Context, actor common.Actor, name string, r common.PauseRequest,
		pre common.Precondition) (common.JobState, error)
}

// Live reads the runs that etcd holds.
type Live interface {
	LiveRun(ctx context.Context, run string) (common.Run, bool, error)
	OpenRuns(ctx context.Context) ([]common.Run, error)
	Replicas(ctx context.Context, job, uid string) ([]common.Run, *common.Move, error)
}

// Bodies reads definitions of flows.
type Bodies interface {
	Load(ctx context.Context, uid, digest string) (*flow.Definition, *flow.Graph, error)
}

// Config configures a Reader.
type Config struct {
	Catalog Catalog
	Jobs    Jobs
	Live    Live
	Runs    *runlog.View
	Habits  *runlog.Habits
	Acks    *runlog.Acks
	Bodies  Bodies
	// Overdue returns the jobs with a fire that no worker has claimed.
	Overdue func(ctx context.Context) ([]common.Overdue, error)
}

// Reader reads jobs and runs. It implements notify.Jobs and notify.History.
type Reader struct{ cfg Config }

// New returns a reader.
func New(cfg Config) *Reader { return &Reader{cfg: cfg} }

// Notifying returns the jobs with notifications or autoPause.
func (r *Reader) Notifying() (jobs []common.JobState, known bool) { return r.cfg.Catalog.Notifying() }

// AtLeast returns a job at a version or a later one: from etcd if the catalog has not received that version
// yet.
func (r *Reader) AtLeast(ctx context.Context, name string, version int64) (common.JobState, bool, error) {
	if job, known := r.cfg.Catalog.Job(name); known && job.Version >= version {
		return job, true, nil
	}
	job, err := r.cfg.Jobs.Get(ctx, name)
	if common.CodeOf(err) == common.CodeNotFound {
		return common.JobState{}, false, nil
	}
	return job, err == nil, err
}

// Pause pauses a job that has a version.
func (r *Reader) Pause(ctx context.Context, name string, version int64, note string) error {
	_, err := r.cfg.Jobs.Pause(ctx, common.Actor{Name: "carillon"}, name, common.PauseRequest{Note: note},
		common.Precondition{Version: version})
	return err
}

// Exists reports whether a run exists. While the log store is unavailable, etcd holds all runs that are not in
// it yet, including the attempt after an outcome that is in etcd.
func (r *Reader) Exists(ctx context.Context, run string) (bool, error) {
	_, err := r.cfg.Runs.Run(ctx, run)
	switch common.CodeOf(err) {
	case common.CodeNotFound:
		return false, nil
	case common.CodeUnavailable:
		_, found, err := r.cfg.Live.LiveRun(ctx, run)
		return found, err
	}
	return err == nil, err
}

// Tolerates reports whether a step of a flow may fail: false if its definition cannot be read, since a needless
// notification is better than none, or than all of them waiting for a log store that is away.
func (r *Reader) Tolerates(ctx context.Context, uid string, of *common.FlowNode) bool {
	_, graph, err := r.cfg.Bodies.Load(ctx, uid, of.Digest)
	if err != nil {
		return false
	}
	i, found := graph.Find(of.Node)
	return found && graph.Step(i).AllowFailure
}

const (
	// pageOfRuns is the number of runs of a job that are read together after a gap.
	pageOfRuns = 500
	// lookBack and lookBackMost limit how far before the gap runs are read: runs that ended in it may have been
	// planned long before.
	lookBack     = 24 * time.Hour
	lookBackMost = 1000
)

// Since returns a page of the runs of a job that may have ended since a time: first those planned before it,
// newest first, then those planned after it, oldest first.
func (r *Reader) Since(ctx context.Context, job string, since time.Time, after notify.Mark) ([]common.Run,
	notify.Mark, error) {
	first := after == notify.Mark{}
	q := runlog.Query{Job: job, From: since, Oldest: true, Limit: pageOfRuns}
	switch {
	case first:
		q.From, q.To, q.Oldest, q.Limit = since.Add(-lookBack), since, false, lookBackMost
	case after.Run != "":
		q.Before = &runlog.Position{PlannedAt: after.PlannedAt, ID: after.Run}
	}
	page, err := r.cfg.Runs.Runs(ctx, q)
	switch {
	case err == nil && page.Partial:
		return nil, after, common.Errorf(common.CodeUnavailable, "the log store does not respond")
	case err != nil:
		return nil, after, err
	case first:
		return page.Runs, notify.Mark{PlannedAt: since}, nil
	case page.Until != nil:
		return page.Runs, notify.Mark{PlannedAt: page.Until.PlannedAt, Run: page.Until.ID}, nil
	case len(page.Runs) < pageOfRuns:
		return page.Runs, notify.Mark{}, nil
	}
	last := &page.Runs[len(page.Runs)-1]
	return page.Runs, notify.Mark{PlannedAt: last.PlannedAt, Run: last.ID}, nil
}

// Tail returns the end of a run's output.
func (r *Reader) Tail(ctx context.Context, run string, printed int64, bytes int) (string, error) {
	chunks, err := r.cfg.Runs.Output(ctx, run, max(0, printed-int64(bytes)), common.MaxChunk)
	if err != nil {
		return "", err
	}
	var text []byte
	for _, c := range chunks {
		text = append(text, c.Data...)
	}
	if over := len(text) - bytes; over > 0 {
		text = text[over:]
	}
	return strings.ToValidUTF8(string(text), "\uFFFD"), nil
}

// Replicas returns the pending and running replicas of a daemon job.
func (r *Reader) Replicas(ctx context.Context, job, uid string) ([]common.Run, error) {
	runs, _, err := r.cfg.Live.Replicas(ctx, job, uid)
	return runs, err
}

// Acknowledged returns the latest acknowledgement of each job since a time.
func (r *Reader) Acknowledged(ctx context.Context, since time.Time) (map[string]notify.Ack, error) {
	found, partial, err := r.cfg.Acks.Since(ctx, since)
	if err == nil && partial {
		err = common.Errorf(common.CodeUnavailable, "the log store does not respond")
	}
	if err != nil {
		return nil, err
	}
	acks := make(map[string]notify.Ack, len(found))
	for job, ack := range found {
		acks[job] = notify.Ack{By: ack.By, At: ack.At}
	}
	return acks, nil
}

// Late returns the runs of the jobs that should have started or ended by now: runs that wait or run longer than
// usual, and fires that no worker has claimed.
func (r *Reader) Late(ctx context.Context, jobs []common.JobState, now time.Time) (late []common.Run, err error) {
	wanted := make(map[string]*common.JobState, len(jobs))
	for i := range jobs {
		wanted[jobs[i].Name] = &jobs[i]
	}
	live, err := r.cfg.Live.OpenRuns(ctx)
	if err != nil {
		return nil, err
	}
	live = slices.DeleteFunc(live, func(run common.Run) bool {
		return run.Status.Terminal() || wanted[run.Job] == nil || run.Flow.OfBackfill()
	})
	names := make([]string, len(live))
	for i := range live {
		names[i] = live[i].Job
	}
	usual, err := r.cfg.Habits.Of(ctx, names) // the remembered values while the log store is unavailable
	if err != nil && common.CodeOf(err) != common.CodeUnavailable {
		return nil, err
	}
	for i := range live {
		if e := usual[live[i].Job].Expectation; e.Late(&live[i], now) || e.Slow(&live[i], now) {
			late = append(late, live[i])
		}
	}
	overdue, err := r.cfg.Overdue(ctx)
	if err != nil {
		return nil, err
	}
	for _, o := range overdue {
		if job := wanted[o.Job]; job != nil {
			late = append(late, common.Run{
				Job:        o.Job,
				JobUID:     job.UID,
				JobVersion: job.Version,
				Group:      job.Group,
				Fire: common.PlannedFire(job.UID,
					o.PlannedAt),
				PlannedAt: o.PlannedAt,
				DueAt:     &o.DueAt,
				Cause:     common.CauseCron,
				Status:    common.StatusWaiting,
				Reason:    o.Reason,
			})
		}
	}
	return late, nil
}
