package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// oneByOne is tried by the story of an outage only: the disturbances of the others need not last long enough.
const (
	oneByOne mutation = "fires that were found together are decided one by one"
)

// action is the ranking's, where a mutation forgets that fires were found together.
func (m mutation) action(of func(*scheduler.Fire, time.Time) scheduler.Action) func(*scheduler.Fire,
	time.Time) scheduler.Action {
	if m != oneByOne {
		return of
	}
	return func(f *scheduler.Fire, now time.Time) scheduler.Action {
		f.Late, f.Follows = time.Time{}, false
		return of(f, now)
	}
}

// outageJob is a job of the story, with what is to become of its fires.
type outageJob struct {
	common.Job
	ran int // how many fires of the outage run
}

// outageJobs are jobs of all policies and intervals, with the number of fires of the outage that run: the table of
// docs/jobs.md.
func outageJobs(length time.Duration) (jobs []outageJob) {
	runs := map[time.Duration]map[string][3]int{ // under none, latest and all
		30 * time.Second: {"@every 5s": {1, 1, 6}, minutely: {1, 1, 1}, hourly: {1, 1, 1}},
		4 * time.Minute:  {"@every 5s": {1, 1, 10}, minutely: {1, 1, 4}, hourly: {1, 1, 1}},
		2 * time.Hour:    {"@every 5s": {1, 1, 10}, minutely: {1, 1, 10}, hourly: {0, 1, 1}},
	}[length]
	for i, expr := range []string{hourly, minutely, "@every 5s"} {
		for n, policy := range []common.CatchUpPolicy{common.CatchUpNone, common.CatchUpLatest, common.CatchUpAll} {
			for _, overlap := range []common.Overlap{common.OverlapSkip, common.OverlapQueue, common.OverlapReplace,
				common.OverlapAllow} {
				jobs = append(jobs, outageJob{ran: runs[expr][n], Job: common.Job{
					Name:      fmt.Sprintf("%s-%s-%s", []string{"hour", "minute", "seconds"}[i], policy, overlap),
					Timezone:  "UTC",
					Command:   "true",
					CronExpr:  expr,
					Overlap:   overlap,
					CatchUp:   &common.CatchUp{Policy: policy},
					LostAfter: "20s",
					KillGrace: "1s",
				}})
			}
		}
	}
	return jobs
}

// All workers are stopAll for a time. The fires that became due meanwhile do not compete with each other, whatever the
// overlap policy: the catch-up policy selects among them, those that it selects run one after the other, and all others
// are missed.
func TestFiresOfAnOutage_AreSelectedByTheCatchUpPolicy(t *testing.T) {
	for _, length := range []time.Duration{30 * time.Second, 4 * time.Minute, 2 * time.Hour} {
		t.Run(length.String(), func(t *testing.T) {
			jobs := outageJobs(length)
			var from, to time.Time
			part := outage(t, jobs, length, &from, &to, stopAll)
			w := cluster(t, 6, level[:2], part)
			for _, b := range outcomesOf(w, jobs, from, to, false) {
				t.Error(b)
			}
			w, _ = without(t, oneByOne, 6, level[:2], part)
			if len(outcomesOf(w, jobs, from, to, false)) == 0 {
				t.Error("the mutation changes nothing")
			}
		})
	}
}

// The same where etcd answers no worker. A claim that was on its way may be granted afterwards, beside the fires that
// the catch-up policy selects; and the workers need some seconds to reach etcd again, so that what it selects may have
// been planned later.
func TestFiresOfAnOutageOfEtcd_AreSelectedByTheCatchUpPolicy(t *testing.T) {
	for _, length := range []time.Duration{30 * time.Second, 4 * time.Minute} {
		t.Run(length.String(), func(t *testing.T) {
			jobs := outageJobs(length)
			var from, to time.Time
			w := cluster(t, 7, level[:2], outage(t, jobs, length, &from, &to, cutAll))
			for _, b := range outcomesOf(w, jobs, from, to, true) {
				t.Error(b)
			}
		})
	}
}

// outage plays an outage. Its end is a second after a fire of the jobs that fire
// each five seconds; a second, or 12 minutes, after one of the hourly ones; and a quarter of a minute after one of the
// others.
func outage(t *testing.T, jobs []outageJob, length time.Duration, from, to *time.Time,
	during func(context.Context, *script, time.Time)) func(context.Context, *script) {
	return func(ctx context.Context, s *script) {
		put := func(every string) (cursor time.Time) {
			for i := range jobs {
				if jobs[i].CronExpr != every {
					continue
				}
				state, _, err := s.masters[0].store.Put(ctx, modelActor, jobs[i].Job, common.Precondition{})
				if err != nil {
					t.Error(err)
				}
				s.jobs, cursor = append(s.jobs, jobs[i].Name), state.Cursor
			}
			return cursor
		}
		s.jobs = nil
		s.world.last(2 * time.Second)
		time.Sleep(time.Until(time.Now().Truncate(time.Minute).Add(75 * time.Second)))
		*to = put(hourly).Add(time.Hour + time.Second)
		if length > time.Hour {
			*to = to.Add(2*time.Hour + 12*time.Minute)
		}
		*from = to.Add(-length)
		time.Sleep(time.Until(from.Add(-time.Minute - time.Second)))
		put(minutely)
		put("@every 5s")
		time.Sleep(time.Until(*from))
		during(ctx, s, *to)
		time.Sleep(3 * time.Minute)
	}
}

// stopAll stops all workers, and starts them again at a time.
func stopAll(ctx context.Context, s *script, to time.Time) {
	for _, b := range s.boxes {
		s.act(func() { b.with(func(l *life) { l.stop(ctx) }) })
	}
	s.actors.Wait()
	time.Sleep(time.Until(to))
	for _, b := range s.boxes {
		s.start(ctx, b, true)
	}
}

// cutAll lets no worker reach etcd until a time.
func cutAll(_ context.Context, s *script, to time.Time) {
	for _, b := range s.boxes {
		b.with(func(l *life) { l.link.cut(time.Until(to)) })
	}
	time.Sleep(time.Until(to))
}

const hourly = "@every 1h"

// outcomesOf compares what became of the fires of an outage with what should.
func outcomesOf(w *world, jobs []outageJob, from, to time.Time, ofEtcd bool) (wrong []string) {
	executions := map[string]*execution{}
	for _, x := range w.diary {
		executions[x.run] = x
	}
	for i := range jobs {
		job, ran, missed := &jobs[i], 0, int64(0)
		var last time.Time // end of the last run
		for _, run := range ofJob(w, job.Name) {
			at := run.PlannedAt
			switch {
			case !at.After(from) || at.After(to):
			case run.Gap != nil:
				missed += run.Gap.Count
				wrong = append(wrong, unlessMissed(&run)...)
			case run.Attempt == 0:
				missed++
				wrong = append(wrong, unlessMissed(&run)...)
			default:
				ran++ // the last one may be replaced by a later fire
				if replaced := run.Status == common.StatusKilled && job.Overlap == common.OverlapReplace; !replaced &&
					run.Status != common.StatusSucceeded && run.Status != common.StatusFailed {
					wrong = append(wrong, fmt.Sprintf("%s is %s", run.ID, run.Status))
				}
				x := executions[run.ID]
				if x == nil {
					wrong = append(wrong, run.ID+" was not executed")
					continue
				}
				if x.began.Before(last) {
					wrong = append(wrong, fmt.Sprintf("%s of %s begins before the one before it has ended", run.ID,
						job.Name))
				}
				last = x.ended
			}
		}
		if !ofEtcd && ran != job.ran || ran > job.ran+1 {
			wrong = append(wrong, fmt.Sprintf("%s: %d ran and %d were missed, want %d to run", job.Name, ran, missed,
				job.ran))
		}
	}
	return wrong
}

func unlessMissed(run *common.Run) []string {
	if run.Status == common.StatusMissed && run.Reason != nil && run.Reason.Code == common.ReasonLate {
		return nil
	}
	return []string{fmt.Sprintf("%s is %s, %+v", run.ID, run.Status, run.Reason)}
}

// ofJob returns the entries of a job in the ledger, by planned time.
func ofJob(w *world, name string) (of []common.Run) {
	for _, run := range w.runs() {
		if run.Job == name {
			of = append(of, run)
		}
	}
	slices.SortFunc(of, func(a, b common.Run) int {
		if c := a.PlannedAt.Compare(b.PlannedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return of
}
