package httpapi

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"carillon/internal/auth"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/runlog"
)

// fakes stands behind all ports, in memory.
type fakes struct {
	mu       sync.Mutex
	jobs     map[string]common.JobState
	version  int64
	runs     []common.Run
	chunks   map[string][]common.Chunk
	asked    []int64 // offsets that output was asked for
	workers  []common.Registration
	sessions map[string]auth.Identity
	codes    map[string]auth.Identity
	killed   []string
	notes    []string
	actors   []common.Actor
	fail     error // what every job call fails with
	unready  bool
	panics   bool
}

// The tokens of the fake are "<role>-token".
func (f *fakes) Authenticate(_ context.Context, c auth.Credential) (auth.Identity, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if role, ok := strings.CutSuffix(c.Token, "-token"); ok && auth.Role(role).Valid() {
		return auth.Identity{Name: "the " + role, Role: auth.Role(role), Token: role}, nil
	}
	if who, ok := f.sessions[c.Session]; ok && c.Session != "" {
		return who, nil
	}
	return auth.Identity{}, common.Errorf(common.CodeUnauthenticated, "the token or session is not valid")
}

func (f *fakes) Login(ctx context.Context, l auth.Login) (auth.Session, error) {
	var who auth.Identity
	if l.Code != "" {
		f.mu.Lock()
		found, ok := f.codes[l.Code]
		delete(f.codes, l.Code)
		f.mu.Unlock()
		if !ok {
			return auth.Session{}, common.Errorf(common.CodeUnauthenticated, "the code is not valid")
		}
		who = found
	} else {
		var err error
		if who, err = f.Authenticate(ctx, auth.Credential{Token: l.Token}); err != nil {
			return auth.Session{}, err
		}
	}
	who.Session = true
	secret := auth.NewSecret()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions[secret] = who
	return auth.Session{Secret: secret, Identity: who, ExpiresAt: time.Now().Add(auth.SessionAbsolute)}, nil
}

func (f *fakes) Logout(_ context.Context, _ common.Actor, session string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.sessions, session)
	return nil
}

func (f *fakes) List(_ context.Context, q common.JobQuery) (jobs []common.JobState, next string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.panics {
		panic("a secret thing")
	}
	for _, j := range f.jobs {
		if strings.Contains(j.Name, q.Q) && (q.Group == "" || q.Group == j.Group) && j.Name > q.After {
			jobs = append(jobs, j)
		}
	}
	slices.SortFunc(jobs, func(a, b common.JobState) int { return cmp.Compare(a.Name, b.Name) })
	if len(jobs) > q.Limit {
		jobs = jobs[:q.Limit]
		next = jobs[len(jobs)-1].Name
	}
	return jobs, next, f.fail
}

func (f *fakes) Get(_ context.Context, name string) (common.JobState, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil {
		return common.JobState{}, f.fail
	}
	if j, ok := f.jobs[name]; ok {
		return j, nil
	}
	return common.JobState{}, common.Errorf(common.CodeNotFound, "there is no job %q", name)
}

func (f *fakes) Create(ctx context.Context, actor common.Actor, job common.Job) (common.JobState, error) {
	if _, err := f.Get(ctx, job.Name); err == nil {
		return common.JobState{}, common.Errorf(common.CodeExists, "there is a job %q already", job.Name)
	}
	state, _, err := f.Put(ctx, actor, job, common.Precondition{})
	return state, err
}

func (f *fakes) Put(_ context.Context, actor common.Actor, job common.Job, pre common.Precondition) (common.JobState, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if faults := job.Faults(); len(faults) > 0 {
		return common.JobState{}, false, common.Invalid("the job is not valid", faults...)
	}
	old, exists := f.jobs[job.Name]
	if pre.Absent && exists || pre.Version != 0 && pre.Version != old.Version {
		return common.JobState{}, false, common.Errorf(common.CodeStale, "somebody else has changed the job")
	}
	f.version++
	f.actors = append(f.actors, actor)
	if job.Timezone == "" {
		job.Timezone = "UTC"
	}
	state := common.JobState{Version: f.version, StoredJob: common.StoredJob{Job: job, UID: common.NewID(), UpdatedBy: actor.Name,
		CreatedAt: time.Now(), UpdatedAt: time.Now()}}
	f.jobs[job.Name] = state
	return state, !exists, nil
}

func (f *fakes) Delete(ctx context.Context, _ common.Actor, name string, pre common.Precondition, kill bool) error {
	old, err := f.Get(ctx, name)
	if err != nil {
		return err
	}
	if pre.Version != 0 && pre.Version != old.Version {
		return common.Errorf(common.CodeStale, "somebody else has changed the job")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.jobs, name)
	if kill {
		f.killed = append(f.killed, name)
	}
	return nil
}

func (f *fakes) Validate(_ context.Context, job common.Job) (common.Job, []common.Fault, error) {
	return job, job.Faults(), nil
}

func (f *fakes) Trigger(ctx context.Context, _ common.Actor, name, note string) (common.Trigger, error) {
	j, err := f.Get(ctx, name)
	if err != nil {
		return common.Trigger{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.notes = append(f.notes, note)
	return common.Trigger{Job: name, Fire: common.TriggeredFire(j.UID, common.NewID()), Attempt: 1}, nil
}

func (f *fakes) Kill(ctx context.Context, _ common.Actor, run, note string) error {
	r, err := f.Run(ctx, run)
	if err != nil {
		return err
	}
	if r.Status.Terminal() {
		return common.Errorf(common.CodeConflict, "the run has ended")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.killed, f.notes = append(f.killed, run), append(f.notes, note)
	return nil
}

func (f *fakes) Run(_ context.Context, id string) (common.Run, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.runs {
		if r.ID == id {
			return r, nil
		}
	}
	return common.Run{}, common.Errorf(common.CodeNotFound, "there is no run %q", id)
}

func (f *fakes) Runs(_ context.Context, q runlog.Query) (runs []common.Run, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.runs {
		if q.Matches(&r) && len(runs) < q.Limit {
			runs = append(runs, r)
		}
	}
	return runs, nil
}

func (f *fakes) Output(_ context.Context, run string, offset int64, limit int) (chunks []common.Chunk, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, offset)
	size := 0
	for _, c := range f.chunks[run] {
		if c.End() > offset && (size == 0 || size+len(c.Data) <= limit) {
			chunks, size = append(chunks, c), size+max(1, len(c.Data))
		}
	}
	return chunks, nil
}

func (f *fakes) Workers(context.Context) ([]common.Registration, error) { return f.workers, nil }

func (f *fakes) Ready(context.Context) []Check {
	return []Check{{Name: "etcd", OK: !f.unready}}
}

func testConfig(t *testing.T, f *fakes) Config {
	t.Helper()
	f.jobs, f.sessions = map[string]common.JobState{}, map[string]auth.Identity{}
	return Config{Jobs: f, Runs: f, Workers: f, Auth: f, Health: f, Schedules: schedule.NewInterner(),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "carillon_up 1\n") }),
		Console: fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>Carillon</title>")},
			"assets/index.js": {Data: []byte("console.log(1)")}},
		Version: "0.1.0", Timezone: "UTC", Logger: slog.New(slog.DiscardHandler), Now: time.Now}
}
