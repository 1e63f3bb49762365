package stats_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/jobs"
	"carillon/internal/httpapi/stats"
	"carillon/internal/httpapi/view"
	"carillon/internal/runlog"
	"carillon/internal/runlog/conformance"
	"carillon/internal/runlog/mongolog"
	"carillon/internal/runlog/mongotest"
	"carillon/internal/runlog/rollup"
	"carillon/internal/runlog/sqlitelog"
)

// master is a master whose history is in a store.
type master struct {
	*apitest.Harness
	history conformance.History
	t       *testing.T
}

func newMaster(t *testing.T, s conformance.Store, now time.Time) *master {
	m := &master{history: conformance.NewHistory(now), t: t}
	m.Harness = apitest.NewHarness(t, func(c *httpapi.Config) {
		c.Now = func() time.Time { return now }
		acks := runlog.NewAcks(delivered{}, s)
		c.Runs = &runlog.Ledger{View: runlog.NewView(&m.history, &due{History: &m.history, now: now}, s), Acks: acks}
		c.Counted = s
	})
	m.RunList = m.history.Open
	acks := acknowledged(&m.history, now)
	if err := s.Write(t.Context(), runlog.Batch{Runs: m.history.Ended, Changes: acks}); err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		done, err := s.Tidy(t.Context(), runlog.Tidy{Now: now})
		if more = done.More; err != nil {
			t.Fatal(err)
		}
	}
	for _, job := range m.history.Jobs {
		if common.OfStep(job) {
			continue
		}
		m.Want(http.StatusCreated, apitest.As("admin", http.MethodPost, "/api/v1/jobs",
			`{"name":"`+job+`","command":"true"}`))
	}
	return m
}

func (m *master) get(path string, into any) {
	m.t.Helper()
	apitest.Decode(m.t, m.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1"+path, "")), into)
}

// delivered has no undelivered changes.
type delivered struct{}

func (delivered) LiveChanges(context.Context, runlog.ChangeQuery, func(*common.Change) bool) ([]common.Change, bool,
	error) {
	return nil, false, nil
}

// due is a plan with due fires: one that no worker claims, and those of a paused job.
type due struct {
	*conformance.History
	now time.Time
}

const dueFires, pausedFires = 4, 8

func (d *due) Due(_ context.Context, q *runlog.FireQuery) (found []common.Fire, whole bool, err error) {
	gap := func(uid string, count int64, code string) common.Fire {
		at := d.now.Add(-time.Minute)
		return common.Fire{ID: common.GapID(uid, at), Job: "backup", JobUID: uid, PlannedAt: at,
			Cause: common.CauseCron, Status: common.StatusWaiting,
			Reason: &common.Reason{Code: code, Text: code}, Attempts: []string{},
			Gap: &common.Gap{From: at.Add(-time.Hour), To: at, Count: count}}
	}
	for _, f := range []common.Fire{gap("u7", dueFires, common.ReasonNoWorker),
		gap("u8", pausedFires, common.ReasonPaused)} {
		if q.Matches(&f) {
			found = append(found, f)
		}
	}
	return found, true, nil
}

// acknowledged acknowledges the last attempts of every second failed fire of the last day.
func acknowledged(h *conformance.History, now time.Time) (all []common.Change) {
	last := map[string]*common.Run{}
	for _, runs := range [][]common.Run{h.Ended, h.Open} {
		for i := range runs {
			if r := &runs[i]; last[r.Fire] == nil || last[r.Fire].Attempt < r.Attempt {
				last[r.Fire] = r
			}
		}
	}
	n := 0
	for _, fire := range slices.Sorted(maps.Keys(last)) {
		if r := last[fire]; r.Status.NeedsAttention() && !common.OfNode(r.ID) &&
			r.PlannedAt.After(now.Add(-24*time.Hour)) {
			if n++; n%2 == 0 {
				continue
			}
			state := runlog.AckState{Job: r.Job}
			if r.Attempt > 0 {
				state.Run = r.ID
			}
			after, _ := json.Marshal(state) //nolint:errchkjson // strings
			all = append(all, common.Change{ID: fmt.Sprintf("c%05d", n), At: now, Kind: runlog.AckKind, Name: fire,
				Verb: runlog.AckVerb, After: after, Actor: common.Actor{Name: "ann"}})
		}
	}
	return all
}

// fires lists the ledger with a query, page by page.
func (m *master) fires(query string) (all []common.Fire) {
	m.t.Helper()
	for cursor := ""; ; {
		var page struct {
			Items      []common.Fire `json:"items"`
			NextCursor string        `json:"nextCursor"`
		}
		m.get("/fires?limit=9&"+query+"&cursor="+url.QueryEscape(cursor), &page)
		all = append(all, page.Items...)
		if cursor = page.NextCursor; cursor == "" {
			return all
		}
	}
}

// firesIn returns the number of fires in entries of the ledger that match.
func firesIn(entries []common.Fire, match func(*common.Fire) bool) (n int64) {
	for i := range entries {
		switch f := &entries[i]; {
		case !match(f):
		case f.Gap != nil:
			n += f.Gap.Count
		default:
			n++
		}
	}
	return n
}

// attends checks what tiles and panels of the overview show: open and acknowledged failures, which together are those
// of the statistics, and waiting fires, those of paused jobs apart.
func (m *master) attends(overview *stats.Overview) {
	any := func(*common.Fire) bool { return true }
	from := "from=" + url.QueryEscape(overview.LastDay.From.Format(time.RFC3339Nano))
	of := &overview.LastDay.Total.Statuses
	for status, want := range map[common.Status]int64{common.StatusFailed: of.Failed,
		common.StatusTimedOut: of.TimedOut, common.StatusLost: of.Lost, common.StatusMissed: of.Missed,
		common.StatusRefused: of.Refused} {
		listed := m.fires(from + "&status=" + string(status))
		open := firesIn(listed, func(f *common.Fire) bool { return f.Acknowledged == nil })
		acked := firesIn(listed, func(f *common.Fire) bool { return f.Acknowledged != nil })
		if want == 0 || open+acked != want {
			m.t.Errorf("%s: %d open and %d acknowledged, the statistics have %d", status, open, acked, want)
		}
		if n := firesIn(m.fires(from+"&unacknowledged=true&status="+string(status)), any); n != open {
			m.t.Errorf("%s: the list of open failures has %d, of all %d are open", status, n, open)
		}
	}
	if n := firesIn(m.fires(from), func(f *common.Fire) bool { return f.Acknowledged != nil }); n == 0 {
		m.t.Error("no failure is acknowledged")
	}
	waiting := int64(dueFires)
	for i := range m.history.Open {
		if r := &m.history.Open[i]; r.Status == common.StatusWaiting && !common.OfNode(r.ID) {
			waiting++
		}
	}
	if overview.Waiting == nil || *overview.Waiting != waiting || overview.WaitingPaused == nil ||
		*overview.WaitingPaused != pausedFires {
		m.t.Errorf("the overview counts %v waiting fires and %v of paused jobs, want %d and %d", overview.Waiting,
			overview.WaitingPaused, waiting, pausedFires)
	}
	for filter, want := range map[string]int64{"&paused=exclude": waiting, "&paused=only": pausedFires,
		"": waiting + pausedFires} {
		if n := firesIn(m.fires("status=waiting"+filter), any); n != want {
			m.t.Errorf("the ledger with status=waiting%s has %d fires, want %d", filter, n, want)
		}
	}
}

// ledger counts the fires of a list, that of a job or of all, page by page.
func (m *master) ledger(job, path string, bucket func(time.Time) time.Time) conformance.Outcomes {
	m.t.Helper()
	all, cursor := conformance.Outcomes{}, ""
	for {
		var page struct {
			Items      []common.Fire `json:"items"`
			NextCursor string        `json:"nextCursor"`
		}
		m.get(path+"?limit=9&cursor="+url.QueryEscape(cursor), &page)
		for i := range page.Items {
			all.AddFire(job, &page.Items[i], bucket)
		}
		if cursor = page.NextCursor; cursor == "" {
			return all
		}
	}
}

// counts returns the outcomes of a bucket, or of all, as statistics show them.
func counts(by map[common.Status]int64) view.StatusCounts {
	var all [len(common.Statuses)]int64
	for i, status := range common.Statuses {
		all[i] = by[status]
	}
	return view.CountsOf(all)
}

// check compares figures with the ledger.
func (m *master) check(what string, got *view.Figures, ledger map[common.Status]int64) {
	m.t.Helper()
	want := counts(ledger)
	rate := want.SuccessRate()
	if got.Statuses != want || got.Fires != want.Total() || (got.SuccessRate == nil) != (rate == nil) ||
		rate != nil && *got.SuccessRate != *rate {
		m.t.Errorf("%s: %+v, the ledger has %+v", what, got, want)
	}
}

func sum(by map[time.Time]map[common.Status]int64, from time.Time) map[common.Status]int64 {
	total := map[common.Status]int64{}
	for at, statuses := range by {
		for status, n := range statuses {
			if !at.Before(from) {
				total[status] += n
			}
		}
	}
	return total
}

// Every endpoint that shows outcomes shows the same number as the ledger.
func TestFiguresAreThoseOfTheLedger(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 1, 30, 0, 0, time.UTC)
	for name, open := range map[string]func(t *testing.T) conformance.Store{
		"SQLite": func(t *testing.T) conformance.Store {
			s, err := sqlitelog.Open(t.Context(), filepath.Join(t.TempDir(), "runs.db"))
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		},
		"MongoDB": func(t *testing.T) conformance.Store {
			s, err := mongolog.Open(t.Context(), mongolog.Config{URI: mongotest.StartFast(t).URI})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			newMaster(t, open(t), now).agrees(now)
		})
	}
}

func (m *master) agrees(now time.Time) {
	zone, err := zoneinfo.Load("Asia/Shanghai")
	if err != nil {
		m.t.Fatal(err)
	}
	dayThere := func(at time.Time) time.Time {
		year, month, day := at.In(zone).Date()
		return time.Date(year, month, day, 0, 0, 0, 0, zone)
	}
	byHour, byDay := m.ledger("", "/fires", rollup.HourOf), m.ledger("", "/fires", dayThere)
	for _, job := range m.history.Jobs {
		path := "/jobs/" + url.PathEscape(job) + "/fires"
		maps.Copy(byHour, m.ledger(job, path, rollup.HourOf))
		maps.Copy(byDay, m.ledger(job, path, dayThere))
	}
	var attempts, ofNodes, retries int64
	for i := range m.history.Ended {
		r := &m.history.Ended[i]
		switch ran := r.StartedAt != nil && r.Status != common.StatusSkipped; {
		case ran && common.OfNode(r.ID):
			ofNodes++
		case ran:
			attempts++
		}
	}

	var overview stats.Overview
	m.get("/stats/overview", &overview)
	m.check("the last day", &overview.LastDay.Total, sum(byHour[""], overview.LastDay.From))
	for _, hour := range overview.LastDay.Hours {
		if want := counts(byHour[""][hour.At]); hour.Statuses != want {
			m.t.Errorf("the hour %v of the last day: %+v, the ledger has %+v", hour.At, hour.Statuses, want)
		}
	}
	m.attends(&overview)
	from := url.QueryEscape(now.AddDate(0, 0, -3).Format(time.RFC3339))
	for path, job := range map[string]string{"runs": "", "jobs/report": "report", "jobs/backup": "backup",
		"jobs/etl": "etl", "jobs/etl:load": "etl:load"} {
		var hours, days stats.Statistics
		m.get("/stats/"+path+"?by=hour&workers=true&from="+from, &hours)
		m.check(path, &hours.Total, sum(byHour[job], hours.From))
		for _, b := range hours.Buckets {
			m.check(path+" in an hour", &b.Figures, byHour[job][b.At.UTC()])
		}
		m.get("/stats/"+path+"?by=day&timezone=Asia/Shanghai&from="+from, &days)
		m.check(path+" by day", &days.Total, sum(byDay[job], days.From))
		for _, b := range days.Buckets {
			m.check(path+" in a day", &b.Figures, byDay[job][dayThere(b.At)])
		}
		if job == "" {
			retries = hours.Total.Retries
			workers := int64(0)
			for _, w := range hours.Workers {
				workers += w.Runs
			}
			if hours.Total.Runs != attempts || workers != attempts+ofNodes {
				m.t.Errorf("%d attempts, %d by worker, want %d and %d of nodes", hours.Total.Runs, workers, attempts,
					ofNodes)
			}
			if retries <= 0 || retries >= attempts {
				m.t.Errorf("%d retries of %d attempts", retries, attempts)
			}
		}
	}

	var list struct {
		Items []jobs.Job `json:"items"`
	}
	m.get("/jobs?include=stats", &list)
	for i := range list.Items {
		job := list.Items[i].Name
		want := counts(sum(byHour[job], time.Time{}))
		is := list.Items[i].Meta.Stats
		if is == nil || is.Fires != want.Ran() || is.SuccessRate == nil || *is.SuccessRate != *want.SuccessRate() {
			m.t.Errorf("the list of jobs has %+v for %s, the ledger %+v", is, job, want)
		}
	}
	if len(list.Items) != len(m.history.Jobs)-1 { // one is a step
		m.t.Errorf("%d jobs", len(list.Items))
	}
}
