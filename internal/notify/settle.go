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
	add := func(o *Outcome) {
		job := o.job()
		if _, known := byJob[job]; !known {
			order = append(order, job)
		}
		byJob[job] = append(byJob[job], *o)
	}
	for i := range outcomes {
		o := &outcomes[i]
		if of, failed := o.ofStep(); failed {
			add(&of)
		}
		if !common.OfStep(o.job()) { // that of an inline step concerns its flow only
			add(o)
		}
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
	var version int64
	for i := range outcomes {
		if outcomes[i].Step == nil { // a job that a step runs has another version
			version = max(version, outcomes[i].Run.JobVersion)
		}
	}
	for range commitTries {
		before := n.states[name]
		calm := !before.Trouble && before.Failures == 0 && len(before.Skips.Fires) == 0
		if calm && !slices.ContainsFunc(outcomes, func(o Outcome) bool { return o.matters() }) {
			return nil, nil // no trouble, before and after
		}
		job, found, err := n.cfg.Jobs.AtLeast(ctx, name, version)
		if err != nil {
			return nil, fmt.Errorf("read job %s: %w", name, err)
		}
		if !found || job.Notify == nil && job.AutoPause == nil {
			return nil, nil
		}
		after := before
		if after.UID != job.UID { // another job has the name now
			after = State{Job: name, UID: job.UID, Version: before.Version}
		}
		spent := n.budget
		d, err := n.decide(ctx, &job, &after, outcomes)
		if err != nil {
			n.budget = spent
			return nil, err
		}
		if !d.changed {
			return nil, nil
		}
		// Before the outcome is counted: if this master stops in between, the next one finds the job paused.
		if d.pause && !job.PausedAt(n.cfg.Now()) {
			err := n.autoPause(ctx, &job, after.Failures)
			switch code := common.CodeOf(err); {
			case err == nil || code == common.CodeNotFound: // paused, or deleted meanwhile
			case code == common.CodeStale:
				n.budget, version = spent, job.Version+1
				continue
			case code == common.CodeUnavailable || code == common.CodeInternal:
				n.budget = spent
				return nil, err
			default: // this version cannot change the job; the notifications of all jobs must not wait for it
				n.cfg.Log.Error("job_not_paused", "job", job.Name, "failures", after.Failures, "error", err)
				d.notices = slices.DeleteFunc(d.notices, func(w Notice) bool { return w.Subject == SubjectPaused })
			}
		}
		notices, rest := d.notices, d.rest
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

// autoPause pauses a job that has failed too often.
func (n *Notifier) autoPause(ctx context.Context, job *common.JobState, failures int64) error {
	err := n.cfg.Jobs.Pause(ctx, job.Name, job.Version, pauseNote(failures))
	if err == nil {
		n.cfg.Log.Warn("job_auto_paused", "job", job.Name, "failures", failures)
	}
	return err
}

// pauseNote is the note of a job that is paused after consecutive failures.
func pauseNote(failures int64) string {
	return "auto-paused after " + common.Count(failures, "failure", "failures")
}

// decision is what follows from outcomes of a job.
type decision struct {
	notices []Notice
	rest    []Outcome // of which nothing is decided yet
	changed bool      // the state
	pause   bool      // the job
}

// decide updates a state with outcomes, up to the number of notifications that is written together.
func (n *Notifier) decide(ctx context.Context, job *common.JobState, s *State, outcomes []Outcome) (d decision,
	err error) {
	now, channels := n.cfg.Now().UTC(), 0
	if job.Notify != nil {
		channels = len(job.Notify.Channels())
	}
	for i := range outcomes {
		if len(d.notices) > 0 && len(d.notices)+3*channels > perCommit { // an outcome may have three events
			d.changed, d.rest = true, outcomes[i:]
			return d, nil
		}
		o := &outcomes[i]
		if !o.concerns(job) {
			continue
		}
		if job.Notify.Wants(common.EventSkipped) && s.Skips.add(o) { // tellSkips notifies them
			d.changed = true
		}
		if s.counted(o) {
			continue
		}
		told, err := n.judge(ctx, job, s, o, &d, now)
		if err != nil {
			return decision{}, err
		}
		// The message of a failure has the output, too.
		if o.printed() && job.Notify.Wants(common.EventOutput) && (told == "" || told == common.EventRecovered) {
			if !s.counted(o) {
				s.remember(o)
			}
			d.changed = true
			d.notices = append(d.notices, n.notices(job, s, o, common.EventOutput, now)...)
		}
	}
	return d, nil
}

// judge counts an outcome that begins, continues or ends a trouble, and returns the event that is notified, if any.
func (n *Notifier) judge(ctx context.Context, job *common.JobState, s *State, o *Outcome, d *decision,
	now time.Time) (told common.Event, err error) {
	event, _ := o.event()
	if event == "" && !s.Trouble && s.Failures == 0 ||
		event != "" && !job.Notify.Wants(event) && job.AutoPause == nil {
		return "", nil
	}
	if event != "" && !o.Late && o.Run.Attempt > 0 {
		more, err := n.cfg.History.Exists(ctx, common.RunID(o.Run.Fire, o.Run.Attempt+1))
		if err != nil {
			return "", fmt.Errorf("look up the attempt after %s: %w", o.Run.ID, err)
		}
		if more {
			return "", nil // a later attempt follows
		}
	}
	if o.tolerable() && job.Notify.Wants(event) && n.cfg.History.Tolerates(ctx, job.UID, o.Run.Flow) {
		return "", nil
	}
	tell, counted := s.take(o, job.Notify, now)
	if job.AutoPause != nil && s.tally(o) {
		if !counted {
			s.remember(o)
		}
		counted = true
	}
	d.changed = d.changed || counted
	if tell != "" {
		d.notices = append(d.notices, n.notices(job, s, o, tell, now)...)
	}
	free := !job.PausedAt(now) || job.PauseNote == pauseNote(s.Failures) // the latter by this outcome, earlier
	if event != "" && o.Step == nil && !o.ofBackfill() && !d.pause && free && job.FailsTooOften(s.Failures) {
		d.pause = true
		if job.Notify.Wants(common.EventPaused) {
			d.notices = append(d.notices, n.notices(job, s, o, common.EventPaused, now)...)
		}
	}
	return tell, nil
}

// notices returns one notification of an event per channel of a job. For a channel without room,
// the event is held for a summary; a channel with a held event of the trouble gets the recovery in
// a summary too. Output has a budget of its own, so that it never delays a failure.
func (n *Notifier) notices(job *common.JobState, s *State, o *Outcome, event common.Event, now time.Time) []Notice {
	data := dataOf(&job.StoredJob, o, event)
	held, quiet, take := &s.Held, &s.Quiet, n.budget.take
	if event == common.EventOutput {
		held, quiet, take = &s.Printed, &s.Muted, n.budget.takeOutput
	} else if !o.ofBackfill() {
		data.Count = s.Count
		if s.Count > 0 {
			data.FirstAt = new(s.FirstAt)
		}
		data.Flapping = s.flapping() && event != common.EventRecovered && event != common.EventPaused
	}
	if event == common.EventPaused {
		data.Failures = s.Failures
	}
	data.URL = n.link(&data)
	var open []string
	before := *held
	if event != common.EventOutput && s.BackfillAt.IsZero() && !o.ofBackfill() { // it repeats what was held
		*held = nil
	}
	hold := func(to string, list *[]string) {
		if !slices.Contains(*list, to) {
			*list = append(slices.Clip(*list), to)
		}
		if o.ofBackfill() && s.BackfillAt.IsZero() {
			s.BackfillAt = o.at()
		}
	}
	silent := quietAt(job, event, now)
	for _, to := range s.recipients(job, event) {
		switch {
		case silent || slices.Contains(*quiet, to):
			hold(to, quiet)
		case n.backlog.room(to) && (event != common.EventRecovered || !slices.Contains(before, to)):
			open = append(open, to)
		default:
			hold(to, held)
		}
	}
	if len(open) > 0 && !take(now) {
		for _, to := range open {
			hold(to, held)
		}
		open = nil
	}
	var all []Notice
	for _, to := range open {
		all = append(all, Notice{
			ID:        noticeID(o.at(), job.UID, o.name(), string(event), to),
			Channel:   to,
			Subject:   Subject(event),
			Status:    Waiting,
			CreatedAt: now,
			NextAt:    now.Add(firstTry),
			Data:      data,
		})
	}
	n.cfg.Log.Info("notification_created", "job", job.Name, "event", event, "run", data.Run, "channels", open, "held",
		*held, "quiet", *quiet, "count", data.Count)
	return all
}

// link returns the address in the console.
func (n *Notifier) link(d *Data) string {
	base := strings.TrimSuffix(n.cfg.PublicURL, "/")
	switch {
	case base == "":
		return ""
	case d.Run != "" && d.Backfill:
		return base + "/backfills/" + url.PathEscape(d.Run)
	case d.Run != "":
		return base + "/runs/" + url.PathEscape(d.Run)
	case d.Job != "":
		return base + "/jobs/" + url.PathEscape(d.Job)
	}
	return base + "/"
}
