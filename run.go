package carillon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/continuity"
	"carillon/internal/common"
	"carillon/internal/dispatch"
	"carillon/internal/executor"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/redact"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/config"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/metrics"
	"carillon/internal/platform/wallclock"
	"carillon/internal/runlog"
	"carillon/internal/runlog/spool"
	"carillon/internal/worker"
	"carillon/internal/worker/funcrun"
)

// Run defines the jobs and runs their fires until ctx ends. Then it claims nothing more, waits up to Config.Drain for
// the functions that run, ends the contexts of the others, and returns when all outcomes are written. It returns an
// error, before it starts anything, if a declaration is invalid; and ErrTwin if another process has the same id.
func (a *App) Run(ctx context.Context) (err error) {
	if err := a.begin(); err != nil {
		return err
	}
	home, err := a.openHome()
	if err != nil {
		return asTwin(err)
	}
	defer func() { err = errors.Join(err, home.close()) }()
	p, err := a.connect(ctx, home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	runner, w, err := a.newWorker(home, p)
	if err != nil {
		return err
	}
	definitions := newDefinitions(a)
	runner.more = definitions.conditions
	parts := w.Parts()
	parts = append(parts, lifecycle.Part{Name: "definitions", Serve: definitions.run})
	a.cfg.Log.Info("app_starting", "app", a.cfg.App, "build", a.cfg.Build, "worker", home.home.Life.Worker)
	hurry, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	err = asTwin(lifecycle.New(a.cfg.Log, parts...).Run(ctx, hurry))
	return errors.Join(err, a.Check()) // of declarations that came too late
}

// home holds what a process keeps on its machine.
type home struct {
	home   *executor.Home
	spool  *spool.Spool
	clock  *continuity.Clock
	origin *continuity.Origin
	remove string // temporary folder; empty: none
}

func (a *App) openHome() (h *home, err error) {
	h = &home{}
	dir := a.cfg.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "carillon-"); err != nil {
			return nil, fmt.Errorf("create a folder: %w", err)
		}
		h.remove = dir
	}
	if h.home, err = executor.OpenHome(dir, a.cfg.Name); err != nil {
		return nil, errors.Join(err, h.removeFolder())
	}
	// Functions end with their process: an earlier life of this id has left nothing behind.
	h.home.Swept, h.home.Life.Marked = true, true
	if h.spool, err = spool.Open(spool.Config{Dir: dir, Max: a.cfg.SpoolMax, Log: a.cfg.Log}); err != nil {
		return nil, errors.Join(err, h.home.Close(), h.removeFolder())
	}
	h.clock, h.origin = continuity.OpenClock(dir, a.cfg.Log), continuity.OpenOrigin(dir, a.cfg.Log)
	return h, nil
}

func (h *home) close() error { return errors.Join(h.spool.Close(), h.home.Close(), h.removeFolder()) }

func (h *home) removeFolder() error {
	if h.remove == "" {
		return nil
	}
	return os.RemoveAll(h.remove)
}

// peers are the connections of a process.
type peers struct {
	etcd     *clientv3.Client
	store    runlog.Writer
	certs    *certs.Set
	registry *metrics.Registry
	boot     func() time.Duration
	close    func() error
}

func (a *App) connect(ctx context.Context, h *home) (*peers, error) {
	p := &peers{registry: metrics.NewRegistry(worker.LibraryVersion()), boot: bootclock.Now}
	p.certs = certs.NewSet(wallclock.Now, a.cfg.Log, p.registry.CertificateEnds)
	if l, ok := a.cfg.Local.(*worker.Local); ok {
		p.etcd, p.store, p.boot, p.close = l.Etcd, l.Store, bootclock.Awake, func() error { return nil }
		return p, nil
	}
	client, err := worker.DialEtcd(config.Etcd{
		Endpoints: a.cfg.Etcd.Endpoints,
		Username:  a.cfg.Etcd.Username,
		Password:  config.NewSecret(a.cfg.Etcd.Password),
		TLS:       config.ClientTLS(a.cfg.Etcd.TLS),
	}, p.certs, h.origin.Lineage)
	if err != nil {
		return nil, fmt.Errorf("etcd: %w", err)
	}
	store, err := worker.OpenMongoDB(ctx, config.MongoDB{URI: config.NewSecret(a.cfg.Store)}, p.certs)
	if err != nil {
		return nil, errors.Join(err, client.Close())
	}
	p.etcd, p.store = client, store
	p.close = func() error { return errors.Join(store.Close(), client.Close()) }
	return p, nil
}

func (a *App) newWorker(h *home, p *peers) (*runner, *worker.Worker, error) {
	r := &runner{Runner: funcrun.New(a.runnerConfig())}
	w, err := worker.New(worker.Config{
		Etcd:            p.etcd,
		Store:           p.store,
		Version:         worker.LibraryVersion(),
		Log:             a.cfg.Log,
		Registry:        p.registry,
		Certificates:    p.certs,
		Life:            h.home.Life,
		Host:            worker.Hostname(),
		Swept:           true,
		Ended:           h.home.Ended,
		Spool:           h.spool,
		Clock:           h.clock,
		Origin:          h.origin,
		Only:            true,
		Build:           a.cfg.Build,
		Labels:          a.cfg.Labels,
		Slots:           a.cfg.Slots,
		BackgroundShare: 100,
		DrainTimeout:    a.cfg.Drain,
		OutboxMax:       outboxMax,
		Boot:            p.boot,
		Runner:          func(worker.Tools) (worker.Runner, error) { return r, nil },
	})
	return r, w, err
}

func (a *App) runnerConfig() funcrun.Config {
	var masks []redact.Secret
	for _, s := range a.cfg.secrets() {
		masks = append(masks, redact.Secret{Name: "carillon", Value: []byte(s)})
	}
	cfg := funcrun.Config{App: a.cfg.App, Funcs: a.funcs, KeepFlows: a.cfg.KeepFlows, Masks: redact.New(masks),
		Now: time.Now, Log: a.cfg.Log}
	if a.cfg.Strict {
		cfg.Strict = func(run string) { endProcess(a.cfg.Log, run) }
	}
	return cfg
}

// runner adapts a funcrun.Runner to a worker.
type runner struct {
	*funcrun.Runner
	more func() []common.Condition // set before the worker runs
}

// Run implements worker.Runner.
func (r *runner) Run(ctx context.Context, t dispatch.Task, interval *common.Interval, out worker.Output) common.Run {
	return r.Runner.Run(ctx, funcrun.Task{
		Job:      t.Job,
		Record:   t.Record,
		Fence:    t.Fence,
		Previous: t.Previous,
		Interval: interval,
		MayStart: t.MayStart,
		KillNow:  t.KillNow,
	}, out)
}

// Causes implements worker.Runner.
func (r *runner) Causes() dispatch.Causes {
	return dispatch.Causes{
		Stopping: inside.ErrStopping,
		CutOff:   inside.ErrCutOff,
		Killed: func(k common.Kill) error {
			return inside.Killed{By: k.By, Note: k.Note, Code: k.Code, Signal: k.Signal, At: k.At}
		},
	}
}

// Conditions implements worker.Runner.
func (r *runner) Conditions() []common.Condition {
	all := r.Runner.Conditions()
	if r.more != nil {
		all = append(all, r.more()...)
	}
	return all
}
