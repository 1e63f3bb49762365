package backfills

import (
	"context"
	"math"
	"strconv"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// past reads what the history shows about the fires of a job. It must not be read from a part of the history.
func (s *Resource) past(ctx context.Context, job *common.JobState, from, to time.Time) (common.BackfillPast, error) {
	ends, err := runlog.Ends(ctx, s.Runs, job, from, to, math.MaxInt)
	past := common.BackfillPast{Ends: ends}
	if err == nil {
		past.Since, err = s.since(ctx, job)
	}
	return past, err
}

// since returns after which time the history accounts for all fires of a job, zero if it has none of the schedule.
// Retention deletes by the later of planned time and end, and spares runs of backfills and re-runs, whose dates may be
// old: so it is the first of these times of the fires that the schedule itself has fired or passed.
func (s *Resource) since(ctx context.Context, job *common.JobState) (since time.Time, err error) {
	q := runlog.Query{Job: job.Name, JobUID: job.UID, Cause: common.CauseCron, Oldest: true}
	err = runlog.Each(ctx, s.Runs, q, func(run *common.Run) bool {
		at := run.PlannedAt
		switch {
		case run.Gap != nil:
			at = run.Gap.From
		case run.Fire != common.PlannedFire(job.UID, run.PlannedAt):
			return true
		case run.EndedAt != nil && run.EndedAt.After(at):
			at = *run.EndedAt
		}
		if since.IsZero() || at.Before(since) {
			since = at
		}
		return run.PlannedAt.Before(since)
	})
	return since, err
}

// Codes of warnings.
const (
	warnOtherTimes = "backfill_other_times"
	warnSlow       = "backfill_slow"
)

// warnings returns what may surprise about a backfill.
func (s *Resource) warnings(ctx context.Context, job string, plan *common.BackfillPlan) (all []common.Reason,
	err error) {
	if n := plan.OtherTimes; n > 0 {
		text := common.Count(n, "of the dates has", "of the dates have") +
			" a run at another time of the same day: the schedule was changed since"
		all = append(all, common.Reason{Code: warnOtherTimes, Text: text,
			Data: map[string]string{"count": strconv.Itoa(n)}})
	}
	usual, _, err := s.Estimator.Usual(ctx, []string{job})
	if err != nil {
		return nil, err
	}
	if u := usual[job]; plan.Period > 0 && u.Samples > 0 && u.P50 > plan.Period {
		median, period := u.P50.Round(time.Second).String(), plan.Period.String()
		all = append(all, common.Reason{Code: warnSlow, Data: map[string]string{"median": median, "period": period},
			Text: "half of the job's runs take longer than " + median + ", and it fires every " + period +
				": planned fires may be skipped meanwhile"})
	}
	return all, nil
}

const (
	// maxYielded is the number of times in YieldedFires.
	maxYielded = 100
	// yieldedRead is the number of runs that are read at once for them, yieldedReads how often.
	yieldedRead  = 1000
	yieldedReads = 10
)

// yielded returns the planned fires of a job that were skipped because of a backfill and have not been run since; nil
// if there are none.
func (s *Resource) yielded(ctx context.Context, job, uid string, begun, end time.Time) (*YieldedFires, error) {
	out := YieldedFires{Times: []time.Time{}}
	var skipped []common.Run
	q := runlog.Query{Job: job, JobUID: uid, Statuses: []common.Status{common.StatusSkipped}, From: begun,
		To: end.Add(1)}
	partial, more, err := s.some(ctx, q, func(run *common.Run) {
		if run.Gap == nil && run.Reason != nil && run.Reason.Code == common.ReasonBackfill {
			skipped = append(skipped, *run)
		}
	})
	if err != nil {
		return nil, err
	}
	out.Partial, out.More = partial, more && len(skipped) > 0
	if len(skipped) > 0 {
		again, err := s.runAgain(ctx, job, uid, skipped[len(skipped)-1].PlannedAt, end.Add(1))
		if err != nil {
			return nil, err
		}
		for i := range skipped {
			if f := &skipped[i]; again[f.Fire] <= f.Attempt {
				out.add(f.PlannedAt)
			}
		}
	}
	if out.Count == 0 && !out.Partial {
		return nil, nil
	}
	return &out, nil
}

// runAgain returns the last attempts of fires that were run again, by a re-run or a backfill.
func (s *Resource) runAgain(ctx context.Context, job, uid string, from, to time.Time) (map[string]int, error) {
	last := map[string]int{}
	for _, cause := range []common.Cause{common.CauseRerun, common.CauseBackfill} {
		q := runlog.Query{Job: job, JobUID: uid, Cause: cause, From: from, To: to}
		if _, _, err := s.some(ctx, q, func(run *common.Run) {
			last[run.Fire] = max(last[run.Fire], run.Attempt)
		}); err != nil {
			return nil, err
		}
	}
	return last, nil
}

// some visits the newest runs of a query, so many that a request may read. partial: the log store is away; more: there
// are others.
func (s *Resource) some(ctx context.Context, q runlog.Query, visit func(*common.Run)) (partial, more bool, err error) {
	q.Limit = yieldedRead
	for range yieldedReads {
		page, err := s.Runs.Runs(ctx, q)
		if err != nil {
			return false, false, err
		}
		for i := range page.Runs {
			visit(&page.Runs[i])
		}
		partial = partial || page.Partial
		switch {
		case page.Until != nil:
			q.Before = page.Until
		case len(page.Runs) < q.Limit:
			return partial, false, nil
		default:
			q.Before = new(runlog.PositionOf(&page.Runs[len(page.Runs)-1]))
		}
	}
	return partial, true, nil
}

// add adds a fire, which is older than those before.
func (y *YieldedFires) add(at time.Time) {
	if y.Count == 0 {
		y.To = at.Add(time.Second)
	}
	y.From = at
	if y.Count++; len(y.Times) < maxYielded {
		y.Times = append(y.Times, at)
	}
}
