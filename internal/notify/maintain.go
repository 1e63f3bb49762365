package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon/internal/common"
)

// maintain does the periodic work: late runs, skipped fires, daemons that have recovered, summaries and pruning.
func (n *Notifier) maintain(ctx context.Context) error {
	var pruned time.Time
	unknown := false
	for {
		now := n.cfg.Now()
		if now.Sub(pruned).Abs() >= pruneEvery {
			pruned = now
			err := errors.Join(n.cfg.Store.Prune(ctx, now.Add(-KeptFor), MaxKept), n.forget(ctx))
			n.trouble(ctx, "notifications_not_pruned", err)
		}
		err := n.late(ctx, now.UTC())
		if !unknown { // logged once until a check succeeds again
			n.trouble(ctx, "late_runs_unknown", err)
		}
		unknown = err != nil
		daemons := n.recoverDaemons(ctx, now.UTC())
		n.trouble(ctx, "daemons_unknown", daemons)
		flapping := n.recoverFlapping(ctx, now.UTC())
		n.trouble(ctx, "recoveries_not_written", flapping)
		n.askAgain(ctx)
		escalated := n.escalateAll(ctx, now.UTC())
		n.trouble(ctx, "troubles_not_escalated", escalated)
		summary := n.summarize(ctx, now.UTC())
		n.trouble(ctx, "summary_not_written", summary)
		skips := n.tellSkips(ctx, now.UTC())
		n.trouble(ctx, "skipped_fires_not_written", skips)
		digest := n.digest(ctx, now.UTC())
		n.trouble(ctx, "digest_not_written", digest)
		if n.cfg.Report != nil {
			n.cfg.Report(errors.Join(err, daemons, flapping, escalated, summary, skips, digest))
		}
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

// late processes runs and fires that are late now, for jobs with late notifications.
func (n *Notifier) late(ctx context.Context, now time.Time) error {
	var wanting []common.JobState
	told, _ := n.cfg.Jobs.Notifying()
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

// summarize creates summaries for the channels with held events, once there is room for them.
func (n *Notifier) summarize(ctx context.Context, now time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	all, known := n.cfg.Jobs.Notifying()
	var channels []string
	for _, s := range n.states {
		for _, to := range slices.Concat(s.Held, s.Printed) {
			if n.backlog.room(to) && !slices.Contains(channels, to) {
				channels = append(channels, to)
			}
		}
	}
	if !known || len(channels) == 0 || !n.budget.take(now) {
		return nil
	}
	jobs := make(map[string]common.JobState, len(all))
	for _, job := range all {
		jobs[job.Name] = job
	}
	slices.Sort(channels)
	for some := range slices.Chunk(channels, perSummary/2) {
		if err := n.summarizeTo(ctx, some, jobs, now); err != nil {
			return err
		}
	}
	n.wakeSender()
	return nil
}

// summarizeTo creates summaries for some channels.
func (n *Notifier) summarizeTo(ctx context.Context, channels []string, jobs map[string]common.JobState,
	now time.Time) error {
	toOne := func(to string) bool { return slices.Contains(channels, to) }
	var held []State
	for _, s := range n.states {
		if slices.ContainsFunc(s.Held, toOne) || slices.ContainsFunc(s.Printed, toOne) {
			held = append(held, s)
		}
	}
	slices.SortFunc(held, func(a, b State) int {
		return cmp.Or(a.FirstAt.Compare(b.FirstAt), cmp.Compare(a.Job, b.Job))
	})
	notices := n.summaries(channels, held, jobs, now)
	for i := range held {
		held[i].Held = slices.DeleteFunc(slices.Clone(held[i].Held), toOne)
		held[i].Printed = slices.DeleteFunc(slices.Clone(held[i].Printed), toOne)
		held[i].listed()
	}
	n.cfg.Log.Warn("notifications_summarized", "jobs", len(held), "channels", channels)
	return n.writeSummaries(ctx, held, notices)
}

// writeSummaries writes summaries, and the states without what they contain.
func (n *Notifier) writeSummaries(ctx context.Context, held []State, notices []Notice) error {
	// The notifications are written with the first states: after a failure, later states may be
	// notified of twice, but never not at all.
	for part := range slices.Chunk(held, perSummary) {
		written, ok, err := n.cfg.Store.Commit(ctx, part, notices)
		if err != nil {
			return err
		}
		if !ok {
			return n.reread(ctx, part)
		}
		n.backlog.add(notices)
		notices = nil
		for _, s := range written {
			n.states[s.Job] = s
		}
	}
	return nil
}

// summaries returns one notification per channel for the jobs in trouble, one for those that have recovered, and one
// for those that have printed something: their number and the first names.
func (n *Notifier) summaries(channels []string, held []State, jobs map[string]common.JobState,
	now time.Time) (notices []Notice) {
	for _, to := range channels {
		for _, subject := range [...]Subject{SubjectSummary, SubjectRecovered, SubjectPrinted} {
			data := Data{Event: subject}
			for i := range held {
				s := &held[i]
				job, wanted := jobs[s.Job]
				if !s.heldFor(subject, to) || !wanted || job.UID != s.UID || job.Notify == nil ||
					!slices.Contains(job.Notify.To, to) && !slices.Contains(s.Raised, to) {
					continue
				}
				if data.Count++; data.Count == 1 && subject != SubjectPrinted {
					since, _ := s.ill()
					data.FirstAt = &since
				}
				if len(data.Jobs) < maxNamed {
					data.Jobs = append(data.Jobs, s.Job)
				}
			}
			if data.Count == 0 {
				continue
			}
			data.URL = n.link(&data)
			notices = append(notices, Notice{
				ID:        noticeID(now, to, string(subject), data.Jobs[0]),
				Channel:   to,
				Subject:   subject,
				Status:    Waiting,
				CreatedAt: now,
				NextAt:    now,
				Data:      data,
			})
		}
	}
	return notices
}

// heldFor reports whether a channel is to get a job in its summary of a kind.
func (s *State) heldFor(subject Subject, channel string) bool {
	if subject == SubjectPrinted {
		return slices.Contains(s.Printed, channel)
	}
	_, ill := s.ill()
	return ill == (subject == SubjectSummary) && slices.Contains(s.Held, channel)
}

// reread reads states that have changed since they were read.
func (n *Notifier) reread(ctx context.Context, states []State) error {
	for _, s := range states {
		now, err := n.cfg.Store.State(ctx, s.Job)
		if err != nil {
			return fmt.Errorf("read notification state of job %s: %w", s.Job, err)
		}
		n.states[s.Job] = now
	}
	return nil
}

// forget deletes the states of jobs that were deleted or have no notifications any more.
func (n *Notifier) forget(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	jobs, known := n.cfg.Jobs.Notifying()
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
