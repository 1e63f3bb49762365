package jobmgr_test

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/etcdkit/etcdtest"
	flowetcd "carillon/internal/flow/etcd"
	"carillon/internal/jobmgr"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/jobmgr/live"
	"carillon/internal/jobmgr/plan"
	"carillon/internal/maintenance"
	"carillon/internal/runlog"
)

// shared is the etcd of the tests that neither stop nor compact it.
var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// story is a keyspace with one master.
type story struct {
	testing.TB
	server  *etcdtest.Server
	client  *clientv3.Client
	clock   *clock
	catalog *watched
	store   master
	changed atomic.Int64 // how often the store reported a change
	// unplaced returns why a job has no worker; may be nil.
	unplaced func(*common.StoredJob) *common.Reason
}

// master is what a master does with jobs.
type master struct {
	*jobmgr.Store
	*watched
	*live.Runs
	*plan.Fires
}

// watched is a catalog that remembers what its store expects of it.
type watched struct {
	*catalog.Catalog
	expected atomic.Int64
}

func (w *watched) Expect(revision int64) {
	w.expected.Store(max(revision, w.expected.Load()))
	w.Catalog.Expect(revision)
}

// UpToDate reports whether the catalog has received the store's writes.
func (w *watched) UpToDate() bool {
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // without waiting
	return w.Sync(ctx) >= w.expected.Load()
}

// clock is the master's wall clock; it moves only when the test moves it.
type clock struct{ nanos atomic.Int64 }

func (c *clock) now() time.Time          { return time.Unix(0, c.nanos.Load()).UTC() }
func (c *clock) set(t time.Time)         { c.nanos.Store(t.UnixNano()) }
func (c *clock) forward(d time.Duration) { c.nanos.Add(int64(d)) }

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	actor = common.Actor{Name: "ann", Remote: "192.0.2.7"}
	any0  = common.Precondition{}
)

func newStory(t testing.TB) *story { return storyOn(t, shared.Server(t)) }

// ownStory is for tests that compact etcd, or count its revisions or leases.
func ownStory(t testing.TB) *story { return storyOn(t, etcdtest.StartServer(t)) }

func storyOn(t testing.TB, server *etcdtest.Server) *story {
	s := &story{TB: t, server: server, clock: &clock{}}
	s.client = s.server.Client()
	s.clock.set(noon)
	s.catalog = &watched{Catalog: catalog.New(catalog.NewWatcher(s.client, func(err error) {
		if err != nil {
			t.Log("trouble:", err)
		}
	}), schedule.NewInterner(), s.clock.now)}
	s.store = s.master(s.catalog)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.catalog.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return s
}

func (s *story) master(catalog *watched) master {
	return s.with(jobmgr.Config{Catalog: catalog, Changed: func() { s.changed.Add(1) }}, nil)
}

// with returns a master with settings, of which it fills in those that most tests have in common.
func (s *story) with(cfg jobmgr.Config, outboxes *live.Outboxes) master {
	unplaced := func(job *common.StoredJob) *common.Reason {
		if s.unplaced == nil {
			return nil
		}
		return s.unplaced(job)
	}
	if cfg.Client == nil {
		cfg.Client = s.client
	}
	if cfg.Now == nil {
		cfg.Now = s.clock.now
	}
	known := s.catalog
	if given, ok := cfg.Catalog.(*watched); ok {
		known = given
	}
	m := master{
		watched: known,
		Runs: live.New(live.Config{Client: cfg.Client, Catalog: known.Catalog, Outboxes: outboxes,
			Unplaced: unplaced, Now: cfg.Now}),
		Fires: plan.New(known, unplaced, func() *maintenance.Set { return nil }),
	}
	cfg.Interner, cfg.Timezone, cfg.Catalog, cfg.Runs = schedule.NewInterner(), "UTC", known, m.Runs
	if cfg.Bodies == nil {
		cfg.Bodies = flowetcd.NewBodies(cfg.Client)
	}
	m.Store = jobmgr.NewStore(cfg)
	return m
}

// minutely returns a job that runs every minute.
func minutely(name string) common.Job {
	return common.Job{Name: name, CronExpr: "* * * * *", Timezone: "UTC", Command: "true"}
}

func (s *story) put(job common.Job) common.JobState {
	s.Helper()
	state, _, err := s.store.Put(s.Context(), actor, job, any0)
	if err != nil {
		s.Fatalf("put %s: %v", job.Name, err)
	}
	return state
}

func (s *story) remove(name string) {
	s.Helper()
	if err := s.store.Delete(s.Context(), actor, name, any0, common.DeleteRequest{}); err != nil {
		s.Fatalf("delete %s: %v", name, err)
	}
}

func (s *story) trigger(name string) common.Trigger {
	s.Helper()
	trigger, err := s.store.Trigger(s.Context(), actor, common.TriggerRequest{Job: name, Note: "please"})
	if err != nil {
		s.Fatalf("trigger %s: %v", name, err)
	}
	return trigger
}

// under reads the keys under a prefix, the oldest first.
func (s *story) under(prefix string) []*mvccpb.KeyValue {
	s.Helper()
	resp, err := s.client.Get(s.Context(), prefix, clientv3.WithPrefix(),
		clientv3.WithSort(clientv3.SortByCreateRevision, clientv3.SortAscend))
	if err != nil {
		s.Fatal(err)
	}
	return resp.Kvs
}

func (s *story) keys(prefix string) []string {
	s.Helper()
	kvs := s.under(prefix)
	keys := make([]string, len(kvs))
	for i, kv := range kvs {
		keys[i] = string(kv.Key)
	}
	return keys
}

// raw writes a value as another program would.
func (s *story) raw(key, value string) int64 {
	s.Helper()
	resp, err := s.client.Put(s.Context(), key, value)
	if err != nil {
		s.Fatal(err)
	}
	return resp.Header.Revision
}

func (s *story) revision() int64 {
	s.Helper()
	resp, err := s.client.Get(s.Context(), "/")
	if err != nil {
		s.Fatal(err)
	}
	return resp.Header.Revision
}

func (s *story) cursor(name string) time.Time {
	s.Helper()
	kvs := s.under(common.CursorKey(name))
	if len(kvs) != 1 {
		s.Fatalf("%d cursors of %s", len(kvs), name)
	}
	at, err := common.ParseTimeKey(string(kvs[0].Value))
	if err != nil {
		s.Fatal(err)
	}
	return at
}

// outcomes reads the outcomes that masters wrote for one uid of a job, by planned time.
func (s *story) outcomes(uid string) []common.Run {
	s.Helper()
	return slices.SortedFunc(slices.Values(all[common.Run](s, common.OutboxOf(common.MasterOutbox)+uid+".")),
		func(a, b common.Run) int { return cmp.Or(a.PlannedAt.Compare(b.PlannedAt), cmp.Compare(a.ID, b.ID)) })
}

// changes reads the changes of an object, the oldest first.
func (s *story) changes(name string) []common.Change {
	s.Helper()
	return slices.DeleteFunc(all[common.Change](s, common.ChangesPrefix), func(c common.Change) bool {
		return c.Name != name
	})
}

func all[T any](s *story, prefix string) []T {
	s.Helper()
	var found []T
	for _, kv := range s.under(prefix) {
		v, err := common.Decode[T](kv.Value)
		if err != nil {
			s.Fatalf("%s: %v", kv.Key, err)
		}
		found = append(found, v)
	}
	return found
}

func encode(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// record returns the record that a claim by a worker writes.
func record(job, uid, run, worker string) common.Record {
	return common.Record{
		Run:       run,
		Fire:      strings.TrimSuffix(run, ".1"),
		Job:       job,
		JobUID:    uid,
		PlannedAt: noon,
		ClaimedAt: noon,
		Attempt:   1,
		Cause:     common.CauseCron,
		Owner:     common.Life{Worker: worker, Name: "box-" + worker, Life: "l"},
		Nonce:     common.NewID(),
	}
}

func wantCode(t testing.TB, what string, err error, want common.Code) {
	t.Helper()
	if err == nil || common.CodeOf(err) != want {
		t.Fatalf("%s: error %v (%s), want code %s", what, err, common.CodeOf(err), want)
	}
}

// eventually waits for a result of another goroutine.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("not within 30 s: %s", what)
		case <-tick.C:
		}
	}
}

// liveRuns returns all runs that etcd holds.
func liveRuns(ctx context.Context, store master) ([]common.Run, error) {
	live, err := store.LiveRuns(ctx, &runlog.LiveQuery{})
	return live.Runs, err
}
