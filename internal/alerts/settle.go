package alerts

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// settleAll settles outcomes, job by job, in the order in which they are.
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

// settle writes down what outcomes of a job mean, if anything.
func (n *Notifier) settle(ctx context.Context, name string, outcomes []Outcome) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(outcomes) > 0 && err == nil {
		outcomes, err = n.settleSome(ctx, name, outcomes)
	}
	return err
}

// settleSome settles as many outcomes as can be written together, and gives the others.
func (n *Notifier) settleSome(ctx context.Context, name string, outcomes []Outcome) (rest []Outcome, err error) {
	for range commitTries {
		before, inTrouble := n.states[name]
		if inTrouble = inTrouble && before.Trouble; !inTrouble && !slices.ContainsFunc(outcomes, func(o Outcome) bool { e, _ := o.event(); return e != "" }) {
			return nil, nil // all is well, and was
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
			n.crowd.add(notices)
			if len(notices) > 0 {
				n.poke()
			}
			return rest, nil
		}
		n.budget = spent // nothing is told
		if err != nil {
			return nil, fmt.Errorf("write notices of job %s: %w", name, err)
		}
		if n.states[name], err = n.cfg.Store.State(ctx, name); err != nil {
			return nil, fmt.Errorf("read notices of job %s: %w", name, err)
		}
	}
	return nil, fmt.Errorf("the notices of job %s change too fast", name)
}

// decide brings a state up to date with outcomes, and makes the notices, up to as many as are
// written together; the rest of the outcomes is for later.
func (n *Notifier) decide(ctx context.Context, job *common.JobState, s *State, outcomes []Outcome) (notices []Notice, rest []Outcome, changed bool, err error) {
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
				return nil, nil, false, fmt.Errorf("look for the attempt after %s: %w", o.Run.ID, err)
			}
			if more {
				continue // it is not the last word
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

// notices tells each channel of a job of an event, now or, where there is no room for it, in
// a summary. One that is to hear of the trouble there hears there too that it is over.
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
		case n.crowd.room(to) && (event != common.EventRecovered || !slices.Contains(held, to)):
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
		all = append(all, Notice{ID: noticeID(o.at(), job.UID, o.name(), string(event), to), Channel: to, Subject: Subject(event), Status: Waiting,
			CreatedAt: now, NextAt: now.Add(settleFor), Data: data})
	}
	n.cfg.Log.Info("notice_decided", "job", job.Name, "event", event, "run", data.Run, "channels", open, "held", s.Held, "count", s.Count)
	return all
}

// link is where the console shows it.
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
