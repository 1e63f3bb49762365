package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon/internal/common"
)

// Skips are the skipped fires of a job that wants to be notified of them. One notification per channel follows from
// the first time that they are frequent, until they are over: none of the job's last fires was skipped.
type Skips struct {
	Fires []RecentFire `json:"fires,omitempty"` // newest first, common.RecentFires at most; none before the first skipped one
	At    time.Time    `json:"at,omitzero"`     // since when they are frequent
	Of    int          `json:"of,omitempty"`    // number of the last fires at that time
	Told  []string     `json:"told,omitempty"`  // channels that were notified
}

// RecentFire is a fire by its planned time.
type RecentFire struct {
	At      time.Time `json:"at"`
	Skipped bool      `json:"skipped,omitempty"`
}

// zero reports whether there is nothing to remember.
func (s *Skips) zero() bool { return len(s.Fires) == 0 && s.At.IsZero() }

// fire reports whether it is the outcome of a fire of the job that is notified.
func (o *Outcome) fire() bool {
	return o.Step == nil && !o.Late && o.Steady.IsZero() && !o.ofBackfill() && !o.Run.Flow.OfBackfill() &&
		o.Run.Cause != common.CauseDaemon
}

// gaveWay reports whether the fire was skipped because of runs and fires of its own job.
func (o *Outcome) gaveWay() bool {
	return o.fire() && o.Run.Status == common.StatusSkipped && o.Run.Reason != nil && common.GivesWay(o.Run.Reason.Code)
}

// add adds the outcome of a fire, and reports whether that changed anything. Outcomes may come in any order, and again.
func (s *Skips) add(o *Outcome) bool {
	f := RecentFire{At: o.Run.PlannedAt.UTC(), Skipped: o.gaveWay()}
	if !o.fire() || len(s.Fires) == 0 && !f.Skipped {
		return false
	}
	i, known := slices.BinarySearchFunc(s.Fires, f, func(a, b RecentFire) int { return b.At.Compare(a.At) })
	switch {
	case known && s.Fires[i].Skipped && !f.Skipped: // it was run later
		s.Fires = slices.Clone(s.Fires)
		s.Fires[i] = f
	case !known && i < common.RecentFires:
		s.Fires = slices.Insert(slices.Clone(s.Fires), i, f)
		s.Fires = s.Fires[:min(len(s.Fires), common.RecentFires)]
	default:
		return false
	}
	skipped := 0
	for _, f := range s.Fires {
		if f.Skipped {
			skipped++
		}
	}
	switch {
	case skipped == 0:
		s.Fires = nil
	case f.Skipped && skipped >= common.OftenSkipped && s.At.IsZero():
		s.At, s.Of = f.At, len(s.Fires)
	}
	return true
}

// untold returns the channels of a job that are to be notified.
func (s *Skips) untold(notify *common.Notify) (channels []string) {
	if s.At.IsZero() || !notify.Wants(common.EventSkipped) {
		return nil
	}
	for _, to := range notify.To {
		if !slices.Contains(s.Told, to) && !slices.Contains(channels, to) {
			channels = append(channels, to)
		}
	}
	return channels
}

// tellSkips notifies channels of jobs that often skip fires, when they have room and it is no quiet hour, and forgets
// the skipped fires of jobs that are over them or do not want the event any more.
func (n *Notifier) tellSkips(ctx context.Context, now time.Time) error {
	jobs, _ := n.cfg.Jobs.Notifying()
	var errs []error
	for i := range jobs {
		errs = append(errs, n.tellSkipsOf(ctx, &jobs[i], now))
	}
	return errors.Join(errs...)
}

func (n *Notifier) tellSkipsOf(ctx context.Context, job *common.JobState, now time.Time) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	after := n.states[job.Name]
	if after.UID != job.UID || after.Skips.zero() {
		return nil
	}
	spent := n.budget
	notices, changed := n.decideSkips(job, &after.Skips, now)
	if !changed {
		return nil
	}
	written, ok, err := n.cfg.Store.Commit(ctx, []State{after}, notices)
	if err != nil || !ok {
		n.budget = spent
	}
	switch {
	case err != nil:
		return fmt.Errorf("write the skipped fires of job %s: %w", job.Name, err)
	case !ok: // decided again in the next round
		return n.reread(ctx, []State{after})
	}
	n.states[job.Name] = written[0]
	if len(notices) > 0 {
		n.backlog.add(notices)
		n.wakeSender()
		n.cfg.Log.Info("notification_created", "job", job.Name, "event", common.EventSkipped, "channels",
			after.Skips.Told)
	}
	return nil
}

// decideSkips returns the notifications that are due, and whether the skipped fires have changed.
func (n *Notifier) decideSkips(job *common.JobState, s *Skips, now time.Time) (notices []Notice, changed bool) {
	if !job.Notify.Wants(common.EventSkipped) {
		*s = Skips{}
		return nil, true
	}
	untold := s.untold(job.Notify)
	if len(s.Fires) == 0 && len(untold) == 0 {
		*s = Skips{}
		return nil, true
	}
	if quietAt(job, common.EventSkipped, now) {
		return nil, false
	}
	data := Data{
		Event:     SubjectSkipped,
		Job:       job.Name,
		Group:     job.Group,
		Title:     job.Title,
		PlannedAt: new(s.At),
		Skipped:   common.OftenSkipped,
		Fires:     s.Of,
	}
	data.URL = n.link(&data)
	for _, to := range untold {
		if !n.backlog.room(to) || !n.budget.takeOutput(now) {
			continue
		}
		s.Told = append(slices.Clip(s.Told), to)
		notices = append(notices, Notice{
			ID:        noticeID(s.At, job.UID, string(common.EventSkipped), to),
			Channel:   to,
			Subject:   SubjectSkipped,
			Status:    Waiting,
			CreatedAt: now,
			NextAt:    now,
			Data:      data,
		})
	}
	return notices, len(notices) > 0
}
