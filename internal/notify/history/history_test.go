package history

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/jobmgr"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/jobmgr/live"
	"carillon/internal/jobmgr/plan"
	"carillon/internal/maintenance"
	"carillon/internal/notify"
	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
)

// shelf is a log store with what is in its fields.
type shelf struct {
	runlog.Reader
	away   bool
	runs   []common.Run
	chunks []common.Chunk
	cells  map[string]rollup.Cell
}

func (s *shelf) fault() error {
	if s.away {
		return common.Errorf(common.CodeUnavailable, "the log store is away")
	}
	return nil
}

func (s *shelf) Run(_ context.Context, id string) (common.Run, error) {
	if err := s.fault(); err != nil {
		return common.Run{}, err
	}
	for _, r := range s.runs {
		if r.ID == id {
			return r, nil
		}
	}
	return common.Run{}, common.Errorf(common.CodeNotFound, "there is no such run")
}

func (s *shelf) Runs(_ context.Context, q runlog.Query) (found runlog.Found, err error) {
	for _, r := range s.runs {
		if q.Matches(&r) {
			found.Runs = append(found.Runs, r)
		}
	}
	return found, s.fault()
}

func (s *shelf) Output(_ context.Context, _ string, offset int64, _ int) (found []common.Chunk, err error) {
	for _, c := range s.chunks {
		if c.End() > offset {
			found = append(found, c)
		}
	}
	return found, s.fault()
}

func (s *shelf) Rollups(context.Context, runlog.RollupQuery) ([]rollup.Row, error) {
	return nil, s.fault()
}

func (s *shelf) Totals(context.Context, []string, time.Time, time.Time) (map[string]rollup.Cell, error) {
	return s.cells, s.fault()
}

// rig is a Reader over a real etcd.
type rig struct {
	*testing.T
	etcd    *clientv3.Client
	jobs    *jobmgr.Store
	overdue []common.Overdue
}

func newReader(t *testing.T) (*rig, *shelf, *Reader) {
	t.Helper()
	r := &rig{T: t, etcd: etcdtest.Start(t)}
	log := &shelf{cells: map[string]rollup.Cell{}}
	interner := schedule.NewInterner()
	known := catalog.New(catalog.NewWatcher(r.etcd, nil), interner, time.Now)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { _ = known.Run(ctx); close(ended) }()
	t.Cleanup(func() { cancel(); <-ended })
	unplaced := func(*common.StoredJob) *common.Reason { return nil }
	runs := live.New(live.Config{Client: r.etcd, Catalog: known, Unplaced: unplaced, Now: time.Now})
	r.jobs = jobmgr.NewStore(jobmgr.Config{
		Client:   r.etcd,
		Interner: interner,
		Timezone: "UTC",
		Now:      time.Now,
		Catalog:  known,
		Changed:  func() {},
		Clock:    func() (time.Time, error) { return time.Now(), nil },
	})
	return r, log, New(Config{
		Catalog: known,
		Jobs:    r.jobs,
		Live:    runs,
		Runs:    runlog.NewView(runs, plan.New(known, unplaced, func() *maintenance.Set { return nil }), log),
		Habits:  runlog.NewHabits(log, time.Now),
		Overdue: func(context.Context) ([]common.Overdue, error) { return r.overdue, nil },
	})
}

func (r *rig) put(key string, value any) {
	r.Helper()
	data, err := json.Marshal(value)
	if err == nil {
		_, err = r.etcd.Put(r.Context(), key, string(data))
	}
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) save(name string, on ...common.Event) common.JobState {
	r.Helper()
	job, err := r.jobs.Create(r.Context(), common.Actor{Name: "ann"}, common.Job{
		Name:    name,
		Command: "true",
		Notify:  &common.Notify{On: on, To: []string{"ops"}},
	})
	if err != nil {
		r.Fatal(err)
	}
	return job
}

func TestWhatIsLate(t *testing.T) {
	r, log, from := newReader(t)
	now := time.Now().UTC()
	a, b := r.save("a", common.EventLate), r.save("b", common.EventLate)
	waits := func(id string, job *common.JobState, due time.Time) {
		r.put(common.TriggerKey(job.Name, id), common.Trigger{
			ID:        id,
			Job:       job.Name,
			JobUID:    job.UID,
			Fire:      common.TriggeredFire(job.UID, id),
			PlannedAt: due,
			NotBefore: due,
			Attempt:   1,
		})
	}
	runs := func(fire string, job *common.JobState, since time.Time) {
		id := common.RunID(fire, 1)
		r.put(common.RecordKey(job.Name, id), common.Record{
			Run:       id,
			Fire:      fire,
			Job:       job.Name,
			JobUID:    job.UID,
			PlannedAt: since,
			ClaimedAt: since,
			Attempt:   1,
		})
	}
	waits("soon", &a, now.Add(-30*time.Second))
	waits("long", &a, now.Add(-2*time.Minute))
	waits("other", &b, now.Add(-2*time.Minute))
	runs("quick", &a, now.Add(-30*time.Second))
	runs("slow", &a, now.Add(-10*time.Minute))
	runs("too.few", &b, now.Add(-10*time.Minute)) // there are too few runs to say
	var usual rollup.Cell
	for range 2 * runlog.EnoughRuns {
		usual.Add(&common.Run{
			Status:    common.StatusSucceeded,
			Attempt:   1,
			PlannedAt: now,
			StartedAt: new(now),
			EndedAt:   new(now.Add(10 * time.Second)),
		})
	}
	log.cells["a"] = usual
	r.overdue = []common.Overdue{{Job: "a", PlannedAt: now.Add(-3 * time.Minute)}, {Job: "stranger", PlannedAt: now}}
	late, err := from.Late(t.Context(), []common.JobState{a}, now)
	if err != nil {
		t.Fatal(err)
	}
	var fires []string
	for _, run := range late {
		fires = append(fires, run.Fire)
	}
	slices.Sort(fires)
	want := []string{common.PlannedFire(a.UID, now.Add(-3*time.Minute)), common.TriggeredFire(a.UID, "long"), "slow"}
	slices.Sort(want)
	if !slices.Equal(fires, want) {
		t.Errorf("late: %q, want %q", fires, want)
	}
	log.away = true
	if late, err = from.Late(t.Context(), []common.JobState{b}, now); err != nil || len(late) != 1 ||
		late[0].Fire != common.TriggeredFire(b.UID, "other") {
		t.Errorf("while the log store is away: %+v, %v", late, err)
	}
}

func TestWhatIsKnownOfRuns(t *testing.T) {
	r, log, from := newReader(t)
	job := r.save("a", common.EventFailed)
	now := time.Now().UTC()
	log.runs = []common.Run{{ID: "x.1", Job: "a", JobUID: job.UID, PlannedAt: now, Status: common.StatusFailed}}
	next := common.Trigger{ID: "t", Job: "a", JobUID: job.UID, Fire: "y", PlannedAt: now, NotBefore: now, Attempt: 2}
	r.put(common.TriggerKey("a", "t"), next)
	for _, away := range []bool{false, true} {
		log.away = away
		for id, want := range map[string]bool{"x.1": !away, "y.2": true, "y.3": false} {
			if found, err := from.Exists(t.Context(), id); err != nil || found != want {
				t.Errorf("%s while the store is away (%t): %t, %v", id, away, found, err)
			}
		}
	}
	since := func() (found map[string]bool, err error) {
		found = map[string]bool{}
		for mark := (notify.Mark{}); ; {
			runs, next, err := from.Since(t.Context(), "a", now.Add(-time.Hour), mark)
			for _, run := range runs {
				found[run.ID] = true
			}
			if mark = next; err != nil || mark == (notify.Mark{}) {
				return found, err
			}
		}
	}
	if runs, err := since(); common.CodeOf(err) != common.CodeUnavailable {
		t.Errorf("half a history was taken for all: %v, %v", runs, err)
	}
	log.away = false
	if runs, err := since(); err != nil || len(runs) != 2 {
		t.Errorf("%v, %v", runs, err)
	}
	if got, found, err := from.AtLeast(t.Context(), "a", job.Version); err != nil || !found || got.UID != job.UID {
		t.Errorf("%+v, %t, %v", got, found, err)
	}
	if _, found, err := from.AtLeast(t.Context(), "none", 0); err != nil || found {
		t.Errorf("%t, %v", found, err)
	}
}

func TestTheEndOfTheOutput(t *testing.T) {
	_, log, from := newReader(t)
	log.chunks = []common.Chunk{{
		Offset: 0,
		Data:   []byte(strings.Repeat("a", 3000)),
	}, {Offset: 3000, Missing: 50}, {Offset: 3050, Data: []byte("the end \xff每")}}
	text, err := from.Tail(t.Context(), "x", 3062, 100)
	if err != nil || !strings.HasSuffix(text, "aaathe end \uFFFD每") || len(text) > 110 {
		t.Errorf("%q, %v", text, err)
	}
	log.away = true
	if _, err := from.Tail(t.Context(), "x", 10, 100); err == nil {
		t.Error("a store that is away has told the end of the output")
	}
}
