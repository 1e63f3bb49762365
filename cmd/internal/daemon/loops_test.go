package daemon

import (
	"log/slog"
	"os"
	"slices"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/continuity"
	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/executor"
	"carillon/internal/health"
	"carillon/internal/health/looptest"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/config"
	"carillon/internal/platform/metrics"
	"carillon/internal/runlog/spool"
	"carillon/internal/secrets/crypt"
)

// shared is the etcd of all tests.
var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

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
			Store:     looptest.Store(t),
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

// The plug-ins are what a worker that executes commands keeps beside the parts of every worker.
func TestStuckTypesHaveACondition(t *testing.T) {
	t.Parallel()
	client, g := shared.Start(t), looptest.NewGate()
	w := newLoopsWorker(t, g.Client(client), looptest.Limit)
	parts := w.Parts()[len(w.Worker.Parts()):]
	specs := slices.DeleteFunc(w.Loops().Specs(), func(s health.Spec) bool { return s.Name != "types" })
	looptest.Check(t, "../../..", "worker", map[string]looptest.Row{
		"types": {Loops: []string{"types"}, Tests: []string{t.Name()}},
	}, looptest.Serving(parts), specs)
	looptest.Serve(t, w.Parts())
	g.Set(common.TypesPrefix, false)
	looptest.Becomes(t, w.Conditions, "types", common.ConditionLoopStuck, true)
	g.Set("", false)
	looptest.Becomes(t, w.Conditions, "types", common.ConditionLoopStuck, false)
}
