package notify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"carillon/internal/common"
)

// skips notifies that jobs often skip fires: once, until none of the last fires was skipped. It is no trouble, since
// the job requested it, so it is never held for a summary: in quiet hours, or without room in a channel, it waits for a
// later look.
func (n *Notifier) skips(ctx context.Context) error {
	var wanting []common.JobState
	told, _ := n.cfg.Jobs.Notifying()
	for _, job := range told {
		if job.Notify.Wants(common.EventSkipped) {
			wanting = append(wanting, job)
		}
	}
	if len(wanting) == 0 {
		return nil
	}
	found, err := n.cfg.History.Skips(ctx, wanting)
	if err != nil {
		return err
	}
	var errs []error
	for i := range wanting {
		errs = append(errs, n.noteSkips(ctx, &wanting[i], found[wanting[i].Name]))
	}
	return errors.Join(errs...)
}

// noteSkips notifies a job's skips, or that they are over. It is decided again when the state has changed meanwhile.
func (n *Notifier) noteSkips(ctx context.Context, job *common.JobState, found Skips) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	now := n.cfg.Now().UTC()
	before := n.states[job.Name]
	after := before
	if after.UID != job.UID { // another job has the name now
		after = State{Job: job.Name, UID: job.UID, Version: before.Version}
	}
	var notices []Notice
	spent := n.budget
	switch known := !after.SkipsAt.IsZero(); {
	case !known && found.Often && !quietAt(job, common.EventSkipped, now):
		after.SkipsAt = now
		if notices = n.skipNotices(job, &after, found); notices == nil {
			return nil
		}
	case known && found.Skipped == 0:
		after.SkipsAt = time.Time{}
	default:
		return nil
	}
	written, ok, err := n.cfg.Store.Commit(ctx, []State{after}, notices)
	if err != nil || !ok {
		n.budget = spent
	}
	switch {
	case err != nil:
		return fmt.Errorf("write the skipped fires of job %s: %w", job.Name, err)
	case !ok:
		return n.reread(ctx, []State{{Job: job.Name}})
	}
	n.states[job.Name] = written[0]
	if len(notices) > 0 {
		n.backlog.add(notices)
		n.wakeSender()
		n.cfg.Log.Info("notification_created", "job", job.Name, "event", common.EventSkipped, "channels", job.Notify.To,
			"count", found.Skipped)
	}
	return nil
}

// skipNotices returns one notification per channel; nil if one of them has no room now.
func (n *Notifier) skipNotices(job *common.JobState, s *State, found Skips) (all []Notice) {
	now := s.SkipsAt
	data := Data{
		Event:   SubjectSkipped,
		Job:     job.Name,
		Group:   job.Group,
		Title:   job.Title,
		Skipped: found.Skipped,
		Fires:   found.Of,
	}
	data.URL = n.link(&data)
	for _, to := range s.recipients(job, common.EventSkipped) {
		if !n.backlog.room(to) {
			return nil
		}
		all = append(all, Notice{
			ID:        noticeID(now, job.UID, string(common.EventSkipped), to),
			Channel:   to,
			Subject:   SubjectSkipped,
			Status:    Waiting,
			CreatedAt: now,
			NextAt:    now,
			Data:      data,
		})
	}
	if !n.budget.take(now) {
		return nil
	}
	return all
}
