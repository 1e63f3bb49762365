package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"

	"carillon/internal/cluster/continuity"
	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/etcdkit/request"
	"carillon/internal/executor"
	"carillon/internal/health"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/config"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/metrics"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/runlog/spool"
	"carillon/internal/runlog/sqlitelog"
	"carillon/internal/scheduler"
	"carillon/internal/secrets/crypt"
)

// shared is the etcd of the tests that neither stop nor compact it.
var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// A loop of a daemon is one of its parts that serve, or one of the elected master's duties. Each raises a condition
// when it stands still: one of its health.Loops, or one that it raises itself.
type watched struct {
	loops []string // by name, in health.Loops
	codes []string // conditions that the part raises itself
	ends  string   // why it needs none: the process ends when it fails
	tests []string // what shows it
}

const (
	stuckWorker = "TestStuckLoopOfAWorkerHasACondition"
	stuckMaster = "TestStuckLoopOfAMasterHasACondition"
)

func certificatesRow() watched {
	return watched{codes: []string{common.ConditionCertificateEnds, common.ConditionCertificateBad},
		tests: []string{"TestReplacedCertificateIsUsed", "TestCertificateThatEnds"}}
}

func workerTable() map[string]watched {
	return map[string]watched{
		"guardian":     {ends: "the worker ends with its guardian", tests: []string{"TestNothingOutlivesTheWorker"}},
		"session":      {codes: []string{common.ConditionEtcdAway}, tests: []string{"TestSilentEtcdIsTold"}},
		"conditions":   {ends: "it only reads memory, and raises the others"},
		"certificates": certificatesRow(),
		"registration": {loops: []string{"registration"}, tests: []string{stuckWorker}},
		"sink": {
			loops: []string{"delivery"},
			tests: []string{stuckWorker, "TestConditions_StoreAway_IsReported",
				"TestConditions_OutboxOverItsShare_StopsClaims", "TestSink_DiskFull_DroppedOutputIsRecorded"},
			codes: []string{common.ConditionLogStoreAway, common.ConditionOutboxFull, common.ConditionSpoolFull,
				common.ConditionDiskFull},
		},
		"members": {
			loops: []string{"watch_workers", "watch_settings", "watch_masters"},
			tests: []string{stuckWorker},
		},
		"outboxes":        {loops: []string{"outbox_size"}, tests: []string{stuckWorker}},
		"recovery":        {loops: []string{"recovery"}, tests: []string{stuckWorker}},
		"outbox_recovery": {loops: []string{"outbox_recovery"}, tests: []string{stuckWorker}},
		"secrets":         {loops: []string{"watch_secrets"}, tests: []string{stuckWorker}},
		"scheduler":       {loops: []string{"scheduler"}, tests: []string{"TestSchedulerReportsItsRounds"}},
		"cluster": {loops: []string{"membership"}, codes: []string{common.ConditionClockOff},
			tests: []string{"TestClockConditions", "TestLoopsAreStuckAfterTheirLimit"}},
		"kills": {loops: []string{"watch_kills"}, tests: []string{stuckWorker}},
		"dispatcher": {loops: []string{"finishes"}, codes: []string{common.ConditionOverdue},
			tests: []string{"TestRefusedFinishIsStuck", "TestOverdue"}},
		"jobs":        {loops: []string{"watch_jobs"}, tests: []string{stuckWorker}},
		"triggers":    {loops: []string{"watch_triggers"}, tests: []string{stuckWorker}},
		"gauges":      {ends: "it only copies a figure"},
		"etcd origin": {ends: "it only notices by itself what every other answer of etcd shows as well"},
		"clock":       {ends: "it only writes what the next start reads; the clock is judged without it"},
	}
}

func masterTable() map[string]watched {
	return map[string]watched{
		"master session": {
			loops: []string{"presence"},
			codes: []string{common.ConditionEtcdAway},
			tests: []string{stuckMaster, "TestEtcdFullAndAway"},
		},
		"presence": {loops: []string{"presence"}, tests: []string{stuckMaster}},
		"membership": {
			loops: []string{"watch_workers", "watch_settings", "watch_masters"},
			tests: []string{stuckMaster},
		},
		"catalog":        {loops: []string{"watch_jobs"}, tests: []string{stuckMaster}},
		"outboxes":       {loops: []string{"watch_outboxes"}, tests: []string{stuckMaster}},
		"outcomes":       {loops: []string{"delivery"}, tests: []string{stuckMaster}},
		"catalog gauges": {ends: "it only copies figures"},
		"lookout": {loops: []string{"lookout"}, codes: []string{common.ConditionEtcdAway, common.ConditionLogStoreAway},
			tests: []string{"TestLogStoreThatIsSlowIsNotAway", "TestEtcdFullAndAway", "TestLogStoreAway"}},
		"conditions":   {ends: "it only reads memory, and raises the others"},
		"certificates": certificatesRow(),
		"findings":     {loops: []string{"watch_findings"}, tests: []string{stuckMaster}},
		"events":       {loops: []string{"watch_events"}, tests: []string{stuckMaster}},
		"last fires":   {ends: "requests that need it are answered with an error after 10 s"},
		"elected":      {loops: []string{"watch_election", "election"}, tests: []string{stuckMaster}},
		"origin":       {ends: "it only notices by itself what every other answer of etcd shows as well"},
		"api":          {ends: "the process ends when it cannot listen or serve"},

		"duty housekeeping": {loops: []string{"duty_housekeeping"}, codes: []string{common.ConditionHousekeeping},
			tests: []string{"TestDutiesAreBegunAgain", "TestStoreFails"}},
		"duty audit":    {loops: []string{"duty_audit"}, tests: []string{"TestDutiesAreBegunAgain", stuckMaster}},
		"duty findings": {loops: []string{"duty_findings"}, tests: []string{stuckMaster}},
		"duty audit_chain": {loops: []string{"duty_audit_chain"}, codes: []string{common.ConditionAuditStuck},
			tests: []string{"TestDutiesAreBegunAgain", "TestSealerThatFailsHasACondition"}},
		"duty notifications": {loops: []string{"duty_notifications"}, tests: []string{stuckMaster}},
		"duty job_metrics": {
			loops: []string{"duty_job_metrics"},
			tests: []string{stuckMaster, "TestMetricsOfJobsOnTheElectedMaster"},
		},
		"duty channels": {loops: []string{"duty_channels"}, codes: []string{common.ConditionNotifyFailing},
			tests: []string{stuckMaster, "TestChannelsThatFail"}},
	}
}

// A new part or duty must say what raises a condition when it stands still.
func TestEveryLoopHasAConditionAndATest(t *testing.T) {
	t.Parallel()
	client := shared.Start(t)
	tests := testNames(t)
	page, err := os.ReadFile("../../../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	check := func(daemon string, table map[string]watched, names []string, specs []health.Spec) {
		known := map[string]bool{}
		for _, name := range names {
			row, listed := table[name]
			if !listed {
				t.Errorf("%s: %q has no row in the table of loops: which condition does it raise when it stands still?",
					daemon, name)
				continue
			}
			delete(table, name)
			if len(row.loops)+len(row.codes) == 0 && row.ends == "" {
				t.Errorf("%s: %q raises nothing", daemon, name)
			}
			if row.ends == "" && len(row.tests) == 0 {
				t.Errorf("%s: %q has no test", daemon, name)
			}
			for _, test := range row.tests {
				if !tests[test] {
					t.Errorf("%s: %q names %s, which is no test", daemon, name, test)
				}
			}
			for _, code := range row.codes {
				if !slices.Contains(common.ConditionCodes(), code) {
					t.Errorf("%s: %q names %s, which is no condition", daemon, name, code)
				}
			}
			for _, loop := range row.loops {
				known[loop] = true
			}
			if !strings.Contains(string(page), "| "+name+" |") {
				t.Errorf("docs/reliability.md has no row for %q of a %s", name, daemon)
			}
		}
		for name := range table {
			t.Errorf("%s: %q is in the table of loops, and is no part of it", daemon, name)
		}
		for _, spec := range specs {
			if !known[spec.Name] {
				t.Errorf("%s: loop %s belongs to no part", daemon, spec.Name)
			}
			delete(known, spec.Name)
			if spec.Effect == "" || spec.Limit > time.Minute {
				t.Errorf("%s: loop %s: effect %q, limit %v", daemon, spec.Name, spec.Effect, spec.Limit)
			}
			if !strings.Contains(string(page), "`"+spec.Name+"`") {
				t.Errorf("docs/reliability.md does not name loop %s", spec.Name)
			}
		}
		for name := range known {
			t.Errorf("%s: there is no loop %s", daemon, name)
		}
	}
	w := newLoopsWorker(t, client, 0)
	t.Cleanup(func() { _ = w.executor.Close() })
	check("worker", workerTable(), servingNames(w.Parts()), w.loops.Specs())
	m := newLoopsMaster(t, client, 0)
	names := servingNames(m.Parts())
	for _, d := range m.duties {
		names = append(names, "duty "+d.Name)
		if d.Loop == nil {
			t.Errorf("duty %s has no loop", d.Name)
		}
	}
	check("master", masterTable(), names, m.loops.Specs())
}

// servingNames returns the names of the parts that serve.
func servingNames(parts []lifecycle.Part) (names []string) {
	for _, p := range parts {
		if p.Serve != nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// testNames returns the names of all tests of the module.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	out, err := exec.Command("grep", "-rhoE", "--include=*_test.go", "^func Test[A-Za-z0-9_]*", "../../..").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		names[strings.TrimPrefix(strings.TrimSpace(line), "func ")] = true
	}
	return names
}

// gate refuses what a client asks of keys under a prefix, while it is closed.
type gate struct {
	mu     sync.Mutex
	prefix string        // "" while it is open
	writes bool          // only writes are refused
	moved  chan struct{} // closed, and made anew, with each change
}

func newGate() *gate { return &gate{moved: make(chan struct{})} }

func (g *gate) set(prefix string, writes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.prefix, g.writes = prefix, writes
	close(g.moved)
	g.moved = make(chan struct{})
}

func (g *gate) refuses(key []byte, write bool) (bool, <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.prefix != "" && strings.HasPrefix(string(key), g.prefix) && (write || !g.writes), g.moved
}

func (g *gate) check(ops ...clientv3.Op) error {
	for _, op := range ops {
		if op.IsTxn() {
			_, then, otherwise := op.Txn()
			if err := g.check(slices.Concat(then, otherwise)...); err != nil {
				return err
			}
			continue
		}
		if op.IsKeysOnly() && string(op.KeyBytes()) == common.JobsPrefix {
			continue // the check of the monitor whether etcd responds
		}
		if no, _ := g.refuses(op.KeyBytes(), !op.IsGet()); no {
			return rpctypes.ErrPermissionDenied
		}
	}
	return nil
}

// client returns a client that goes through the gate.
func (g *gate) client(t *testing.T, real *clientv3.Client) *clientv3.Client {
	t.Helper()
	c := clientv3.NewCtxClient(real.Ctx())
	c.KV = request.Local{KV: gatedKV{real.KV, g}, Service: gatedService{request.Of(real), g}}
	c.Watcher, c.Lease, c.Maintenance, c.Cluster = gatedWatcher{real.Watcher, g}, real.Lease,
		statusOf{real.Maintenance, real}, real.Cluster
	return c
}

// statusOf asks for the status of the real client's endpoint, since a client made of parts has none.
type statusOf struct {
	clientv3.Maintenance
	real *clientv3.Client
}

func (s statusOf) Status(ctx context.Context, _ string) (*clientv3.StatusResponse, error) {
	return s.Maintenance.Status(ctx, s.real.Endpoints()[0])
}

// gatedService is the KV service of the packages that use package request.
type gatedService struct {
	request.KV
	gate *gate
}

func (s gatedService) Txn(ctx context.Context, txn *etcdserverpb.TxnRequest,
	opts ...grpc.CallOption) (*etcdserverpb.TxnResponse, error) {
	if s.gate.refusesTxn(txn) {
		return nil, rpctypes.ErrPermissionDenied
	}
	return s.KV.Txn(ctx, txn, opts...)
}

func (g *gate) refusesTxn(txn *etcdserverpb.TxnRequest) bool {
	return slices.ContainsFunc(slices.Concat(txn.Success, txn.Failure), func(op request.Op) bool {
		if inner := op.GetRequestTxn(); inner != nil {
			return g.refusesTxn(inner)
		}
		read := op.GetRequestRange()
		key := slices.Concat(read.GetKey(), op.GetRequestPut().GetKey(), op.GetRequestDeleteRange().GetKey())
		no, _ := g.refuses(key, read == nil)
		return no
	})
}

type gatedKV struct {
	clientv3.KV
	gate *gate
}

func (k gatedKV) Get(ctx context.Context, key string, opts ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if err := k.gate.check(clientv3.OpGet(key, opts...)); err != nil {
		return nil, err
	}
	return k.KV.Get(ctx, key, opts...)
}

func (k gatedKV) Put(ctx context.Context, key, val string, opts ...clientv3.OpOption) (*clientv3.PutResponse, error) {
	if err := k.gate.check(clientv3.OpPut(key, val)); err != nil {
		return nil, err
	}
	return k.KV.Put(ctx, key, val, opts...)
}

func (k gatedKV) Txn(ctx context.Context) clientv3.Txn {
	return &gatedTxn{Txn: k.KV.Txn(ctx), gate: k.gate}
}

type gatedTxn struct {
	clientv3.Txn
	gate *gate
	err  error
}

func (x *gatedTxn) If(cs ...clientv3.Cmp) clientv3.Txn { x.Txn.If(cs...); return x }

func (x *gatedTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	x.err = x.gate.check(ops...)
	x.Txn.Then(ops...)
	return x
}

func (x *gatedTxn) Else(ops ...clientv3.Op) clientv3.Txn { x.Txn.Else(ops...); return x }

func (x *gatedTxn) Commit() (*clientv3.TxnResponse, error) {
	if x.err != nil {
		return nil, x.err
	}
	return x.Txn.Commit()
}

type gatedWatcher struct {
	clientv3.Watcher
	gate *gate
}

func (w gatedWatcher) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	ctx, cancel := context.WithCancel(ctx)
	in, out := w.Watcher.Watch(ctx, key, opts...), make(chan clientv3.WatchResponse)
	go func() {
		defer cancel()
		defer close(out)
		for {
			no, moved := w.gate.refuses([]byte(key), false)
			if no {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-moved:
			case resp, ok := <-in:
				if !ok {
					return
				}
				select {
				case out <- resp:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return out
}

func newLoopsWorker(t *testing.T, client *clientv3.Client, limit time.Duration) *Worker {
	t.Helper()
	dir, log := t.TempDir(), slog.New(slog.DiscardHandler)
	home, err := executor.OpenHome(dir, "north")
	if err != nil {
		t.Fatal(err)
	}
	output, err := spool.Open(spool.Config{Dir: dir, Max: 16 << 20, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	node := &Node{
		Node:   config.Node{Slots: 4},
		Home:   home,
		Spool:  output,
		Clock:  continuity.NewClock(log),
		Origin: continuity.NewOrigin(log),
	}
	t.Cleanup(func() { _ = node.Close() })
	box, err := crypt.Parse(crypt.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWorker(WorkerConfig{
		Process: Process{
			Etcd:      client,
			Store:     newLoopsStore(t),
			Version:   "test",
			Log:       log,
			Registry:  metrics.NewRegistry("test"),
			loopLimit: limit,
		},
		Node: node,
		Box:  box,
		Boot: bootclock.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func newLoopsStore(t *testing.T) *sqlitelog.Store {
	t.Helper()
	store, err := sqlitelog.Open(t.Context(), filepath.Join(t.TempDir(), "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func newLoopsMaster(t *testing.T, client *clientv3.Client, limit time.Duration) *Master {
	t.Helper()
	m, err := NewMaster(MasterConfig{
		Process: Process{
			Etcd:      client,
			Store:     newLoopsStore(t),
			Version:   "test",
			Log:       slog.New(slog.DiscardHandler),
			Registry:  metrics.NewRegistry("test"),
			loopLimit: limit,
		},
		ID:     common.NewID(),
		Clock:  continuity.NewClock(slog.New(slog.DiscardHandler)),
		Origin: continuity.NewOrigin(slog.New(slog.DiscardHandler)),
		API:    config.API{HTTP: config.HTTP{Listen: "127.0.0.1:0"}, Timezone: "UTC"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// serve runs the parts of a daemon until the test ends, without those that need processes of their own.
func serve(t *testing.T, parts []lifecycle.Part) {
	t.Helper()
	parts = slices.DeleteFunc(parts, func(p lifecycle.Part) bool {
		return p.Name == "guardian"
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- lifecycle.New(slog.New(slog.DiscardHandler), parts...).Run(ctx, ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Logf("ended with %v", err)
		}
	})
}

// becomes waits until a loop has, or no longer has, a condition with the gate's error.
func becomes(t *testing.T, conditions func() []common.Condition, loop, code string, stuck bool) {
	t.Helper()
	var all []common.Condition
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		all = conditions()
		found := slices.ContainsFunc(all, func(c common.Condition) bool {
			return c.Data["loop"] == loop && c.Code == code &&
				(!stuck || loop == "election" || c.Data["error"] != "") && (stuck || c.Data["error"] != "")
		})
		if found == stuck {
			return
		}
	}
	t.Fatalf("loop %s: stuck is never %t; conditions %+v", loop, stuck, all)
}

const stuckLimit = 200 * time.Millisecond

// Whatever a worker is refused by etcd, the loop that stands still has a condition, which ends with its cause.
func TestStuckLoopOfAWorkerHasACondition(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for each loop")
	}
	client, g := shared.Start(t), newGate()
	w := newLoopsWorker(t, g.client(t, client), stuckLimit)
	serve(t, w.Parts())
	<-w.members.Ready()
	for _, c := range []struct {
		loop, code, prefix string
		writes             bool
		then               func() // makes an event-driven loop go round
	}{
		{loop: "watch_jobs", code: common.ConditionWatchStale, prefix: common.JobsPrefix},
		{loop: "watch_triggers", code: common.ConditionWatchStale, prefix: common.TriggersPrefix},
		{loop: "watch_kills", code: common.ConditionWatchStale, prefix: common.KillsOf(w.cfg.Home.Life.Worker)},
		{loop: "watch_secrets", code: common.ConditionWatchStale, prefix: common.SecretsPrefix},
		{loop: "watch_workers", code: common.ConditionWatchStale, prefix: common.WorkersPrefix},
		{loop: "watch_settings", code: common.ConditionWatchStale, prefix: common.WorkerSettingsPrefix},
		{loop: "watch_masters", code: common.ConditionWatchStale, prefix: common.MastersPrefix},
		{loop: "registration", code: common.ConditionLoopStuck, prefix: common.WorkersPrefix},
		{loop: "delivery", code: common.ConditionLoopStuck, prefix: common.OutboxPrefix},
		{loop: "outbox_size", code: common.ConditionLoopStuck, prefix: common.OutboxPrefix},
		{
			loop:   "recovery",
			code:   common.ConditionLoopStuck,
			prefix: common.RunsPrefix,
			then:   func() { w.orphaned <- struct{}{} },
		},
		{
			loop:   "outbox_recovery",
			code:   common.ConditionLoopStuck,
			prefix: common.OutboxPrefix,
			then:   func() { w.abandoned <- struct{}{} },
		},
	} {
		g.set(c.prefix, c.writes)
		if c.then != nil {
			c.then()
		}
		becomes(t, w.conditions.Active, c.loop, c.code, true)
		g.set("", false)
		if c.then != nil {
			c.then()
		}
		becomes(t, w.conditions.Active, c.loop, c.code, false)
	}
}

// The loops of a master, and the duties of the elected one, have conditions in the same way.
func TestStuckLoopOfAMasterHasACondition(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for each loop")
	}
	for _, c := range []struct {
		loop, code, prefix string
		writes             bool
	}{
		{loop: "watch_jobs", code: common.ConditionWatchStale, prefix: common.JobsPrefix},
		{loop: "watch_events", code: common.ConditionWatchStale, prefix: common.JobsPrefix},
		{loop: "watch_outboxes", code: common.ConditionWatchStale, prefix: common.OutboxPrefix},
		{loop: "watch_election", code: common.ConditionWatchStale, prefix: common.LeaderKey},
		{loop: "watch_findings", code: common.ConditionWatchStale, prefix: common.FindingsKey},
		{loop: "watch_workers", code: common.ConditionWatchStale, prefix: common.WorkersPrefix},
		{loop: "watch_settings", code: common.ConditionWatchStale, prefix: common.WorkerSettingsPrefix},
		{loop: "watch_masters", code: common.ConditionWatchStale, prefix: common.MastersPrefix},
		{loop: "presence", code: common.ConditionLoopStuck, prefix: common.MastersPrefix, writes: true},
		{loop: "delivery", code: common.ConditionLoopStuck, prefix: common.OutboxPrefix},
		{loop: "election", code: common.ConditionNoElectedMaster, prefix: common.LeaderKey, writes: true},
		{loop: "duty_audit", code: common.ConditionLoopStuck, prefix: common.JobsPrefix},
		{loop: "duty_job_metrics", code: common.ConditionLoopStuck, prefix: common.JobsPrefix},
		{loop: "duty_findings", code: common.ConditionLoopStuck, prefix: common.FindingsKey, writes: true},
		{loop: "duty_notifications", code: common.ConditionLoopStuck, prefix: common.AlertsPrefix},
		{loop: "duty_channels", code: common.ConditionLoopStuck, prefix: common.WaitingNoticesPrefix},
	} {
		t.Run(c.loop, func(t *testing.T) {
			t.Parallel()
			client, g := shared.Start(t), newGate()
			g.set(c.prefix, c.writes)
			m := newLoopsMaster(t, g.client(t, client), stuckLimit)
			serve(t, m.Parts())
			if c.loop == "watch_events" {
				following, stop := context.WithCancel(t.Context())
				t.Cleanup(stop)
				go func() {
					for following.Err() == nil {
						if f, err := m.feed.Follow(following, 0, nil, "test"); err == nil {
							<-following.Done()
							f.Close()
						}
					}
				}()
			}
			becomes(t, m.state.Conditions, c.loop, c.code, true)
			g.set("", false)
			becomes(t, m.state.Conditions, c.loop, c.code, false)
		})
	}
}

func TestSchedulerReportsItsRounds(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		loops := health.NewLoops(nil, 3*time.Second, nil)
		rounds := loops.Add(health.Spec{Name: "scheduler"})
		counted := countedPlan{metrics.NewWorker(metrics.NewRegistry("test")), rounds}
		loop := scheduler.New(slog.New(slog.DiscardHandler), counted, time.Now, scheduler.NewTimer(), nil)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- loop.Run(ctx) }()
		time.Sleep(time.Minute)
		if all := loops.Conditions(); len(all) != 0 {
			t.Errorf("a scheduler with nothing to do: %+v", all)
		}
		cancel()
		<-ended
		time.Sleep(5 * time.Second)
		if all := loops.Conditions(); len(all) != 1 {
			t.Errorf("a scheduler that stands still: %+v", all)
		}
	})
}

// refusingFinisher refuses the listed runs.
type refusingFinisher map[string]error

func (f refusingFinisher) Finish(_ context.Context, batch []common.Outcome) []error {
	errs := make([]error, len(batch))
	for i := range batch {
		errs[i] = f[batch[i].Run.ID]
	}
	return errs
}

// An outcome that etcd refuses is a condition, also while those of other runs are committed.
func TestRefusedFinishIsStuck(t *testing.T) {
	loops := health.NewLoops(nil, time.Nanosecond, nil)
	refusing := refusingFinisher{"a.1": fmt.Errorf("too large"), "b.1": common.ErrNotOurs}
	finisher := &countedFinisher{
		Finisher: refusing,
		loop:     loops.Add(health.Spec{Name: "finishes", OnDemand: true}),
		refused:  map[string]bool{},
	}
	finish := func(ids ...string) int {
		batch := make([]common.Outcome, len(ids))
		for i, id := range ids {
			batch[i].Run.ID = id
		}
		finisher.Finish(t.Context(), batch)
		return len(loops.Conditions())
	}
	if n := finish("b.1", "c.1"); n != 0 {
		t.Errorf("%d conditions of outcomes that are resolved", n)
	}
	if n := finish("a.1", "c.1"); n != 1 {
		t.Errorf("%d conditions of an outcome that is refused", n)
	}
	if n := finish("d.1"); n != 1 {
		t.Errorf("%d conditions while an outcome is refused still", n)
	}
	delete(refusing, "a.1")
	if n := finish("a.1"); n != 0 {
		t.Errorf("%d conditions when all are committed", n)
	}
}
