package conformance

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
)

// History is a history of two jobs, and of a flow of which one is a step, whose statistics and ledger must agree: the
// runs that ended, in the order in which they are stored, which is not that of their attempts, and those that wait or
// run.
type History struct {
	Jobs        []string
	Ended, Open []common.Run
}

// attempt is one attempt of a fire.
type attempt struct {
	status common.Status
	cause  common.Cause
}

// NewHistory returns a history in which each kind of fire occurs in several hours around the end of a day, the last
// ones within the hour before now.
func NewHistory(now time.Time) History {
	const (
		succeeded, failed, timedOut = common.StatusSucceeded, common.StatusFailed, common.StatusTimedOut
		killed, lost, refused       = common.StatusKilled, common.StatusLost, common.StatusRefused
		cron, retry, rerun          = common.CauseCron, common.CauseRetry, common.CauseRerun
	)
	h := History{Jobs: []string{"backup", "report", "etl", "etl:load"}}
	kinds := [][]attempt{
		{{succeeded, cron}},
		{{failed, cron}, {succeeded, retry}}, // it recovers
		{{timedOut, cron}, {failed, retry}, {succeeded, retry}},
		{{failed, cron}, {timedOut, retry}, {failed, retry}}, // it does not
		{{lost, cron}, {succeeded, rerun}},
		{{lost, common.CauseCatchUp}, {lost, rerun}, {timedOut, rerun}},
		{{failed, common.CauseManual}, {succeeded, retry}},
		{{killed, cron}},
		{{failed, cron}, {killed, retry}},
		{{refused, cron}},
		{{timedOut, cron}, {common.StatusSkipped, retry}}, // its job was deleted
		{{common.StatusRunning, cron}},
		{{failed, cron}, {common.StatusWaiting, retry}},
		{{timedOut, cron}, {lost, retry}, {common.StatusRunning, rerun}},
		{{succeeded, cron}, {failed, rerun}}, // run again on request
		{{common.StatusMissed, cron}, {succeeded, rerun}},
		{{common.StatusMissed, cron}, {failed, rerun}, {succeeded, retry}},
		{{killed, cron}, {killed, rerun}, {succeeded, rerun}},
		{{refused, cron}, {common.StatusWaiting, rerun}},
		{{common.StatusMissed, cron}, {succeeded, common.CauseBackfill}},
		{{failed, cron}, {failed, common.CauseBackfill}, {succeeded, retry}},
		{{succeeded, common.CauseBackfill}}, // of a time at which nothing fired
		{{failed, cron}, {common.StatusWaiting, common.CauseBackfill}},
		{{lost, cron}, {lost, rerun}}, // as often as it may be
	}
	for n, job := range h.Jobs[:2] {
		uid := fmt.Sprintf("u%d", n+1)
		for _, back := range []time.Duration{0, time.Hour, 3 * time.Hour, 30 * time.Hour} {
			at := now.Add(-back - 50*time.Minute)
			for i, kind := range kinds {
				if n == 1 && i%3 == 0 {
					continue
				}
				planned := at.Add(time.Duration(i) * 2 * time.Minute)
				fire := common.PlannedFire(uid, planned)
				if kind[0].cause == common.CauseManual {
					fire = common.TriggeredFire(uid, fmt.Sprintf("x%d", planned.Unix()))
				}
				h.add(job, uid, fire, planned, kind)
			}
			for i, status := range []common.Status{common.StatusSkipped, common.StatusMissed} {
				h.passed(job, uid, at.Add(-time.Duration(1+i)*time.Minute), int64(1+3*i), status)
				h.passed(job, uid, at.Add(-time.Duration(3+i)*time.Minute), int64(2+5*i), status)
			}
		}
	}
	h.addFlows(now)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(h.Ended), func(i, j int) {
		h.Ended[i], h.Ended[j] = h.Ended[j], h.Ended[i]
	})
	return h
}

// addFlows adds flow runs with their nodes: two attempts of an inline step, and one of a step that runs the job report.
// Of the last flow run, both steps have not ended.
func (h *History) addFlows(now time.Time) {
	const retried, ran = 0, 1
	for i, kind := range [][2][]attempt{
		{{{common.StatusFailed, common.CauseFlow}, {common.StatusSucceeded, common.CauseRetry}},
			{{common.StatusSucceeded, common.CauseFlow}}},
		{{{common.StatusTimedOut, common.CauseFlow}, {common.StatusFailed, common.CauseRetry}},
			{{common.StatusLost, common.CauseFlow}, {common.StatusFailed, common.CauseRerun}}},
		{{{common.StatusFailed, common.CauseFlow}, {common.StatusWaiting, common.CauseRetry}},
			{{common.StatusRunning, common.CauseFlow}}},
	} {
		for back := range 2 {
			planned := now.Add(-time.Duration(50+i+back*26*60) * time.Minute)
			run := []attempt{{common.StatusSucceeded, common.CauseCron}}
			if i == 2 {
				run[0].status = common.StatusRunning
			}
			fire := common.PlannedFire("u9", planned)
			h.add("etl", "u9", fire, planned, run)
			id := common.RunID(fire, 1)
			h.add("etl:load", "u9", common.NodeFire("u9", id, "load"), planned, kind[retried])
			h.add("report", "u2", common.NodeFire("u2", id, "report"), planned, kind[ran])
		}
	}
}

// add adds the attempts of a fire; they take so long that some end in a later hour, or on a later day.
func (h *History) add(job, uid, fire string, planned time.Time, attempts []attempt) {
	before := common.Status("")
	first := 1
	if attempts[0].status == common.StatusMissed {
		first = 0
	}
	for i, a := range attempts {
		started := planned.Add(time.Duration(i) * 40 * time.Minute)
		ended := started.Add(time.Duration(i+1) * time.Minute)
		r := common.Run{
			ID:        common.RunID(fire, first+i),
			Job:       job,
			JobUID:    uid,
			Fire:      fire,
			PlannedAt: planned,
			Cause:     a.cause,
			Attempt:   first + i,
			After:     before,
			Status:    a.status,
			Worker:    fmt.Sprintf("w%d", i+1),
			StartedAt: &started,
			EndedAt:   &ended,
		}
		if before == common.StatusFailed && i == 1 && a.cause == common.CauseRetry {
			r.After = "" // an older worker does not store it
		}
		if r.Attempt == 0 {
			r.Worker, r.StartedAt, r.EndedAt = "", nil, nil
		}
		if before = a.status; a.status.Terminal() {
			h.Ended = append(h.Ended, r)
			continue
		}
		r.EndedAt = nil
		h.Open = append(h.Open, r)
	}
}

// passed adds the entry of fires without a run.
func (h *History) passed(job, uid string, last time.Time, count int64, status common.Status) {
	state := common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: job}, UID: uid},
		Cursor: last.Add(-time.Duration(count) * time.Second)}
	h.Ended = append(h.Ended, common.PassedOver(&state, last, count, status, common.Reason{Code: "x", Text: "x"}))
}

// LiveRuns, LiveRun, LateEnds and OpenRuns are those of a master.
func (h *History) LiveRuns(_ context.Context, q *runlog.LiveQuery) (runlog.Lives, error) {
	named := runlog.Query{Job: q.Job, Fire: q.Fire, FlowRun: q.FlowRun, Step: q.Step}
	others := func(r common.Run) bool { return !named.Matches(&r) }
	return runlog.Lives{Runs: slices.DeleteFunc(slices.Clone(h.Open), others)}, nil
}

func (h *History) LiveRun(context.Context, string) (run common.Run, found bool, err error) {
	return common.Run{}, false, nil
}

func (h *History) LateEnds(context.Context) ([]common.LateEnd, error) { return nil, nil }

func (h *History) OpenRuns(context.Context) ([]common.Run, error) { return slices.Clone(h.Open), nil }

// Due and Planned return no fires.
func (h *History) Due(context.Context, *runlog.FireQuery) (fires []common.Fire, whole bool, err error) {
	return nil, true, nil
}

func (h *History) Planned(context.Context, *runlog.FireQuery) (fires []common.Fire, whole bool, err error) {
	return nil, true, nil
}

// Outcomes counts fires by job, hour and status.
type Outcomes map[string]map[time.Time]map[common.Status]int64

// Add counts an entry of the ledger, unless its fire has not ended.
func (o Outcomes) Add(job string, at time.Time, status common.Status, n int64) {
	if n == 0 || !status.Terminal() || status == common.StatusPlanned {
		return
	}
	if o[job] == nil {
		o[job] = map[time.Time]map[common.Status]int64{}
	}
	if o[job][at] == nil {
		o[job][at] = map[common.Status]int64{}
	}
	o[job][at][status] += n
}

// AddFire counts a fire, or the fires of a gap entry, for a job; for all jobs together if it is empty.
func (o Outcomes) AddFire(job string, f *common.Fire, bucket func(time.Time) time.Time) {
	n := int64(1)
	if f.Gap != nil {
		n = f.Gap.Count
	}
	o.Add(job, bucket(f.PlannedAt), f.Status, n)
}

// firesAgree checks that statistics and ledger contain the same outcomes, and that deleting the runs does not change
// the statistics.
func firesAgree(t *testing.T, s Store, _ Size) {
	now := midnight.AddDate(0, 0, 5).Add(90 * time.Minute)
	h := NewHistory(now)
	for part := range slices.Chunk(h.Ended, 17) {
		write(t, s, runlog.Batch{Runs: part})
		write(t, s, runlog.Batch{Runs: part})
		tidied(t, s, runlog.Tidy{Now: now})
	}
	wantHours, wantDays := h.ledger(t, s, now)
	counted := runlog.Unended(s, &h)
	h.compare(t, "hours", counted, wantHours, false, now)
	h.compare(t, "days", counted, wantDays, true, now)

	for _, job := range h.Jobs {
		if _, err := s.Expire(t.Context(), runlog.Expiry{Job: job, Before: now.Add(-55 * time.Minute)}); err != nil {
			t.Fatal(err)
		}
	}
	// Their last attempts end after the others were deleted.
	for i := range h.Open {
		r := h.Open[i]
		r.Status = common.StatusSucceeded
		write(t, s, runlog.Batch{Runs: []common.Run{r}})
		for _, job := range []string{r.Job, ""} {
			if job == "" && common.OfNode(r.ID) {
				continue
			}
			wantHours.Add(job, rollup.HourOf(r.PlannedAt), r.Status, 1)
			wantDays.Add(job, rollup.DayOf(r.PlannedAt), r.Status, 1)
		}
	}
	h.Open = nil
	tidied(t, s, runlog.Tidy{Now: now})
	h.compare(t, "hours, after a deletion", counted, wantHours, false, now)
	h.compare(t, "days, after a deletion", counted, wantDays, true, now)
}

// ledger counts the fires of the ledger of each job, and of that of all jobs, by hour and by day.
func (h *History) ledger(t *testing.T, s Store, now time.Time) (byHour, byDay Outcomes) {
	t.Helper()
	byHour, byDay = Outcomes{}, Outcomes{}
	for _, job := range append([]string{""}, h.Jobs...) {
		q := runlog.FireQuery{Job: job, To: now, Now: now, Limit: 7}
		for more := true; more; {
			page, err := runlog.NewView(h, h, s).Fires(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range page.Fires {
				byHour.AddFire(job, &page.Fires[i], rollup.HourOf)
				byDay.AddFire(job, &page.Fires[i], rollup.DayOf)
			}
			if more = page.Next != nil; more {
				q.Before, q.Settled = &page.Next.Position, page.Next.Settled
			}
		}
	}
	return byHour, byDay
}

// compare compares roll-ups and totals with what is wanted.
func (h *History) compare(t *testing.T, what string, s runlog.Statistics, want Outcomes, days bool, now time.Time) {
	t.Helper()
	got, totals, sums := Outcomes{}, Outcomes{}, Outcomes{}
	put := func(into Outcomes, job string, at time.Time, c *rollup.Cell) {
		by := c.Fires()
		for i, status := range common.Statuses {
			into.Add(job, at, status, by[i])
		}
	}
	from := rollup.DayOf(now.AddDate(0, 0, -3))
	for _, job := range append([]string{""}, h.Jobs...) {
		rows, err := s.Rollups(t.Context(), runlog.RollupQuery{Job: job, From: from, To: now, Days: days})
		if err != nil {
			t.Fatal(err)
		}
		cells := rollup.Cells[time.Time]{}
		for i := range rows {
			cells.At(rows[i].At).Merge(&rows[i].Cell)
		}
		for at, cell := range cells {
			put(got, job, at, cell)
		}
	}
	same(t, what, got, want)
	cells, err := s.Totals(t.Context(), h.Jobs, from, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, job := range h.Jobs {
		cell := cells[job]
		put(totals, job, time.Time{}, &cell)
		for _, by := range want[job] {
			for status, n := range by {
				sums.Add(job, time.Time{}, status, n)
			}
		}
	}
	same(t, what+": totals", totals, sums)
}
