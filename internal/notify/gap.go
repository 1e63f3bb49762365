package notify

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// beginGap records that the outcomes between the place and now have to be read from the history.
func (n *Notifier) beginGap(ctx context.Context, place Place) (Place, error) {
	now, err := n.cfg.Store.Now(ctx)
	if err != nil {
		return place, err
	}
	place.Gap = &Gap{Revision: now, At: n.cfg.Now().UTC()}
	return n.cfg.Store.Move(ctx, place)
}

// overGap reads the history page by page from where it stopped, and moves the place behind the gap.
func (n *Notifier) overGap(ctx context.Context, place Place) (_ Place, err error) {
	n.pulse.behindSince(place.At)
	defer func() {
		if err == nil {
			n.pulse.upToDate()
		}
	}()
	since := place.At.Add(-overlapOf)
	jobs, _ := n.cfg.Jobs.Notifying()
	told := slices.SortedFunc(slices.Values(jobs), func(a, b common.JobState) int {
		return strings.Compare(a.Name, b.Name)
	})
	for i := range told {
		job := &told[i]
		if place.Gap == nil || job.Name < place.Gap.Job {
			continue
		}
		mark := Mark{}
		if job.Name == place.Gap.Job {
			mark = place.Gap.Mark
		}
		for more := true; more; {
			next, err := n.settlePage(ctx, job, job.Name, since, mark)
			if err != nil {
				return place, err
			}
			if next == (Mark{}) {
				if err := n.settleBackfills(ctx, job, since); err != nil {
					return place, err
				}
			}
			mark, more = next, next != (Mark{})
			gap := *place.Gap
			if gap.Job, gap.Mark = job.Name, mark; !more {
				if i+1 == len(told) {
					break
				}
				gap.Job = told[i+1].Name
			}
			place.Gap = &gap
			if place, err = n.cfg.Store.Move(ctx, place); err != nil || place.Gap == nil {
				return place, err
			}
			n.pulse.beat(n.cfg.Now())
		}
	}
	return n.cfg.Store.Move(ctx, Place{Revision: place.Gap.Revision, At: place.Gap.At, Version: place.Version})
}

// settlePage processes the outcomes of a page of the history of a job, or of its backfills, and returns the next page.
func (n *Notifier) settlePage(ctx context.Context, job *common.JobState, name string, since time.Time, mark Mark) (Mark,
	error) {
	runs, next, err := n.cfg.History.Since(ctx, name, since, mark)
	if err != nil {
		return mark, err
	}
	var outcomes []Outcome
	for _, run := range runs {
		if o := (Outcome{Run: run}); run.Status.Terminal() && run.JobUID == job.UID && !o.at().Before(since) {
			outcomes = append(outcomes, o)
			if job.Flow != nil && run.Job == job.Name && run.Status == common.StatusFailed &&
				!job.Notify.Wants(common.EventFailed) { // it may have failed steps that were not read
				o.Step = &StepOf{Job: run.Job, Run: run.ID}
				outcomes = append(outcomes, o)
			}
		}
	}
	slices.SortFunc(outcomes, func(a, b Outcome) int {
		return cmp.Or(a.at().Compare(b.at()), cmp.Compare(a.Run.ID, b.Run.ID))
	})
	return next, n.settleAll(ctx, outcomes)
}

// settleBackfills processes the outcomes of the backfills of a job: there are few.
func (n *Notifier) settleBackfills(ctx context.Context, job *common.JobState, since time.Time) error {
	if !job.HasSchedule() {
		return nil
	}
	for mark := (Mark{}); ; {
		next, err := n.settlePage(ctx, job, common.BackfillJob(job.Name), since, mark)
		if err != nil || next == (Mark{}) {
			return err
		}
		mark = next
	}
}
