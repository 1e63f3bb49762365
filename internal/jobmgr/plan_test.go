package jobmgr_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/runlog"
)

// summary returns the fires as text, the newest first.
func summary(fires []common.Fire) []string {
	slices.SortFunc(fires, runlog.CompareFires)
	var out []string
	for _, f := range fires {
		line := fmt.Sprintf("%s %s %s", f.Job, f.PlannedAt.Format("15:04:05"), f.Status)
		if f.Reason != nil {
			line += " " + f.Reason.Code
		}
		if f.Gap != nil {
			line += fmt.Sprintf(" %d since %s", f.Gap.Count, f.Gap.From.Format("15:04:05"))
		}
		out = append(out, line)
	}
	return out
}

func TestDue(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.unplaced = func(j *common.StoredJob) *common.Reason {
		if j.Name == "unplaced" {
			return &common.Reason{Code: common.ReasonNoWorker, Text: "no worker is alive"}
		}
		return nil
	}
	store := s.store
	put := func(name, line string, change func(*common.Job)) {
		job := minutely(name)
		job.CronExpr = line
		if change != nil {
			change(&job)
		}
		s.put(job)
	}
	put("few", "* * * * *", nil)
	put("unplaced", "*/2 * * * *", func(j *common.Job) { j.Group = "ops" })
	put("many", "* * * * * * *", nil)
	put("paused", "* * * * *", func(j *common.Job) { j.Paused, j.PauseNote = true, "moving" })
	put("over", "* * * * *", func(j *common.Job) { j.Paused, j.PauseUntil = true, new(noon.Add(2*time.Minute)) })
	put("one", "1 * * * *", func(j *common.Job) { j.Paused = true })
	put("none", "@yearly", nil)
	put("manual", "", nil)
	put("jitter", "3 * * * *", func(j *common.Job) { j.Jitter = "20h" })
	s.clock.forward(3*time.Minute + 30*time.Second)
	// A claim moved this cursor, which the catalog does not receive.
	s.raw(common.CursorKey("few"), common.TimeKey(noon.Add(time.Minute)))
	s.raw(common.JobKey("broken"), "{")
	eventually(t, "the catalog has the jobs", s.store.UpToDate)
	for name, c := range map[string]struct {
		q    runlog.FireQuery
		want []string
	}{
		"all": {runlog.FireQuery{}, []string{"many 12:03:30 waiting starting 210 since 12:00:00",
			"paused 12:03:00 waiting paused 3 since 12:00:00",
			"over 12:03:00 waiting starting", "jitter 12:03:00 planned", "few 12:03:00 waiting starting",
			"over 12:02:00 waiting starting", "over 12:01:00 waiting paused", "unplaced 12:02:00 waiting no_worker",
			"few 12:02:00 waiting starting", "one 12:01:00 waiting paused"}},
		"of a group": {runlog.FireQuery{Group: "ops"}, []string{"unplaced 12:02:00 waiting no_worker"}},
		"of a job": {runlog.FireQuery{Job: "few"},
			[]string{"few 12:03:00 waiting starting", "few 12:02:00 waiting starting"}},
		"of one that waits": {runlog.FireQuery{Job: "paused"},
			[]string{"paused 12:03:00 waiting paused 3 since 12:00:00"}},
		"of a broken job": {runlog.FireQuery{Job: "broken"}, nil},
		"of no job":       {runlog.FireQuery{Job: "never"}, nil},
		"of no plan":      {runlog.FireQuery{Job: "manual"}, nil},
		"in a minute": {runlog.FireQuery{
			From: noon.Add(time.Minute),
			To:   noon.Add(2 * time.Minute),
		}, []string{"one 12:01:00 waiting paused", "over 12:01:00 waiting paused"}},
		"of a status": {runlog.FireQuery{Statuses: []common.Status{common.StatusPlanned}},
			[]string{"jitter 12:03:00 planned"}},
	} {
		t.Run(name, func(t *testing.T) {
			c.q.Now, c.q.Limit = s.clock.now(), 50
			if c.q.To.IsZero() {
				c.q.To = c.q.Now.Add(1)
			}
			fires, whole, err := store.Due(t.Context(), &c.q)
			if err != nil || !whole {
				t.Fatal(whole, err)
			}
			got := summary(fires)
			slices.Sort(got)
			slices.Sort(c.want)
			if !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
			for _, f := range fires {
				want := common.PlannedFire(f.JobUID, f.PlannedAt)
				if f.Gap != nil {
					want = common.GapID(f.JobUID, f.Gap.From)
				}
				if f.ID != want || f.JobUID == "" || f.Attempts == nil {
					t.Errorf("%+v", f)
				}
			}
		})
	}
	// A query of a single job lists more of its fires one by one.
	q := runlog.FireQuery{Job: "many", Now: noon.Add(90 * time.Second), To: noon.Add(time.Hour), Limit: 500}
	if fires, whole, err := store.Due(t.Context(), &q); err != nil || !whole || len(fires) != 90 {
		t.Errorf("%d fires, %v, %v", len(fires), whole, err)
	}
	q.Limit = 10
	if fires, whole, err := store.Due(t.Context(), &q); err != nil || whole || len(fires) < 11 ||
		summary(fires)[0] != "many 12:01:30 waiting starting" {
		t.Errorf("%d fires, %v, %v", len(fires), whole, err)
	}
}

// The planned future is the newest fires before the end of the requested time, of all jobs together, the same
// as stepping through each schedule from now.
func TestPlannedIsWhatSteppingFinds(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	random := rand.New(rand.NewPCG(3, 5))
	lines := []string{"* * * * *", "* * * * * * *", "0 * * * *", "30 2 * * *", "@every 7m", "0 0 1 1 *",
		"* * 3 * * * *", "*/10 * * * * * *", "@at 2026-03-02T00:00:00Z"}
	interner := schedule.NewInterner()
	var jobs []common.Job
	for i, line := range lines {
		job := minutely(fmt.Sprintf("j%d", i))
		job.CronExpr, job.Group = line, []string{"", "ops"}[i%2]
		if i == 2 {
			job.Jitter = "10m"
		}
		jobs = append(jobs, job)
	}
	paused, later, ends := minutely("paused"), minutely("later"), minutely("ends")
	paused.Paused = true
	later.Paused, later.PauseUntil = true, new(noon.Add(10*time.Minute))
	ends.EndAt = new(noon.Add(5 * time.Minute))
	jobs = append(jobs, paused, later, ends)
	uids := map[string]string{}
	for _, job := range jobs {
		uids[job.Name] = s.put(job).UID
	}
	eventually(t, "the catalog has the jobs", s.store.UpToDate)

	step := func(q *runlog.FireQuery) (fires []common.Fire) {
		for _, job := range jobs {
			if q.Job != "" && q.Job != job.Name || job.Paused && job.PauseUntil == nil {
				continue
			}
			timetable, err := interner.OfJob(&job)
			if err != nil {
				t.Fatal(err)
			}
			terms := job.Terms()
			for at, ok, err := timetable.Next(noon); ok && err == nil && at.Before(q.To); at, ok,
				err = timetable.Next(at) {
				if !at.After(q.Now) || job.PauseUntil != nil && !at.After(*job.PauseUntil) {
					continue
				}
				f := common.Fire{
					ID:        common.PlannedFire(uids[job.Name], at),
					Job:       job.Name,
					JobUID:    uids[job.Name],
					Group:     job.Group,
					PlannedAt: at.UTC(),
					Cause:     common.CauseCron,
					Status:    common.StatusPlanned,
					Attempts:  []string{},
				}
				if delay := common.Delay(terms.Jitter, uids[job.Name], at); delay > 0 {
					f.DueAt = new(at.Add(delay).UTC())
				}
				if q.Matches(&f) {
					fires = append(fires, f)
				}
			}
		}
		slices.SortFunc(fires, runlog.CompareFires)
		return fires
	}
	for range 40 {
		q := runlog.FireQuery{Now: noon.Add(time.Duration(random.IntN(100)) * time.Second), Limit: 1 + random.IntN(60)}
		q.To = q.Now.Add(time.Duration(random.IntN(6*3600)) * time.Second)
		switch random.IntN(4) {
		case 0:
			q.Job = jobs[random.IntN(len(jobs))].Name
		case 1:
			q.Group = "ops"
		case 2:
			q.From = q.Now.Add(time.Duration(random.IntN(3600)) * time.Second)
		}
		want := step(&q)
		if len(want) > 0 && random.IntN(2) == 0 {
			q.Before = new(runlog.PositionOfFire(&want[random.IntN(len(want))]))
			want = step(&q)
		}
		got, whole, err := s.store.Planned(t.Context(), &q)
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(got, runlog.CompareFires)
		if whole && len(got) != len(want) || !whole && len(got) <= q.Limit {
			t.Fatalf("%+v: %d fires, whole %v, want %d", q, len(got), whole, len(want))
		}
		for i := range got[:min(len(got), q.Limit+1)] {
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Fatalf("%+v: fire %d is %+v, want %+v", q, i, got[i], want[i])
			}
		}
	}
}
