package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/election"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/health"
	"carillon/internal/httpapi/system"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/runlog"
)

// rig is a master's state over a real etcd; its checks are the test's.
type rig struct {
	*testing.T
	server *etcdtest.Server
	etcd   *clientv3.Client
	store  atomic.Pointer[error] // what a ping tells
	state  *State
}

func (r *rig) Ping(context.Context) error { return *r.store.Load() }

// wall reads the wall clock as masters do.
func wall() time.Time { return time.Now().Round(0) }

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{T: t, server: etcdtest.StartServer(t)}
	r.etcd = r.server.Client()
	r.away(nil)
	workers := members.NewMembers(r.etcd, wall, func(string, error) {})
	jobs := catalog.New(catalog.NewWatcher(r.etcd, nil), schedule.NewInterner(), wall)
	r.state = New(Config{
		Client:  r.etcd,
		Probe:   NewProbe(r.etcd, r, nil),
		Catalog: jobs,
		Members: workers,
		Guard:   members.NewGuard(workers, "m", wall, nil, nil),
		Elector: election.New(election.Config{}), // no master is elected
		Workers: members.NewSettings(r.etcd, wall, func() {}),
		ID:      "m",
		Host:    "master-host",
		Version: "1.2",
		Now:     wall,
		Log:     slog.New(slog.DiscardHandler),
		Gauge:   func(string, bool) {},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{}, 2)
	go func() { _ = workers.Run(ctx); ended <- struct{}{} }()
	go func() { _ = jobs.Run(ctx); ended <- struct{}{} }()
	t.Cleanup(func() { cancel(); <-ended; <-ended })
	<-workers.Ready()
	for deadline := time.Now().Add(time.Minute); jobs.Fault() != nil; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the catalog did not receive the jobs within a minute")
		}
	}
	return r
}

func (r *rig) away(err error) { r.store.Store(&err) }

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

func (r *rig) erase(key string) {
	r.Helper()
	if _, err := r.etcd.Delete(r.Context(), key); err != nil {
		r.Fatal(err)
	}
}

// alive waits until so many workers are known to live.
func (r *rig) alive(n int) {
	r.Helper()
	r.known("workers", n, func(s *members.Snapshot) int { return len(s.Members) })
}

// known waits until so many of something are known.
func (r *rig) known(what string, n int, count func(*members.Snapshot) int) {
	r.Helper()
	for {
		changed := r.state.cfg.Members.Changed()
		if count(r.state.cfg.Members.Snapshot()) == n {
			return
		}
		select {
		case <-changed:
		case <-time.After(time.Minute):
			r.Fatalf("not %d %s within a minute", n, what)
		}
	}
}

// codes looks, and lists what was found.
func (r *rig) codes() (codes []string) {
	r.Helper()
	r.state.collect(r.Context())
	for _, c := range r.state.Conditions() {
		codes = append(codes, c.Code)
	}
	return codes
}

func (r *rig) want(when string, codes ...string) {
	r.Helper()
	if got := r.codes(); !slices.Equal(got, codes) {
		r.Errorf("%s: %q, want %q", when, got, codes)
	}
}

func registered(life string) common.Registration {
	return common.Registration{
		Life:    common.Life{Worker: "w1", Name: "north", Life: life},
		Slots:   4,
		Used:    3,
		Running: 2,
		Clock:   wall(),
		Lease:   1,
	}
}

func TestMasters(t *testing.T) {
	r := newRig(t)
	r.put(common.MasterKey("m"), common.MasterPresence{
		ID:        "m",
		Host:      "south",
		Address:   "10.0.0.7:7070",
		Version:   "2",
		StartedAt: wall(),
		Clock:     wall(),
		Skew:      time.Second,
	})
	r.put(common.MasterKey("old"), common.MasterPresence{ID: "old", Host: "north", Version: "1", Clock: wall()})
	count := func(s *members.Snapshot) int { return len(s.Masters) }
	r.known("masters", 2, count)
	all, err := r.state.Masters(t.Context())
	if err != nil || len(all) != 2 || all[0].Host != "north" || all[0].Answers || !all[0].StartedAt.IsZero() ||
		all[0].LeadsSince != nil {
		t.Fatalf("%+v, %v", all, err)
	}
	if m := all[1]; m.Host != "south" || !m.Answers || m.Address != "10.0.0.7:7070" || m.SkewMs != 1000 ||
		m.StartedAt.IsZero() {
		t.Errorf("%+v", m)
	}
	r.erase(common.MasterKey("old"))
	r.known("masters", 1, count)
}

func TestLogStoreAway(t *testing.T) {
	r := newRig(t)
	r.put(common.WorkerKey("w1"), registered("l1"))
	r.alive(1)
	if ready := system.ReadinessOf(r.state.Ready(t.Context()), nil); ready.Status != "unavailable" {
		t.Errorf("ready before the first check: %+v", ready)
	}
	r.want("all is well")
	o, err := r.state.Overview(t.Context())
	if err != nil || o.LogStore != health.StoreOK ||
		o.Workers != (health.WorkerCounts{Alive: 1, Slots: 4, Used: 3}) || o.Running == nil || *o.Running != 0 {
		t.Errorf("overview %+v, %v", o, err)
	}
	reader := runlog.Available{Away: r.state.cfg.Probe.StoreAway}

	r.away(errors.New("connection refused"))
	r.want("the log store is away", common.ConditionLogStoreAway)
	ready := system.ReadinessOf(r.state.Ready(t.Context()), r.state.Conditions())
	if ready.Status != "degraded" || ready.Conditions[0].Who != "master-host" {
		t.Errorf("a master without its log store is %+v", ready)
	}
	if o, err = r.state.Overview(t.Context()); err != nil || o.LogStore != health.StoreAway || o.Running == nil {
		t.Errorf("overview %+v, %v", o, err)
	}
	// Callers get an error at once.
	if _, err := reader.Runs(t.Context(), runlog.Query{}); common.CodeOf(err) != common.CodeUnavailable {
		t.Errorf("a read of it: %v", err)
	}
	if _, err := reader.Totals(t.Context(), []string{"a"}, time.Time{},
		time.Time{}); common.CodeOf(err) != common.CodeUnavailable {
		t.Errorf("its statistics: %v", err)
	}
	if _, err := reader.Rollups(t.Context(), runlog.RollupQuery{}); common.CodeOf(err) != common.CodeUnavailable {
		t.Errorf("its statistics: %v", err)
	}
	since := r.state.Conditions()[0].From
	r.want("it is away still", common.ConditionLogStoreAway)
	if again := r.state.Conditions()[0].From; !again.Equal(since) || since.IsZero() {
		t.Errorf("away since %v, then since %v", since, again)
	}
	r.away(nil)
	r.want("it is back")
}

func TestWorkersConditionsAreShown(t *testing.T) {
	r := newRig(t)
	reg := registered("l1")
	reg.Trouble = "the disk is full"
	reg.Conditions = []common.Condition{{
		Code:        common.ConditionDiskFull,
		Who:         "another worker",
		Text:        "the disk is full",
		StopsClaims: true,
		From:        wall(),
	}}
	r.put(common.WorkerKey("w1"), reg)
	r.alive(1)
	r.want("a worker tells of itself", common.ConditionDiskFull)
	o, err := r.state.Overview(t.Context())
	if err != nil || o.Workers.Troubled != 1 || len(o.Degraded) != 1 || o.Degraded[0].Who != "north" {
		t.Errorf("overview %+v, %v", o, err)
	}
}

// A worker that dies with unresolved runs is reported; one without runs is not.
func TestWorkerLost(t *testing.T) {
	r := newRig(t)
	for i, w := range []string{"w1", "w2"} {
		reg := registered("l-" + w)
		reg.Worker, reg.Name = w, "name-"+w
		r.put(common.WorkerKey(w), reg)
		r.alive(i + 1)
		r.codes() // it joined after a check
	}
	record := common.Record{
		Run:    "u.f.1",
		Fire:   "u.f",
		Job:    "a",
		JobUID: "u",
		Owner:  common.Life{Worker: "w2", Name: "name-w2", Life: "l-w2"},
	}
	r.put(common.RecordKey("a", record.Run), record)
	r.want("both live")
	r.erase(common.WorkerKey("w2"))
	r.alive(1)
	r.codes() // at the first look it may just not be known yet
	r.want("one is gone, and its run stands", common.ConditionWorkerLost)
	if c := r.state.Conditions()[0]; c.Data["worker"] != "name-w2" || c.Data["runs"] != "1" {
		t.Errorf("it is said as %+v", c)
	}
	r.erase(common.RecordKey("a", record.Run))
	r.want("its run is resolved")
	// No worker is left.
	r.erase(common.WorkerKey("w1"))
	r.alive(0)
	r.want("the last one has gone a moment ago")
	r.state.mu.Lock()
	r.state.seen.noWorkers = wall().Add(-noWorkersFor)
	r.state.mu.Unlock()
	r.want("no worker joined", common.ConditionNoWorkers)
	r.put(common.WorkerKey("w1"), registered("l3"))
	r.alive(1)
	r.want("a worker joined")
}

// In a rolling upgrade old workers leave alone what they do not know.
func TestWorkerTooOld(t *testing.T) {
	r := newRig(t)
	for _, w := range []string{"old", "new"} {
		reg := registered("l-" + w)
		reg.Worker, reg.Name, reg.Version = w, "name-"+w, "v-"+w
		if w == "new" {
			reg.Features = []string{common.FeatureDetach}
		}
		r.put(common.WorkerKey(w), reg)
	}
	r.alive(2)
	r.want("no job needs anything")
	job := common.StoredJob{Job: common.Job{Name: "a", Command: "true", OnLost: common.LostDetach}, UID: "u"}
	if _, err := r.etcd.Put(t.Context(), common.CursorKey("a"), common.TimeKey(wall())); err != nil {
		t.Fatal(err)
	}
	r.put(common.JobKey("a"), job)
	for begun := time.Now(); len(r.state.cfg.Catalog.Needs()) == 0; time.Sleep(time.Millisecond) {
		if time.Since(begun) > time.Minute {
			t.Fatal("the catalog did not receive the job within a minute")
		}
	}
	r.want("a job does", common.ConditionMissesFeature)
	if c := r.state.Conditions()[0]; c.Data["worker"] != "name-old" || c.Data["needs"] != common.FeatureDetach {
		t.Errorf("it is said as %+v", c)
	}
}

func TestUnreadableEntries(t *testing.T) {
	r := newRig(t)
	r.put(common.WorkerKey("w1"), registered("l1"))
	r.alive(1)
	r.put(common.RecordKey("a", "x.1"), "no record")
	r.want("a record", common.ConditionUnreadable)
	if c := r.state.Conditions()[0]; c.Data["count"] != "1" || c.Data["first"] != common.RecordKey("a", "x.1") {
		t.Errorf("it is said as %+v", c)
	}
}

func TestEtcdFullAndAway(t *testing.T) {
	r := newRig(t)
	r.put(common.WorkerKey("w1"), registered("l1"))
	r.alive(1)
	r.want("all is well")
	alarm := func(action pb.AlarmRequest_AlarmAction) {
		t.Helper()
		if _, err := pb.NewMaintenanceClient(r.etcd.ActiveConnection()).Alarm(t.Context(),
			&pb.AlarmRequest{Action: action, Alarm: pb.AlarmType_NOSPACE}); err != nil {
			t.Fatal(err)
		}
	}
	alarm(pb.AlarmRequest_ACTIVATE)
	r.want("etcd takes no writes", common.ConditionEtcdFull)
	alarm(pb.AlarmRequest_DEACTIVATE)
	r.want("etcd has room again")
	_ = r.etcd.Close() // no request succeeds any more
	r.want("etcd is away", common.ConditionEtcdAway)
	if ready := system.ReadinessOf(r.state.Ready(t.Context()), r.state.Conditions()); ready.Status != "unavailable" {
		t.Errorf("a master without etcd is %+v", ready)
	}
	if o, err := r.state.Overview(t.Context()); err != nil || o.Running != nil || len(o.Degraded) != 1 {
		t.Errorf("overview %+v, %v", o, err)
	}
}

// Jobs cannot be saved while etcd's data takes more than 80 percent of a quota that it tells.
func TestSavesAreRefusedWhileEtcdIsNearlyFull(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.state.collect(t.Context())
	if used := r.state.cfg.Probe.Latest().used; used < 0 || used >= savesUpTo {
		t.Fatalf("a new etcd is %d %% full", used)
	}
	if err := r.state.cfg.Probe.Room(); err != nil {
		t.Fatal(err)
	}
	for used, refused := range map[int64]bool{0: false, 79: false, 80: true, 99: true} {
		r.state.cfg.Probe.mu.Lock()
		r.state.cfg.Probe.last.used = used
		r.state.cfg.Probe.mu.Unlock()
		err := r.state.cfg.Probe.Room()
		if e, ok := errors.AsType[*common.Error](err); (err != nil) != refused || refused &&
			(!ok || e.Reason != "etcd_nearly_full" || e.Code != common.CodeUnavailable) {
			t.Errorf("%d %%: %v", used, err)
		}
	}
}

// A standalone's etcd writes to the disk of the data folder.
func TestSavesAreRefusedWhileTheDiskIsFull(t *testing.T) {
	t.Parallel()
	var full error
	p := NewProbe(nil, nil, func() error { return full })
	if err := p.Room(); err != nil {
		t.Fatal(err)
	}
	full = syscall.ENOSPC
	if e, ok := errors.AsType[*common.Error](p.Room()); !ok || e.Reason != "disk_full" ||
		e.Code != common.CodeUnavailable || !errors.Is(e, syscall.ENOSPC) {
		t.Errorf("%v", p.Room())
	}
}

// slowStore is a log store whose answer to a ping can be held back, whatever the caller's deadline.
type slowStore struct{ mu sync.Mutex }

func (s *slowStore) Ping(context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return nil
}

// A log store that never answers, whatever the deadline, is away; one that takes longer than a look is not.
func TestLogStoreThatIsSlowIsNotAway(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for a log store that does not answer")
	}
	store := &slowStore{}
	p := NewProbe(etcdtest.Start(t), store, nil)
	check := func() {
		ctx, cancel := context.WithTimeout(t.Context(), lookLimit)
		defer cancel()
		p.check(ctx)
	}
	store.mu.Lock()
	check()
	if p.StoreAway() {
		t.Errorf("after the time of one look: %v", p.Latest().Store)
	}
	for !p.StoreAway() {
		check()
	}
	if waited := time.Since(p.asked); waited < pingLimit {
		t.Errorf("away after %v", waited)
	}
	store.mu.Unlock()
	for p.StoreAway() {
		check()
	}
}
