package carillon_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/etcdkit/etcdtest"
	flowetcd "carillon/internal/flow/etcd"
	"carillon/internal/jobmgr"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/runlog"
	"carillon/internal/runlog/sqlitelog"
	"carillon/internal/worker"
)

// shared is the etcd of all tests.
var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

// cluster is an etcd and a log store.
type cluster struct {
	t     *testing.T
	etcd  *clientv3.Client
	store *sqlitelog.Store
	jobs  *jobmgr.Store
	works context.Context // ends when an app has failed
	fail  context.CancelCauseFunc
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	store, err := sqlitelog.Open(t.Context(), filepath.Join(t.TempDir(), "log.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	client := shared.Start(t)
	known := catalog.New(catalog.NewWatcher(client, nil), schedule.NewInterner(), time.Now)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- known.Run(ctx) }()
	t.Cleanup(func() { stop(); <-done })
	c := &cluster{t: t, etcd: client, store: store, jobs: jobmgr.NewStore(jobmgr.Config{Client: client, Catalog: known,
		Interner: schedule.NewInterner(), Timezone: "UTC", Now: time.Now, Bodies: flowetcd.NewBodies(client)})}
	c.works, c.fail = context.WithCancelCause(t.Context())
	return c
}

// put saves the job of a function, which fires every second.
func (c *cluster) put(job common.Job) {
	c.t.Helper()
	app, name, _ := strings.Cut(job.Name, ".")
	job.Type, job.With = common.TypeFunc, common.Function{App: app, Name: name}.With()
	c.save(job)
}

func (c *cluster) save(job common.Job) {
	c.t.Helper()
	_, _, err := c.jobs.Put(c.t.Context(), common.Actor{Name: "test"}, job, common.Precondition{Absent: true})
	if err != nil {
		c.t.Fatal(err)
	}
}

// open returns an app of the cluster.
func (c *cluster) open(change func(*carillon.Config)) *carillon.App {
	c.t.Helper()
	cfg := carillon.Config{App: "billing", Local: &worker.Local{Etcd: c.etcd, Store: c.store},
		Log: slog.New(slog.NewTextHandler(c.t.Output(), nil))}
	if change != nil {
		change(&cfg)
	}
	app, err := carillon.Open(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	return app
}

// start runs an app until the test ends, or the returned function is called.
func (c *cluster) start(app *carillon.App) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		err := app.Run(ctx)
		if err != nil {
			c.fail(err)
		}
		done <- err
	}()
	stopped := false
	stop = func() error {
		cancel()
		stopped = true
		return <-done
	}
	c.t.Cleanup(func() {
		if !stopped {
			if err := stop(); err != nil {
				c.t.Error(err)
			}
		}
	})
	return stop
}

// runs returns the runs of a job that the log store has.
func (c *cluster) runs(job string) []common.Run {
	found, err := c.store.Runs(c.t.Context(), runlog.Query{Job: job, Limit: 100})
	if err != nil {
		c.t.Fatal(err)
	}
	return found.Runs
}

// await waits for a run of a job with a status.
func (c *cluster) await(job string, status common.Status) common.Run {
	c.t.Helper()
	for {
		for _, run := range c.runs(job) {
			if run.Status == status {
				return run
			}
		}
		select {
		case <-c.works.Done():
			c.t.Fatalf("no run of %s has the status %s: %v", job, status, context.Cause(c.works))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// receive waits for a value.
func receive[T any](c *cluster, values <-chan T) (value T) {
	c.t.Helper()
	select {
	case value = <-values:
	case <-c.works.Done():
		c.t.Fatal(context.Cause(c.works))
	}
	return value
}

const everySecond = "* * * * * * *"

func TestRun_DueFire_CallsTheFunction(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.put(common.Job{Name: "billing.invoices", CronExpr: everySecond,
		Outputs: map[string]common.Output{"count": {}}, Params: map[string]common.Param{"MODE": {Default: "real"}}})
	app := c.open(nil)
	called := make(chan *carillon.Run, 1)
	app.Func("invoices", everySecond, func(ctx context.Context) error {
		run := carillon.RunOf(ctx)
		fmt.Fprintln(run, "printed")
		carillon.Logger(ctx).Info("logged", "job", run.Job)
		select {
		case called <- run:
		default:
		}
		return run.Output("count", "17")
	}, carillon.Outputs("count"))
	stop := c.start(app)
	run := receive(c, called)
	if run.Job != "billing.invoices" || run.Attempt != 1 || run.Fence == 0 || run.Params["MODE"] != "real" ||
		!run.Interval.End.Equal(run.PlannedAt) || run.PlannedAt.Sub(run.Interval.Start) != time.Second {
		t.Errorf("%+v", run)
	}
	stored := c.await("billing.invoices", common.StatusSucceeded)
	if stored.Outputs["count"] != "17" || stored.ExitCode == nil || *stored.ExitCode != 0 {
		t.Errorf("%+v", stored)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	chunks, err := c.store.Output(t.Context(), stored.ID, 0, 1<<20)
	var text strings.Builder
	for _, chunk := range chunks {
		text.Write(chunk.Data)
	}
	output := text.String()
	if err != nil || !strings.Contains(output, "printed\n") || !strings.Contains(output, "msg=logged") {
		t.Errorf("%q, %v", output, err)
	}
}

// A program runs no command, and no function of another program.
func TestRun_OtherJobs_AreLeftAlone(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.put(common.Job{Name: "other.function", CronExpr: everySecond})
	command := common.Job{Name: "command", CronExpr: everySecond, Command: "true",
		Outputs: map[string]common.Output{"n": {}}}
	c.save(command)
	c.put(common.Job{Name: "billing.invoices", CronExpr: everySecond})
	app := c.open(nil)
	app.Func("invoices", everySecond, func(context.Context) error { return nil })
	c.start(app)
	for range 3 {
		c.await("billing.invoices", common.StatusSucceeded)
	}
	for _, job := range []string{"command", "other.function"} {
		for _, run := range c.runs(job) {
			if run.Attempt > 0 {
				t.Errorf("%s: %s", job, run.Status)
			}
		}
	}
}

func TestRun_ContextEnds_DrainsAndThenEndsFunctions(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.put(common.Job{Name: "billing.invoices", CronExpr: everySecond})
	app := c.open(func(cfg *carillon.Config) { cfg.Drain = -1 })
	began := make(chan struct{}, 100)
	app.Func("invoices", everySecond, func(ctx context.Context) error {
		began <- struct{}{}
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), carillon.ErrStopping) {
			t.Errorf("cause %v", context.Cause(ctx))
		}
		return ctx.Err()
	})
	stop := c.start(app)
	receive(c, began)
	if err := stop(); err != nil {
		t.Error(err)
	}
	if run := c.await("billing.invoices", common.StatusLost); run.Reason.Code != "worker_stopping" {
		t.Errorf("%+v", run.Reason)
	}
}

func TestRun_SameDir_ReturnsErrTwin(t *testing.T) {
	t.Parallel()
	c, dir := newCluster(t), t.TempDir()
	c.put(common.Job{Name: "billing.invoices", CronExpr: everySecond})
	app := c.open(func(cfg *carillon.Config) { cfg.Dir = dir })
	called := make(chan struct{}, 100)
	app.Func("invoices", everySecond, func(context.Context) error { called <- struct{}{}; return nil })
	c.start(app)
	receive(c, called)
	twin := c.open(func(cfg *carillon.Config) { cfg.Dir = dir })
	if err := twin.Run(t.Context()); !errors.Is(err, carillon.ErrTwin) {
		t.Error(err)
	}
}

func TestRun_InvalidDeclarations_AreErrors(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	fn := func(context.Context) error { return nil }
	for name, declare := range map[string]func(*carillon.App){
		"declared twice": func(a *carillon.App) { a.Func("a", "", fn); a.Func("a", "", fn) },
		"cronExpr":       func(a *carillon.App) { a.Func("a", "not a line", fn) },
		"name":           func(a *carillon.App) { a.Func("A b", "", fn) },
		"nil":            func(a *carillon.App) { a.Func("a", "", nil) },
		"has no meaning with the type": func(a *carillon.App) {
			a.Func("a", "", fn, carillon.With(func(j *carillon.Job) { j.User = "root" }))
		},
		"timeout": func(a *carillon.App) {
			a.Func("a", "", fn, carillon.With(func(j *carillon.Job) { j.Timeout = "soon" }))
		},
	} {
		app := c.open(nil)
		declare(app)
		if err := app.Run(t.Context()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	app := c.open(nil)
	app.Func("a", "", fn)
	if err := c.start(app)(); err != nil {
		t.Error(err)
	}
	if err := app.Run(t.Context()); err == nil {
		t.Error("a second Run was accepted")
	}
}

func TestRun_DeclaredAfterRun_IsAnError(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.put(common.Job{Name: "billing.invoices", CronExpr: everySecond})
	app, called := c.open(nil), make(chan struct{}, 100)
	fn := func(context.Context) error { called <- struct{}{}; return nil }
	app.Func("invoices", everySecond, fn)
	stop := c.start(app)
	receive(c, called)
	app.Func("late", "", fn)
	if err := stop(); err == nil || !strings.Contains(err.Error(), `"late"`) {
		t.Error(err)
	}
}

// Steps of a flow are functions, and get the outputs of earlier ones.
func TestRun_FlowOfFunctions(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	function := func(name string) common.With { return common.Function{App: "billing", Name: name}.With() }
	c.save(common.Job{Name: "billing.month", CronExpr: everySecond, Env: map[string]string{"KEY": "secret:key"},
		Steps: []common.Step{
			{Name: "close", Type: common.TypeFunc, With: function("close"),
				Outputs: map[string]common.Output{"total": {Required: true}}},
			{Name: "report", Type: common.TypeFunc, With: function("report"), After: []common.Edge{{Step: "close"}},
				Env: map[string]string{"TOTAL": "${{ steps.close.outputs.total }}"}},
		}})
	app := c.open(func(cfg *carillon.Config) { cfg.KeepFlows = true })
	app.Handle("close", func(ctx context.Context) error { return carillon.RunOf(ctx).Output("total", "1250.00") })
	totals := make(chan map[string]string, 100)
	app.Handle("report", func(ctx context.Context) error { totals <- carillon.RunOf(ctx).Params; return nil })
	c.start(app)
	if got := receive(c, totals); got["TOTAL"] != "1250.00" || got["KEY"] != "" {
		t.Errorf("params %v", got)
	}
	c.await("billing.month", common.StatusSucceeded)
}

func TestOpen_InvalidConfig_IsAnError(t *testing.T) {
	t.Parallel()
	valid := carillon.Config{App: "billing", Etcd: carillon.Etcd{Endpoints: []string{"http://127.0.0.1:2379"}},
		Store: "mongodb://127.0.0.1"}
	if _, err := carillon.Open(valid); err != nil {
		t.Fatal(err)
	}
	for fault, change := range map[string]func(*carillon.Config){
		"App":       func(c *carillon.Config) { c.App = "Big App" },
		"Group":     func(c *carillon.Config) { c.Group = "/" },
		"Endpoints": func(c *carillon.Config) { c.Etcd.Endpoints = nil },
		"Store":     func(c *carillon.Config) { c.Store = "postgres://user:hidden-password@x" },
		"Slots":     func(c *carillon.Config) { c.Slots = -1 },
		"labels":    func(c *carillon.Config) { c.Labels = map[string]string{"": "x"} },
		"Build":     func(c *carillon.Config) { c.Build = "10:30" },
		"SpoolMax":  func(c *carillon.Config) { c.SpoolMax = 1 },
		"Local":     func(c *carillon.Config) { c.Local = "data" },
	} {
		cfg := valid
		change(&cfg)
		if _, err := carillon.Open(cfg); err == nil || !strings.Contains(err.Error(), fault) ||
			strings.Contains(err.Error(), "hidden-password") {
			t.Errorf("%s: %v", fault, err)
		}
	}
}
