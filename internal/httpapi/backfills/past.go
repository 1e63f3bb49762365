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
	// yieldedRead is the number of skipped fires that are read at once for them, yieldedReads how often.
	yieldedRead  = 1000
	yieldedReads = 10
)

// yielded returns the planned fires of a job that were skipped because of a backfill; nil if there are none.
func (s *Resource) yielded(ctx context.Context, job, uid string, begun, end time.Time) (*YieldedFires, error) {
	q := runlog.FireQuery{Job: job, Statuses: []common.Status{common.StatusSkipped}, From: begun, To: end.Add(1),
		Now: s.Now(), Limit: yieldedRead}
	out := YieldedFires{Times: []time.Time{}}
	for range yieldedReads {
		page, err := s.Runs.Fires(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page.Fires {
			if f := &page.Fires[i]; f.JobUID == uid && f.Reason != nil && f.Reason.Code == common.ReasonBackfill {
				out.add(f.PlannedAt)
			}
		}
		out.Partial = out.Partial || page.Partial
		if out.More = page.Next != nil; !out.More {
			break
		}
		q.Before, q.Settled = &page.Next.Position, page.Next.Settled
	}
	if out.More = out.More && out.Count > 0; out.Count == 0 && !out.Partial {
		return nil, nil
	}
	return &out, nil
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
