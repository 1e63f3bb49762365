package daemon

import (
	"context"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/dispatch"
	"carillon/internal/executor"
	"carillon/internal/executor/guardian"
	"carillon/internal/executor/httprun"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/runas"
	typesetcd "carillon/internal/executor/typeschema/etcd"
	"carillon/internal/health"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/traces"
	"carillon/internal/runlog"
	"carillon/internal/secrets/crypt"
	"carillon/internal/worker"
)

// WorkerConfig configures a worker.
type WorkerConfig struct {
	Process
	*Node
	// Box decrypts the secrets that jobs refer to; nil: this worker cannot decrypt any.
	Box *crypt.Box
	// Boot is the clock that determines when runs end if etcd is unavailable for too long.
	Boot func() time.Duration
	// Guardian is the process that watches over this one; nil: there is none.
	Guardian *guardian.Child
	// Traces exports the spans of runs; nil: none are exported.
	Traces *traces.Exporter
}

// Worker is a worker that executes commands.
type Worker struct {
	*worker.Worker
	cfg      WorkerConfig
	commands *commands
	types    *health.Loop
}

// NewWorker creates a worker. Nothing runs before its parts start.
func NewWorker(cfg WorkerConfig) (*Worker, error) {
	w := &Worker{cfg: cfg}
	var err error
	w.Worker, err = worker.New(worker.Config{
		Etcd:            cfg.Etcd,
		Store:           cfg.Traces.Writer(cfg.Store),
		Version:         cfg.Version,
		Log:             cfg.Log,
		Registry:        cfg.Registry,
		Certificates:    cfg.Certificates,
		Life:            cfg.Home.Life,
		Host:            worker.Hostname(),
		Swept:           cfg.Home.Swept,
		Ended:           cfg.Home.Ended,
		Spool:           cfg.Spool,
		Clock:           cfg.Clock,
		Origin:          cfg.Origin,
		Labels:          cfg.Labels,
		Slots:           cfg.Slots,
		BackgroundShare: cfg.BackgroundShare,
		DrainTimeout:    cfg.DrainTimeout,
		OutboxMax:       cfg.OutboxMax,
		Box:             cfg.Box,
		Boot:            cfg.Boot,
		Guardian:        cfg.Guardian,
		Runner: func(tools worker.Tools) (worker.Runner, error) {
			w.commands, err = newCommands(&cfg, tools)
			return w.commands, err
		},
		LoopLimit: cfg.loopLimit,
	})
	if err != nil {
		return nil, err
	}
	w.types = w.Loops().Add(health.Spec{
		Name:   "types",
		Effect: "the masters do not see changes of this worker's plug-ins",
	})
	return w, nil
}

// Parts returns the worker's parts in start order. The caller owns the data folder and the stores.
func (w *Worker) Parts() []lifecycle.Part {
	types := lifecycle.Part{Name: "types", Serve: w.Loops().Serving(w.keepTypes, "types")}
	// The last outcomes are stored before their spans are sent.
	spans := lifecycle.Part{Name: "traces", Stop: w.cfg.Traces.Close, StopTimeout: traces.CloseTimeout}
	return append(append([]lifecycle.Part{spans}, w.Worker.Parts()...), types)
}

// keepTypes keeps the documents of the plug-ins in etcd.
func (w *Worker) keepTypes(ctx context.Context) error {
	return typesetcd.NewKeeper(typesetcd.KeeperConfig{
		Client:    w.cfg.Etcd,
		Leases:    w.Session(),
		Worker:    w.cfg.Home.Life.Worker,
		Every:     worker.RegisterEvery,
		Documents: w.commands.Documents,
		Report:    w.types.Done,
		Log:       w.cfg.Log,
	}).Run(ctx)
}

// commands runs commands, plug-ins and requests.
type commands struct {
	*executor.Executor
	requests *httprun.Client
	runAs    *runas.File
}

func newCommands(cfg *WorkerConfig, tools worker.Tools) (*commands, error) {
	c := &commands{runAs: cfg.RunAs}
	c.requests = httprun.New(httprun.Config{Allow: cfg.Execution.HTTPAllow, Version: cfg.Version})
	var err error
	c.Executor, err = executor.New(executor.Config{
		BaseDir:    cfg.Home.Dir,
		Worker:     cfg.Home.Life.Worker,
		Life:       cfg.Home.Life.Life,
		Name:       cfg.Home.Life.Name,
		Adopt:      true,
		Mark:       cfg.Home.Mark,
		Masks:      cfg.Masks.Masker,
		Secrets:    tools.Secrets,
		RunAs:      cfg.RunAs,
		HTTP:       requests{c.requests},
		PlugIns:    executor.PlugIns{Dir: cfg.Execution.TypesDir, Allow: cfg.Execution.TypesAllow},
		MaxRunTime: cfg.Execution.MaxRunTime,
		Yield:      tools.Yield,
		Traced:     cfg.Traces != nil,
		Log:        cfg.Log,
	})
	return c, err
}

var _ executor.Samples = (*runlog.Sink)(nil) // which a worker passes as the output of runs

// Run implements worker.Runner.
func (c *commands) Run(ctx context.Context, t dispatch.Task, interval *common.Interval,
	out worker.Output) common.Run {
	return c.Executor.Run(ctx, executor.Task{
		Job:            t.Job,
		Record:         t.Record,
		Fence:          t.Fence,
		PreviousStatus: t.Previous,
		Interval:       interval,
		MayStart:       t.MayStart,
		KillNow:        t.KillNow,
		KillRequests:   t.KillRequests,
	}, out)
}

// Causes implements worker.Runner.
func (c *commands) Causes() dispatch.Causes {
	return dispatch.Causes{
		Stopping: inside.ErrStopping,
		CutOff:   inside.ErrCutOff,
		Killed: func(k common.Kill) error {
			return inside.Killed{By: k.By, Note: k.Note, Code: k.Code, Signal: k.Signal, At: k.At}
		},
	}
}

// Conditions implements worker.Runner.
func (c *commands) Conditions() []common.Condition {
	return slices.Concat(c.Executor.Conditions(), c.runAs.Conditions())
}

// Close implements worker.Runner.
func (c *commands) Close() error {
	c.requests.Close()
	return c.Executor.Close()
}
