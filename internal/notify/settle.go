package notify

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// settleAll processes outcomes job by job, in their order.
func (n *Notifier) settleAll(ctx context.Context, outcomes []Outcome) error {
	byJob := map[string][]Outcome{}
	var order []string
	for _, o := range outcomes {
		if _, known := byJob[o.Run.Job]; !known {
			order = append(order, o.Run.Job)
		}
		byJob[o.Run.Job] = append(byJob[o.Run.Job], o)
	}
	for _, job := range order {
		if err := n.settle(ctx, job, byJob[job]); err != nil {
			return err
		}
	}
	return nil
}

// settle processes outcomes of a job and stores the resulting notifications.
func (n *Notifier) settle(ctx context.Context, name string, outcomes []Outcome) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(outcomes) > 0 && err == nil {
		outcomes, err = n.settleSome(ctx, name, outcomes)
	}
	return err
}

// settleSome processes as many outcomes as can be written together, and returns the others.
func (n *Notifier) settleSome(ctx context.Context, name string, outcomes []Outcome) (rest []Outcome, err error) {
	for range commitTries {
		before, inTrouble := n.states[name]
		if inTrouble = inTrouble && before.Trouble; !inTrouble && !slices.ContainsFunc(outcomes, func(o Outcome) bool {
			e, _ := o.event()
			return e != ""
		}) {
			return nil, nil // no trouble, before and after
		}
		var version int64
		for i := range outcomes {
			version = max(version, outcomes[i].Run.JobVersion)
		}
		job, found, err := n.cfg.Jobs.AtLeast(ctx, name, version)
		if err != nil {
			return nil, fmt.Errorf("read job %s: %w", name, err)
		}
		if !found || job.Notify == nil {
			return nil, nil
		}
		after := before
		if after.UID != job.UID { // another job has the name now
			after = State{Job: name, UID: job.UID, Version: before.Version}
		}
		spent := n.budget
		notices, rest, changed, err := n.decide(ctx, &job, &after, outcomes)
		if err != nil {
			n.budget = spent
			return nil, err
		}
		if !changed {
			return nil, nil
		}
		written, ok, err := n.cfg.Store.Commit(ctx, []State{after}, notices)
		if err == nil && ok {
			n.states[name] = written[0]
			n.backlog.add(notices)
			if len(notices) > 0 {
				n.wakeSender()
			}
			return rest, nil
		}
		n.budget = spent // nothing was written
		if err != nil {
			return nil, fmt.Errorf("write notifications of job %s: %w", name, err)
		}
		if n.states[name], err = n.cfg.Store.State(ctx, name); err != nil {
			return nil, fmt.Errorf("read notification state of job %s: %w", name, err)
		}
	}
	return nil, fmt.Errorf("the notification state of job %s changes too fast", name)
}

// decide updates a state with outcomes and returns the notifications, up to the number that is
// written together, and the remaining outcomes.
func (n *Notifier) decide(ctx context.Context, job *common.JobState, s *State, outcomes []Outcome) (notices []Notice,
	rest []Outcome, changed bool, err error) {
	now := n.cfg.Now().UTC()
	for i := range outcomes {
		if len(notices)+common.MaxNotified > perCommit {
			return notices, outcomes[i:], true, nil
		}
		o := &outcomes[i]
		event, _ := o.event()
		if o.Run.JobUID != job.UID || s.counted(o) || event == "" && !s.Trouble {
			continue
		}
		if event != "" && !job.Notify.Wants(event) {
			continue
		}
		if event != "" && !o.Late && o.Run.Attempt > 0 {
			more, err := n.cfg.History.Exists(ctx, common.RunID(o.Run.Fire, o.Run.Attempt+1))
			if err != nil {
				return nil, nil, false, fmt.Errorf("look up the attempt after %s: %w", o.Run.ID, err)
			}
			if more {
				continue // a later attempt follows
			}
		}
		tell, counted := s.take(o, job.Notify, now)
		changed = changed || counted
		if tell == "" {
			continue
		}
		notices = append(notices, n.notices(job, s, o, tell, now)...)
	}
	return notices, nil, changed, nil
}

// notices returns one notification of an event per channel of a job. For a channel without room,
// the event is held for a summary; a channel with a held event of the trouble gets the recovery in
// a summary too.
func (n *Notifier) notices(job *common.JobState, s *State, o *Outcome, event common.Event, now time.Time) []Notice {
	data := dataOf(&job.StoredJob, &o.Run, event)
	data.Count, data.FirstAt = s.Count, new(s.FirstAt)
	data.URL = n.link(&data)
	var open []string
	held := s.Held
	s.Held = nil
	for i, to := range job.Notify.To {
		switch {
		case slices.Contains(job.Notify.To[:i], to):
		case n.backlog.room(to) && (event != common.EventRecovered || !slices.Contains(held, to)):
			open = append(open, to)
		default:
			s.Held = append(s.Held, to)
		}
	}
	if len(open) > 0 && !n.budget.take(now) {
		open, s.Held = nil, append(s.Held, open...)
	}
	var all []Notice
	for _, to := range open {
		all = append(all, Notice{
			ID:        noticeID(o.at(), job.UID, o.name(), string(event), to),
			Channel:   to,
			Subject:   Subject(event),
			Status:    Waiting,
			CreatedAt: now,
			NextAt:    now.Add(settleFor),
			Data:      data,
		})
	}
	n.cfg.Log.Info("notification_created", "job", job.Name, "event", event, "run", data.Run, "channels", open, "held",
		s.Held, "count", s.Count)
	return all
}

// link returns the address in the console.
func (n *Notifier) link(d *Data) string {
	base := strings.TrimSuffix(n.cfg.PublicURL, "/")
	switch {
	case base == "":
		return ""
	case d.Run != "":
		return base + "/runs/" + url.PathEscape(d.Run)
	case d.Job != "":
		return base + "/jobs/" + url.PathEscape(d.Job)
	}
	return base + "/"
}
