package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon/internal/common"
)

// recipients returns the channels that an event of the job is notified to. A recovery is notified to those that an
// escalation has notified, too.
func (s *State) recipients(job *common.JobState, event common.Event) []string {
	var to []string
	if job.Notify.Wants(event) {
		to = slices.Clone(job.Notify.To)
	}
	if event == common.EventRecovered {
		to = append(to, s.Raised...)
	}
	var once []string
	for _, name := range to {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return once
}

// escalateAll notifies further channels of troubles that last, unless they were acknowledged. It reads the
// acknowledgements once, and only while a job in trouble has channels left to notify.
func (n *Notifier) escalateAll(ctx context.Context, now time.Time) error {
	jobs, _ := n.cfg.Jobs.Notifying()
	var troubled []common.JobState
	since := now
	n.mu.Lock()
	for _, job := range jobs {
		if s := n.states[job.Name]; s.Trouble && s.UID == job.UID && s.unraised(job.Notify) &&
			!quietAt(&job, common.EventFailed, now) {
			troubled = append(troubled, job)
			if s.FirstAt.Before(since) {
				since = s.FirstAt
			}
		}
	}
	n.mu.Unlock()
	if len(troubled) == 0 {
		return nil
	}
	// Without the log store the remembered acknowledgements hold: an outage must not keep people from being told.
	acks, err := n.cfg.History.Acknowledged(ctx, since)
	if err != nil && common.CodeOf(err) != common.CodeUnavailable {
		return fmt.Errorf("read acknowledgements: %w", err)
	}
	errs := []error{err}
	for i := range troubled {
		errs = append(errs, n.escalate(ctx, &troubled[i], acks, err == nil, now))
	}
	return errors.Join(errs...)
}

// unraised reports whether a job has channels that no escalation of this trouble has notified yet.
func (s *State) unraised(notify *common.Notify) bool {
	return slices.ContainsFunc(notify.Escalations(), func(e common.Escalation) bool {
		return slices.ContainsFunc(e.To, func(to string) bool { return !slices.Contains(s.Raised, to) })
	})
}

// escalate notifies the channels whose time has come. It is decided again when the state has changed meanwhile.
func (n *Notifier) escalate(ctx context.Context, job *common.JobState, acks map[string]Ack, known bool,
	now time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	before := n.states[job.Name]
	if !before.Trouble || before.UID != job.UID {
		return nil
	}
	after := before
	after.Raised, after.Held = slices.Clone(before.Raised), slices.Clone(before.Held)
	if known {
		after.Acked = ""
		if ack := acks[job.Name]; !ack.At.Before(before.FirstAt) {
			after.Acked = ack.By
		}
	}
	spent := n.budget
	var notices []Notice
	if after.Acked == "" {
		notices = n.raise(job, &after, now)
	}
	if after.Acked == before.Acked && len(after.Raised) == len(before.Raised) {
		return nil
	}
	written, ok, err := n.cfg.Store.Commit(ctx, []State{after}, notices)
	if err != nil || !ok {
		n.budget = spent
	}
	switch {
	case err != nil:
		return fmt.Errorf("escalate the trouble of job %s: %w", job.Name, err)
	case !ok:
		return n.reread(ctx, []State{before})
	}
	n.states[job.Name] = written[0]
	n.backlog.add(notices)
	n.wakeSender()
	if raised := after.Raised[len(before.Raised):]; len(raised) > 0 {
		n.cfg.Log.Info("trouble_escalated", "job", job.Name, "channels", raised)
	}
	return nil
}

// raise marks the channels of all steps that are due as notified, and returns their notifications. A channel without
// room gets the job in a summary.
func (n *Notifier) raise(job *common.JobState, s *State, now time.Time) (notices []Notice) {
	for _, step := range job.Notify.Escalations() {
		if now.Sub(s.FirstAt) < step.After {
			break
		}
		data := Data{
			Event:   SubjectRaised,
			Job:     job.Name,
			Group:   job.Group,
			Title:   job.Title,
			Run:     s.Run,
			Count:   s.Count,
			FirstAt: new(s.FirstAt),
			Lasts:   common.Brief(step.After),
		}
		data.URL = n.link(&data)
		for _, to := range step.To {
			if slices.Contains(s.Raised, to) {
				continue
			}
			s.Raised = append(s.Raised, to)
			if !n.backlog.room(to) || !n.budget.take(now) {
				s.Held = append(s.Held, to)
				continue
			}
			notices = append(notices, Notice{
				ID:        noticeID(s.FirstAt, job.UID, "escalated", step.After.String(), to),
				Channel:   to,
				Subject:   SubjectRaised,
				Status:    Waiting,
				CreatedAt: now,
				NextAt:    now,
				Data:      data,
			})
		}
	}
	return notices
}
