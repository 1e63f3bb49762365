package alerts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon/internal/common"
)

// mind looks after what the clock brings: runs that are late, summaries, and what may go.
func (n *Notifier) mind(ctx context.Context) error {
	var pruned time.Time
	for {
		now := n.cfg.Now()
		if now.Sub(pruned).Abs() >= pruneEvery {
			pruned = now
			err := errors.Join(n.cfg.Store.Prune(ctx, now.Add(-KeptFor), MaxKept), n.forget(ctx))
			n.trouble(ctx, "notices_not_pruned", err)
		}
		n.trouble(ctx, "late_runs_unknown", n.late(ctx, now.UTC()))
		n.trouble(ctx, "summary_not_written", n.summarize(ctx, now.UTC()))
		if !sleep(ctx, lateLook) {
			return nil
		}
	}
}

func (n *Notifier) trouble(ctx context.Context, event string, err error) {
	if err != nil && ctx.Err() == nil {
		n.cfg.Log.Warn(event, "error", err)
	}
}

// late settles what is late just now, where somebody wants to be told.
func (n *Notifier) late(ctx context.Context, now time.Time) error {
	var wanting []common.JobState
	told, _ := n.cfg.Jobs.Told()
	for _, job := range told {
		if job.Notify.Wants(common.EventLate) {
			wanting = append(wanting, job)
		}
	}
	if len(wanting) == 0 {
		return nil
	}
	runs, err := n.cfg.History.Late(ctx, wanting, now)
	if err != nil {
		return err
	}
	outcomes := make([]Outcome, len(runs))
	for i := range runs {
		outcomes[i] = Outcome{Run: runs[i], Late: true}
	}
	return n.settleAll(ctx, outcomes)
}

// summarize tells of the jobs that were held back, once there is room for it.
func (n *Notifier) summarize(ctx context.Context, now time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var held []State
	for _, s := range n.states {
		if s.Held {
			held = append(held, s)
		}
	}
	if _, known := n.cfg.Jobs.Told(); !known || len(held) == 0 || n.crowd >= MaxWaiting || !n.budget.take(now) {
		return nil
	}
	slices.SortFunc(held, func(a, b State) int { return cmp.Or(a.FirstAt.Compare(b.FirstAt), cmp.Compare(a.Job, b.Job)) })
	notices := n.summaries(held, now)
	for i := range held {
		held[i].Held, held[i].ToldAt = false, now
	}
	n.cfg.Log.Warn("notices_summarized", "jobs", len(held), "channels", len(notices))
	// All notices go with the first states: what comes after them may be told of twice, never not at all.
	for part := range slices.Chunk(held, perSummary) {
		first := notices[:min(len(notices), perSummary)]
		written, ok, err := n.cfg.Store.Commit(ctx, part, first)
		if err != nil {
			return err
		}
		if !ok {
			return n.reread(ctx, part)
		}
		notices = notices[len(first):]
		for _, s := range written {
			n.states[s.Job] = s
		}
	}
	n.poke()
	return nil
}

// summaries tells each channel how many jobs, and which first, are in trouble, or are so no more.
func (n *Notifier) summaries(held []State, now time.Time) (notices []Notice) {
	told := map[string]common.JobState{}
	jobsTold, _ := n.cfg.Jobs.Told()
	for _, job := range jobsTold {
		told[job.Name] = job
	}
	type about struct {
		channel string
		subject Subject
	}
	jobs := map[about][]string{}
	var order []about
	for i := range held {
		job, wanted := told[held[i].Job]
		if !wanted || job.UID != held[i].UID {
			continue
		}
		for j, to := range job.Notify.To {
			what := about{to, SubjectSummary}
			if !held[i].Trouble {
				what.subject = SubjectRecovered
			}
			if slices.Contains(job.Notify.To[:j], to) {
				continue
			}
			if jobs[what] == nil {
				order = append(order, what)
			}
			jobs[what] = append(jobs[what], held[i].Job)
		}
	}
	for _, what := range order {
		names := jobs[what]
		data := Data{Event: what.subject, Count: int64(len(names)), Jobs: names[:min(len(names), maxNamed)], FirstAt: new(held[0].FirstAt)}
		data.URL = n.link(&data)
		notices = append(notices, Notice{ID: noticeID(now, what.channel, string(what.subject), names[0]), Channel: what.channel, Subject: what.subject,
			Status: Waiting, CreatedAt: now, NextAt: now, Data: data})
	}
	return notices
}

// reread reads states that were not what they were taken for.
func (n *Notifier) reread(ctx context.Context, states []State) error {
	for _, s := range states {
		now, err := n.cfg.Store.State(ctx, s.Job)
		if err != nil {
			return fmt.Errorf("read notices of job %s: %w", s.Job, err)
		}
		n.states[s.Job] = now
	}
	return nil
}

// forget removes the states of jobs that are gone, or want nothing any more.
func (n *Notifier) forget(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	jobs, known := n.cfg.Jobs.Told()
	if !known {
		return nil
	}
	told := map[string]string{}
	for _, job := range jobs {
		told[job.Name] = job.UID
	}
	var gone []State
	for name, s := range n.states {
		if told[name] != s.UID {
			gone = append(gone, s)
			delete(n.states, name)
		}
	}
	return n.cfg.Store.Drop(ctx, gone)
}
