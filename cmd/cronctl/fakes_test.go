package main

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/flow"
	"carillon/internal/health"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/notify"
	"carillon/internal/runlog"
	"carillon/internal/runlog/rollup"
	"carillon/internal/runlog/tail"
)

const goodToken = "good-token"

// fakes stands behind the real API, in memory.
type fakes struct {
	begun    begun
	flows    flowing
	mu       sync.Mutex
	jobs     map[string]common.JobState
	version  int64
	runs     map[string]*common.Run
	output   map[string]string
	killed   []string
	moving   *common.Move // the handover in progress
	notes    []string
	runBy    []string // flows whose steps run a job
	asked    []common.TriggerRequest
	acked    map[string]runlog.AckState // by fire
	ledger   []common.Fire
	wanted   []runlog.FireQuery
	workers  common.WorkerSettings
	idle     []common.Member // other workers, which are eligible
	writes   int
	lasting  []common.Condition // active conditions
	records  []health.Record    // values that do not decode
	counted  rollup.Cell        // what each job has come to
	storeOff bool
	channels *channels
	overdue  []common.Overdue
	changes  []common.Change            // of jobs, newest first
	onAsk    func(f *fakes, run string) // called before a run is looked at
}

func (f *fakes) Authenticate(_ context.Context, c access.Credential) (access.Identity, error) {
	switch c.Token {
	case goodToken:
		return access.Identity{Name: "ann", Role: access.Admin}, nil
	case "viewer-token":
		return access.Identity{Name: "vic", Role: access.Viewer}, nil
	}
	return access.Identity{}, common.Errorf(common.CodeUnauthenticated, "the token is not valid")
}

func (f *fakes) Login(context.Context, access.Login) (access.Session, error) {
	return access.Session{}, common.Errorf(common.CodeUnauthenticated, "no")
}

func (f *fakes) KnownNetwork(context.Context, string, string) bool { return false }

func (f *fakes) Logout(context.Context, common.Actor, string) error { return nil }

func (f *fakes) Ready(context.Context) []health.Check { return nil }

func (f *fakes) Conditions() []common.Condition { return f.lasting }

func (f *fakes) Overview(context.Context) (health.Overview, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := health.Overview{Running: new(int64(2)), Jobs: health.JobCounts{Total: len(f.jobs)},
		Workers: health.WorkerCounts{Alive: 1, Slots: 8, Used: 2, Troubled: 1}, LogStore: health.StoreOK,
		Degraded: f.lasting}
	if len(f.lasting) > 0 {
		o.Running, o.LogStore = nil, health.StoreAway
	}
	return o, nil
}

func (f *fakes) List(_ context.Context, q common.JobQuery) ([]common.JobState, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []common.JobState
	for _, name := range slices.Sorted(maps.Keys(f.jobs)) {
		j := f.jobs[name]
		if name <= q.After || q.Group != "" && j.Group != q.Group || !strings.Contains(name, q.Q) ||
			q.Pick != nil && q.Pick.Only != nil && !q.Pick.Only(&common.JobFacts{Name: name, UID: j.UID}) {
			continue
		}
		if len(found) == q.Limit {
			return found, found[len(found)-1].Name, nil
		}
		found = append(found, j)
	}
	return found, "", nil
}

func (f *fakes) Count(ctx context.Context, q common.JobQuery) (int, error) {
	q.After, q.Limit = "", 1000
	jobs, _, err := f.List(ctx, q)
	return len(jobs), err
}

func (f *fakes) Get(_ context.Context, name string) (common.JobState, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	j, ok := f.jobs[name]
	if !ok {
		return j, common.Errorf(common.CodeNotFound, "there is no job %q", name)
	}
	return j, nil
}

func (f *fakes) UIDAndGroup(name string) (uid, group string, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.jobs[name].UID, f.jobs[name].Group, true
}

func (f *fakes) References(context.Context, common.Referent) map[string]int {
	return map[string]int{"ops": 2}
}

func (f *fakes) Referring(_ context.Context, _ common.Referent, object string, _ int) []string {
	if object != "ops" {
		return nil
	}
	return []string{"nightly", "weekly"}
}

func (f *fakes) InSteps(context.Context, string, int) (run, wait []string) { return f.runBy, nil }

func (f *fakes) IsParent(string) bool { return false }

func (f *fakes) Parents(_ context.Context, job *common.JobState) (states []common.ParentState, err error) {
	for i, parent := range job.After {
		states = append(states, common.ParentState{Job: parent, Waiting: i > 0})
	}
	return states, nil
}

func (f *fakes) Create(ctx context.Context, a common.Actor, job common.Job) (common.JobState, error) {
	if _, err := f.Get(ctx, job.Name); err == nil {
		return common.JobState{}, common.Errorf(common.CodeExists, "there is a job %q already", job.Name)
	}
	state, _, err := f.Put(ctx, a, job, common.Precondition{})
	return state, err
}

func (f *fakes) Complete(context.Context, *common.StoredJob) error { return nil }

func (f *fakes) Graph(_ context.Context, job *common.StoredJob, _ string) (*flow.Graph, error) {
	return flow.Compile(&job.Job)
}

func (f *fakes) Put(ctx context.Context, a common.Actor, job common.Job, pre common.Precondition) (common.JobState,
	bool, error) {
	checked, faults, _ := f.Validate(ctx, job)
	stored := checked.Job
	if len(faults) > 0 {
		return common.JobState{}, false, common.Invalid("the job is not valid", faults...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	old, exists := f.jobs[job.Name]
	if pre.Version != 0 && pre.Version != old.Version {
		return common.JobState{}, false, common.Errorf(common.CodeStale, "the job has another version")
	}
	f.version++
	f.writes++
	now := time.Now()
	state := common.JobState{
		StoredJob: common.StoredJob{
			Job:       stored,
			UID:       common.NewID(),
			CreatedAt: now,
			UpdatedAt: now,
			UpdatedBy: a.Name,
		},
		Version: f.version,
		Cursor:  now,
	}
	if old.Number > 0 {
		state.Number = old.Number + 1
	}
	f.jobs[job.Name] = state
	return state, !exists, nil
}

func (f *fakes) Delete(ctx context.Context, _ common.Actor, name string, _ common.Precondition,
	_ common.DeleteRequest) error {
	if _, err := f.Get(ctx, name); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.jobs, name)
	return nil
}

func (f *fakes) Validate(_ context.Context, job common.Job) (common.StoredJob, []common.Fault, error) {
	job.DefaultTimezone("UTC")
	faults := flow.Faults(&job)
	if job.HasSchedule() {
		if _, err := schedule.NewInterner().OfJob(&job); err != nil {
			faults = append(faults, common.Fault{Location: "cronExpr", Code: "cron", Message: err.Error()})
		}
	}
	return common.StoredJob{Job: job}, faults, nil
}

func (f *fakes) Trigger(ctx context.Context, a common.Actor, r common.TriggerRequest) (common.Trigger, error) {
	j, err := f.Get(ctx, r.Job)
	if err != nil {
		return common.Trigger{}, err
	}
	_, dropped := j.WithoutRemoved(r.Params, r.Inherited)
	if r.Dropped != nil && (r.Again == nil || r.Again.Flow == nil) {
		if err := r.Dropped(dropped); err != nil {
			return common.Trigger{}, err
		}
	}
	id := common.NewID()
	t := common.Trigger{
		ID:        id,
		Job:       r.Job,
		JobUID:    common.NewID(),
		Group:     j.Group,
		PlannedAt: time.Now(),
		Attempt:   1,
		Cause:     common.CauseManual,
		By:        a.Name,
		Note:      r.Note,
	}
	t.Fire = common.TriggeredFire(t.JobUID, id)
	if r.Again != nil {
		last, err := r.Again.Last(ctx)
		if err != nil {
			return common.Trigger{}, err
		}
		t.Fire, t.Attempt = last.Fire, last.Attempt+1
		if again := r.Again.Flow; again != nil {
			digest, err := again.Definition.Digest(&j.StoredJob, &last)
			if err == nil {
				_, t.Params, err = again.Keep(ctx, &last, digest)
			}
			if err != nil {
				return common.Trigger{}, err
			}
		}
	}
	run := t.AsRun()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes, f.asked = append(f.notes, r.Note), append(f.asked, r)
	f.runs[run.ID] = &run
	f.output[run.ID] = j.Command
	return t, nil
}

func (f *fakes) Kill(ctx context.Context, _ common.Actor, run string, k common.KillRequest) error {
	if _, err := f.Run(ctx, run); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.runs[run].Status.Terminal() {
		return common.Errorf(common.CodeConflict, "the run has ended")
	}
	request := strings.TrimSpace(run + " " + string(k.Signal))
	if k.Force {
		request += " force"
	}
	f.killed = append(f.killed, request)
	return nil
}

func (f *fakes) Run(_ context.Context, id string) (common.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.onAsk != nil {
		f.onAsk(f, id)
	}
	run, ok := f.runs[id]
	if !ok {
		return common.Run{}, common.Errorf(common.CodeNotFound, "there is no run %q", id)
	}
	return *run, nil
}

func (f *fakes) Runs(_ context.Context, q runlog.Query) (runlog.RunPage, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []common.Run
	for _, run := range f.runs {
		if q.Matches(run) {
			found = append(found, *run)
		}
	}
	slices.SortFunc(found, q.CompareRuns)
	return runlog.RunPage{Runs: found[:min(len(found), q.Limit)], Partial: len(f.lasting) > 0}, nil
}

func (f *fakes) Last(_ context.Context, jobs []string, n int) (map[string][]common.Run, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := map[string][]common.Run{}
	for _, id := range slices.Backward(slices.Sorted(maps.Keys(f.runs))) {
		if r := f.runs[id]; slices.Contains(jobs, r.Job) && len(last[r.Job]) < n {
			last[r.Job] = append(last[r.Job], *r)
		}
	}
	return last, f.storeOff, nil
}

// Rollups are one row for each hour, whatever is asked for, of what the test has put there.
func (f *fakes) Rollups(_ context.Context, q runlog.RollupQuery) ([]rollup.Row, error) {
	if f.storeOff {
		return nil, common.Errorf(common.CodeUnavailable, "the log store does not answer")
	}
	row := rollup.Row{At: rollup.HourOf(time.Now()), Job: q.Job, Cell: f.counted}
	if q.Workers {
		row.Worker = "w1"
	}
	return []rollup.Row{row}, nil
}

func (f *fakes) Totals(_ context.Context, jobs []string, _, _ time.Time) (map[string]rollup.Cell, error) {
	cells := map[string]rollup.Cell{}
	for _, job := range jobs {
		cells[job] = f.counted
	}
	return cells, nil
}

// Of lists the changes that the test has set, newest first.
func (f *fakes) Of(context.Context, string, string, []string, string, int) ([]common.Change, bool, error) {
	return f.changes, false, nil
}

func (f *fakes) Overdue(context.Context) ([]common.Overdue, error) { return f.overdue, nil }

func (f *fakes) Output(_ context.Context, run string, offset int64, limit int) ([]common.Chunk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text := f.output[run]
	if offset < 0 || offset >= int64(len(text)) { // it stores no start of a command
		return nil, nil
	}
	part := text[offset:]
	return []common.Chunk{{
		Run:    run,
		Offset: offset,
		Stream: common.Stdout,
		Data:   []byte(part[:min(len(part), limit)]),
	}}, nil
}

func (f *fakes) Pause(ctx context.Context, _ common.Actor, name string, r common.PauseRequest,
	_ common.Precondition) (common.JobState, error) {
	return f.edit(ctx, name, func(j *common.Job) { j.Paused, j.PauseNote, j.PauseUntil = true, r.Note, r.Until })
}

func (f *fakes) Resume(ctx context.Context, _ common.Actor, name string,
	_ common.Precondition) (common.JobState, error) {
	return f.edit(ctx, name, func(j *common.Job) { j.Paused, j.PauseNote, j.PauseUntil = false, "", nil })
}

func (f *fakes) Restart(ctx context.Context, actor common.Actor, name string,
	_ common.Precondition) (common.JobState, error) {
	f.notes = append(f.notes, actor.Note)
	return f.edit(ctx, name, func(*common.Job) {})
}

func (f *fakes) edit(ctx context.Context, name string, change func(*common.Job)) (common.JobState, error) {
	state, err := f.Get(ctx, name)
	if err != nil {
		return state, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	change(&state.Job)
	f.version++
	state.Version = f.version
	f.jobs[name] = state
	return state, nil
}

func (f *fakes) Fires(_ context.Context, q runlog.FireQuery) (page runlog.FirePage, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wanted = append(f.wanted, q)
	for i := range f.ledger {
		if !q.Matches(&f.ledger[i]) {
			continue
		}
		if len(page.Fires) == q.Limit {
			page.Next = &runlog.FireCursor{Position: runlog.PositionOfFire(&page.Fires[q.Limit-1]), Now: q.Now}
			break
		}
		page.Fires = append(page.Fires, f.ledger[i])
	}
	return page, nil
}

func (f *fakes) Waiting(context.Context, time.Time) (runlog.WaitingFires, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.lasting) > 0 {
		return runlog.WaitingFires{}, common.Errorf(common.CodeUnavailable, "etcd does not respond")
	}
	return runlog.WaitingFires{Waiting: 3, Paused: 8}, nil
}

func (f *fakes) Workers(context.Context) ([]common.Member, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]common.Member{{
		Registration: common.Registration{
			Life:      common.Life{Worker: "w1", Name: "alpha"},
			Host:      "host-a",
			Version:   "1.0",
			Slots:     8,
			Running:   2,
			Labels:    map[string]string{"zone": "a"},
			StartedAt: time.Now(),
			Clock:     time.Now(),
			Trouble:   "the disk is full",
			Conditions: []common.Condition{{
				Code:        common.ConditionDiskFull,
				Text:        "the disk is full",
				StopsClaims: true,
			}, {Code: common.ConditionLogStoreAway}},
			Lease:       7,
			Replicas:    map[string]int{"consumer": 2, "agent": 1},
			DaemonSlots: 3,
		},
		Settings: f.workers,
	},
		{
			Registration: common.Registration{Life: common.Life{Worker: "w2"}},
			Settings:     common.WorkerSettings{Drain: true},
		}}, f.idle...), nil
}

func (f *fakes) Masters(context.Context) ([]health.Master, error) {
	return []health.Master{{
		ID:         "m1",
		Host:       "north",
		Address:    "10.0.0.7:7070",
		Version:    "1.2.3",
		StartedAt:  time.Now(),
		Clock:      time.Now(),
		LeadsSince: new(time.Now()),
		Answers:    true,
	},
		{ID: "m2", Host: "south", Version: "1.2.2", Clock: time.Now(), SkewMs: 20}}, nil
}

func (f *fakes) UpdateWorker(_ context.Context, _ common.Actor, _ string,
	change func(*common.WorkerSettings) error) (common.WorkerSettings, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err := change(&f.workers)
	return f.workers, err
}

// DeleteSettings deletes the settings of w2, which is gone.
func (f *fakes) DeleteSettings(_ context.Context, _ common.Actor, id string) error {
	if id != "w2" {
		return common.Errorf(common.CodeConflict, "worker %s is alive", id)
	}
	f.writes++
	return nil
}

// end lets a run end. The caller holds the lock.
func (f *fakes) end(id string, status common.Status, code int) {
	run := f.runs[id]
	started, ended := time.Now().Add(-1500*time.Millisecond), time.Now()
	run.Status, run.ExitCode, run.StartedAt, run.EndedAt, run.WorkerName = status, &code, &started, &ended, "alpha"
	run.OutputBytes = int64(len(f.output[id]))
}

// stage is a server and calls of the program against it.
type stage struct {
	*fakes
	t      *testing.T
	server *httptest.Server
	stdin  string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	return newStageWith(t, func(*httpapi.Config) {})
}

// newStageWith is a stage of which some parts are other ones.
func newStageWith(t *testing.T, change func(*httpapi.Config)) *stage {
	t.Helper()
	f := &fakes{
		jobs:     map[string]common.JobState{},
		runs:     map[string]*common.Run{},
		output:   map[string]string{},
		channels: &channels{kept: map[string]notify.ChannelDefinition{}},
	}
	cfg := httpapi.Config{
		Jobs:       f,
		Runs:       f,
		Nodes:      fakeNodes{f},
		Acks:       f,
		LastFires:  f,
		Following:  tail.New(f, tail.Config{}),
		Workers:    f,
		Types:      f,
		Masters:    f,
		Channels:   f.channels,
		Defaults:   &apitest.FakeDefaults{},
		References: f,
		Auth:       f,
		Health:     f,
		Stats:      f,
		Ahead:      f,
		Counted:    f,
		Changes:    f,
		Findings:   f,
		Doctor:     f,
		Recovery:   f,
		Metrics:    http.NotFoundHandler(),
		Schedules:  schedule.NewInterner(),
		Version:    "1.2.3",
		Timezone:   "UTC",
		Logger:     slog.New(slog.DiscardHandler),
		Now:        time.Now,
	}
	change(&cfg)
	handler, err := httpapi.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return &stage{fakes: f, t: t, server: server}
}

// result is what a call of the program left behind.
type result struct {
	code     int
	out, err string
}

func (s *stage) run(args ...string) result {
	s.t.Helper()
	return s.runWith([]string{"CARILLON_SERVER=" + s.server.URL, "CARILLON_TOKEN=" + goodToken, "TZ=Asia/Tokyo"},
		args...)
}

func (s *stage) runWith(environ []string, args ...string) result {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(s.t.Context(), args, strings.NewReader(s.stdin), &stdout, &stderr, environ)
	return result{code, stdout.String(), stderr.String()}
}

// want fails the test unless the call ended so and printed all of the texts.
func (r result) want(t *testing.T, code int, texts ...string) result {
	t.Helper()
	if r.code != code {
		t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", r.code, code, r.out, r.err)
	}
	for _, text := range texts {
		if !strings.Contains(r.out+r.err, text) {
			t.Errorf("nothing says %q\nstdout: %s\nstderr: %s", text, r.out, r.err)
		}
	}
	return r
}

// file writes a file of the test's own folder.
func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
