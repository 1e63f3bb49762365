package waits

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

// span is the range of planned times of a job in which a step waits for fires, both inclusive.
type span struct {
	from, to time.Time
	latest   bool // only the last fire in it
	recorded bool // only fires of which the ledger has an entry
}

// most returns the number of fires that decide what follows: if there are more, the newest ones.
func (s span) most() int {
	if s.latest {
		return 1
	}
	return common.MaxAwaited
}

// errNone is the error of spanOf if the schedule has no such fire.
var errNone = errors.New("the schedule has no such fire")

// spanOf returns where the fires of a job are that a step waits for.
func spanOf(wait *common.FlowWait, plan schedule.Schedule) (s span, err error) {
	a, at := wait.Awaited, wait.PlannedAt
	switch a.Fires {
	case common.WaitSame:
		return span{from: at, to: at}, nil
	case common.WaitLatest:
		if plan.IsZero() || plan.Floating() {
			return s, errNone
		}
		if a.Job == wait.Flow.Job {
			return spanOfSelf(at, plan)
		}
		last, found, err := plan.Previous(at.Add(1))
		if err == nil && !found {
			err = errNone
		}
		return span{from: last.UTC(), to: at, latest: true}, err
	default:
		if a.Interval == nil { // the keeper has refused the step
			return s, errNone
		}
		return span{from: a.Interval.Start.Add(1), to: a.Interval.End}, nil
	}
}

// periodsBack is how many periods before its own fire a flow looks for its last one.
const periodsBack = 10

// spanOfSelf returns where the last fire of a flow is that waits for itself. It counts only if the ledger has it: the
// schedule may be newer than the time before it, and a fire that waited for one that was never planned would block all
// later ones.
func spanOfSelf(at time.Time, plan schedule.Schedule) (s span, err error) {
	last, found, err := plan.Previous(at)
	if err != nil {
		return s, err
	}
	if !found { // the first fire of the schedule
		last = at
	}
	return span{from: at.Add(-periodsBack * at.Sub(last)), to: at.Add(-1), latest: true, recorded: true}, nil
}

// verdict is what follows for a step from the state of the fires that it waits for: its end, or what is missing.
type verdict struct {
	status common.Status  // of its end; empty: it waits on
	reason *common.Reason // of its end
	now    common.AwaitedNow
	fire   time.Time // that has ended without success, and with it the wait
}

// of returns the verdict with the fire that it is about.
func (v verdict) of(fire time.Time) verdict {
	v.fire = fire
	return v
}

func ended(status common.Status, code, text string, data map[string]string) verdict {
	return verdict{status: status, reason: &common.Reason{Code: code, Text: text, Data: data}}
}

// missing ends a wait for a job that does not exist.
func missing(job string) verdict {
	return ended(common.StatusRefused, common.ReasonJobMissing, fmt.Sprintf("there is no job %q", job),
		map[string]string{"job": job})
}

// noFire ends a wait for a fire that the schedule does not have.
func noFire(wait *common.FlowWait) verdict {
	a := wait.Awaited
	at, when := wait.PlannedAt.UTC().Format(time.RFC3339), "before"
	if a.Fires == common.WaitSame {
		when = "at"
	}
	text := fmt.Sprintf("the schedule of job %q has no fire %s %s", a.Job, when, at)
	if a.Fires == common.WaitInterval {
		text = fmt.Sprintf("job %q has no schedule", a.Job)
	}
	return ended(common.StatusRefused, common.ReasonNoSuchFire, text,
		map[string]string{"job": a.Job, "at": at})
}

// tooMany ends a wait for more fires than a step can wait for.
func tooMany(job string) verdict {
	return ended(common.StatusRefused, common.ReasonTooManyFires,
		fmt.Sprintf("job %q has more than %d fires in the interval", job, common.MaxAwaited),
		map[string]string{"job": job, "most": fmt.Sprint(common.MaxAwaited)})
}

// decide returns what follows for a step that waits for the fires of a job in a range. ends holds the last attempts of
// the fires of its schedule in this range, by planned time in Unix nanoseconds; it may hold others.
func decide(wait *common.FlowWait, job *common.JobState, plan schedule.Schedule, in span,
	ends map[int64]*common.Run, now time.Time) (verdict, error) {
	fires, err := firesOf(job, plan, in, ends)
	a := wait.Awaited
	switch {
	case err != nil:
		return verdict{}, err
	case len(fires) > common.MaxAwaited:
		return tooMany(a.Job), nil
	case len(fires) == 0 && !in.recorded && (a.Fires != common.WaitInterval || plan.IsZero()):
		return noFire(wait), nil
	}
	found := common.AwaitedNow{Total: len(fires)}
	for _, at := range fires {
		run := ends[at.UnixNano()]
		if run != nil && succeeded(run) {
			continue
		}
		fire := common.AwaitedFire{At: at}
		switch {
		case run != nil:
			fire.Status = run.Status
		case at.After(job.Cursor):
			fire.Status = common.StatusPlanned
		default:
			fire.Expired = expired(job, at, now)
		}
		if run != nil && run.Status.Terminal() && a.OnFailure == common.FailureFails {
			planned := at.Format(time.RFC3339)
			return ended(common.StatusFailed, common.ReasonFireFailed,
				fmt.Sprintf("the fire of job %q at %s has ended: %s", a.Job, planned, run.Status),
				map[string]string{"job": a.Job, "at": planned, "status": string(run.Status), "run": run.ID}).of(at), nil
		}
		if found.Open++; len(found.Missing) < common.MostAwaitedNamed {
			found.Missing = append(found.Missing, fire)
		}
	}
	if found.Open > 0 {
		return verdict{now: found}, nil
	}
	return ended(common.StatusSucceeded, common.ReasonFiresSucceeded,
		fmt.Sprintf("%s of job %q succeeded", common.Count(found.Total, "fire", "fires"), a.Job),
		map[string]string{"job": a.Job, "total": fmt.Sprint(found.Total)}), nil
}

// expired reports whether the job's retention has deleted the entry of a fire by its age, if it had one.
func expired(job *common.JobState, at, now time.Time) bool {
	age := common.DefaultRetention
	if job.Retention != nil {
		age = job.Retention.Age.Or(age)
	}
	return !at.Before(job.CreatedAt) && at.Before(now.Add(-age))
}

// succeeded reports whether a fire is done: its last attempt has succeeded, or had nothing to do.
func succeeded(run *common.Run) bool {
	return run.Status == common.StatusSucceeded || run.Status == common.StatusSkipped && run.Reason != nil &&
		run.Reason.Code == common.ReasonFunctionSkipped
}

// firesOf returns the planned times of a range, in order: those of the present schedule, and those that the ledger has.
// A schedule without fixed times has those of the ledger, and after the cursor those that follow it. It stops after one
// more than MaxAwaited.
func firesOf(job *common.JobState, plan schedule.Schedule, in span, ends map[int64]*common.Run) ([]time.Time, error) {
	var fires []time.Time
	for at := range ends {
		if t := time.Unix(0, at).UTC(); !t.Before(in.from) && !t.After(in.to) {
			fires = append(fires, t)
		}
	}
	from := in.from.Add(-1)
	if !plan.IsZero() && plan.Floating() && from.Before(job.Cursor) {
		from = job.Cursor
	}
	for n := 0; n <= common.MaxAwaited && !plan.IsZero() && !in.recorded; n++ {
		next, found, err := plan.Next(from)
		if err != nil {
			return nil, fmt.Errorf("compute the schedule of job %q: %w", job.Name, err)
		}
		if !found || next.After(in.to) {
			break
		}
		from = next
		if !next.Before(in.from) && ends[next.UnixNano()] == nil {
			fires = append(fires, next.UTC())
		}
	}
	slices.SortFunc(fires, time.Time.Compare)
	if in.latest && len(fires) > 1 {
		fires = fires[len(fires)-1:]
	}
	return fires, nil
}
