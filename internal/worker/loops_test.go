package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/continuity"
	"carillon/internal/common"
	"carillon/internal/dispatch"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/health"
	"carillon/internal/health/looptest"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/metrics"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/runlog/spool"
	"carillon/internal/scheduler"
	"carillon/internal/secrets/crypt"
)

// shared is the etcd of the tests that neither stop nor compact it.
var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

const stuckWorker = "TestStuckLoopOfAWorkerHasACondition"

func workerTable() map[string]looptest.Row {
	return map[string]looptest.Row{
		"guardian":     {Ends: "the worker ends with its guardian", Tests: []string{"TestNothingOutlivesTheWorker"}},
		"session":      {Codes: []string{common.ConditionEtcdAway}, Tests: []string{"TestSilentEtcdIsTold"}},
		"conditions":   {Ends: "it only reads memory, and raises the others"},
		"certificates": looptest.Certificates(),
		"registration": {Loops: []string{"registration"}, Tests: []string{stuckWorker}},
		"sink": {
			Loops: []string{"delivery"},
			Tests: []string{stuckWorker, "TestConditions_StoreAway_IsReported",
				"TestConditions_OutboxOverItsShare_StopsClaims", "TestSink_DiskFull_DroppedOutputIsRecorded"},
			Codes: []string{common.ConditionLogStoreAway, common.ConditionOutboxFull, common.ConditionSpoolFull,
				common.ConditionDiskFull},
		},
		"members": {
			Loops: []string{"watch_workers", "watch_settings", "watch_masters"},
			Tests: []string{stuckWorker},
		},
		"outboxes":        {Loops: []string{"outbox_size"}, Tests: []string{stuckWorker}},
		"recovery":        {Loops: []string{"recovery"}, Tests: []string{stuckWorker}},
		"outbox_recovery": {Loops: []string{"outbox_recovery"}, Tests: []string{stuckWorker}},
		"windows":         {Loops: []string{"watch_windows"}, Tests: []string{stuckWorker}},
		"secrets":         {Loops: []string{"watch_secrets"}, Tests: []string{stuckWorker}},
		"scheduler":       {Loops: []string{"scheduler"}, Tests: []string{"TestSchedulerReportsItsRounds"}},
		"cluster": {Loops: []string{"membership"}, Codes: []string{common.ConditionClockOff},
			Tests: []string{"TestClockConditions", "TestLoopsAreStuckAfterTheirLimit"}},
		"pools": {Loops: []string{"watch_pools"}, Tests: []string{stuckWorker}},
		"kills": {Loops: []string{"watch_kills"}, Tests: []string{stuckWorker}},
		"dispatcher": {Loops: []string{"finishes"}, Codes: []string{common.ConditionOverdue},
			Tests: []string{"TestRefusedFinishIsStuck", "TestOverdue"}},
		"after":     {Loops: []string{"after"}, Tests: []string{stuckWorker}},
		"successes": {Loops: []string{"watch_successes"}, Tests: []string{stuckWorker}},
		"consumed":  {Loops: []string{"watch_after"}, Tests: []string{stuckWorker}},
		"jobs":      {Loops: []string{"watch_jobs"}, Tests: []string{stuckWorker}},
		"triggers":  {Loops: []string{"watch_triggers"}, Tests: []string{stuckWorker}},
		"keeper":    {Loops: []string{"flow_keeper"}, Tests: []string{"TestKeeper_ReportsItsRounds"}},
		"replicas": {Loops: []string{"replicas"}, Codes: []string{common.ConditionUpdateStuck},
			Tests: []string{"TestReplicaKeeper_ReportsItsPasses"}},
		"flow runs":   {Loops: []string{"watch_flow_runs"}, Tests: []string{stuckWorker}},
		"flow nodes":  {Loops: []string{"watch_flow_nodes"}, Tests: []string{stuckWorker}},
		"gauges":      {Ends: "it only copies a figure"},
		"etcd origin": {Ends: "it only notices by itself what every other answer of etcd shows as well"},
		"clock":       {Ends: "it only writes what the next start reads; the clock is judged without it"},
	}
}

// A new part must say what raises a condition when it stands still.
func TestEveryLoopHasAConditionAndATest(t *testing.T) {
	t.Parallel()
	w := newLoopsWorker(t, shared.Start(t), 0)
	looptest.Check(t, "../..", "worker", workerTable(), looptest.Serving(w.Parts()), w.loops.Specs())
}

// idle is a runner of a worker that claims nothing.
type idle struct{}

func (idle) Run(context.Context, dispatch.Task, *common.Interval, Output) common.Run {
	return common.Run{}
}
func (idle) Causes() dispatch.Causes        { return dispatch.Causes{} }
func (idle) Features() []string             { return nil }
func (idle) Types() map[string]string       { return nil }
func (idle) Conditions() []common.Condition { return nil }
func (idle) KillAll()                       {}
func (idle) Close() error                   { return nil }

func newLoopsWorker(t *testing.T, client *clientv3.Client, limit time.Duration) *Worker {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	output, err := spool.Open(spool.Config{Dir: t.TempDir(), Max: 16 << 20, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = output.Close() })
	box, err := crypt.Parse(crypt.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	w, err := New(Config{
		Etcd:      client,
		Store:     looptest.Store(t),
		Version:   "test",
		Log:       log,
		Registry:  metrics.NewRegistry("test"),
		Life:      common.Life{Worker: common.NewID(), Name: "north", Life: common.NewID()},
		Ended:     func(*common.Registration) bool { return false },
		Spool:     output,
		Clock:     continuity.NewClock(log),
		Origin:    continuity.NewOrigin(log),
		Slots:     4,
		Box:       box,
		Boot:      bootclock.Now,
		Runner:    func(Tools) (Runner, error) { return idle{}, nil },
		LoopLimit: limit,
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Whatever a worker is refused by etcd, the loop that stands still has a condition, which ends with its cause.
func TestStuckLoopOfAWorkerHasACondition(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for each loop")
	}
	client, g := shared.Start(t), looptest.NewGate()
	w := newLoopsWorker(t, g.Client(client), looptest.Limit)
	looptest.Serve(t, w.Parts())
	<-w.members.Ready()
	for _, c := range []struct {
		loop, code, prefix string
		writes             bool
		then               func() // makes an event-driven loop go round
	}{
		{loop: "watch_jobs", code: common.ConditionWatchStale, prefix: common.JobsPrefix},
		{loop: "watch_windows", code: common.ConditionWatchStale, prefix: common.WindowsPrefix},
		{loop: "watch_triggers", code: common.ConditionWatchStale, prefix: common.TriggersPrefix},
		{loop: "watch_pools", code: common.ConditionWatchStale, prefix: common.PoolSlotsPrefix},
		{loop: "watch_kills", code: common.ConditionWatchStale, prefix: common.KillsOf(w.cfg.Life.Worker)},
		{loop: "watch_successes", code: common.ConditionWatchStale, prefix: common.SucceededPrefix},
		{loop: "watch_after", code: common.ConditionWatchStale, prefix: common.AfterPrefix},
		{
			loop:   "after",
			code:   common.ConditionLoopStuck,
			prefix: common.AfterPrefix,
			writes: true,
			then:   func() { putChild(t, client) },
		},
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
		g.Set(c.prefix, c.writes)
		if c.then != nil {
			c.then()
		}
		looptest.Becomes(t, w.conditions.Active, c.loop, c.code, true)
		g.Set("", false)
		if c.then != nil {
			c.then()
		}
		looptest.Becomes(t, w.conditions.Active, c.loop, c.code, false)
	}
}

// putChild writes a job whose parent has succeeded since.
func putChild(t *testing.T, client *clientv3.Client) {
	t.Helper()
	name, now := "child-"+common.NewID(), time.Now()
	job := common.StoredJob{UID: common.NewID(),
		Job: common.Job{Name: name, Command: "true", Timezone: "UTC", After: []string{"parent"}, Paused: true}}
	var puts []clientv3.Op
	for key, value := range map[string]any{
		common.JobKey(name):           job,
		common.AfterKey(name):         common.After{Consumed: map[string]int64{"parent": 1}},
		common.SucceededKey("parent"): common.Success{Run: "r", PlannedAt: now},
	} {
		data, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		puts = append(puts, clientv3.OpPut(key, string(data)))
	}
	puts = append(puts, clientv3.OpPut(common.CursorKey(name), common.TimeKey(now)))
	if _, err := client.Txn(t.Context()).Then(puts...).Commit(); err != nil {
		t.Fatal(err)
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
