package carillon

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/worker/funcrun"
)

// Func is a function that runs as a job. RunOf returns the run that its context belongs to.
type Func func(ctx context.Context) error

// App is a program with functions. Declare the functions, then call Run.
type App struct {
	cfg Config

	mu    sync.Mutex
	funcs map[string]funcrun.Func // guarded by mu
	jobs  map[string]common.Job   // guarded by mu; by name
	bad   []error                 // guarded by mu: faults of declarations
	ran   bool                    // guarded by mu
}

// Open checks the config and returns an App. It connects to nothing.
func Open(cfg Config) (*App, error) {
	cfg = cfg.withDefaults()
	if err := cfg.check(); err != nil {
		return nil, fmt.Errorf("carillon: %w", err)
	}
	return &App{cfg: cfg, funcs: map[string]funcrun.Func{}, jobs: map[string]common.Job{}}, nil
}

// Func declares a function and the job <App>.<name> that runs it. The cron line may be empty: then the job runs only
// when it is triggered, or after others. Errors are returned by Run.
func (a *App) Func(name, cronLine string, fn Func, options ...Option) {
	job := Job{Name: a.cfg.App + "." + name, CronExpr: cronLine, Group: a.cfg.Group, Type: common.TypeFunc,
		With: common.Function{App: a.cfg.App, Name: name}.With()}
	for _, set := range options {
		set(&job)
	}
	a.declare(name, fn)
	a.define(job)
}

// Handle declares a function without a job of its own, for steps of flows. Errors are returned by Run.
func (a *App) Handle(name string, fn Func) { a.declare(name, fn) }

// Define declares any job, such as a flow with steps that are functions. Errors are returned by Run.
func (a *App) Define(job Job) {
	if job.Group == "" {
		job.Group = a.cfg.Group
	}
	job.Steps = slices.Clone(job.Steps)
	for i := range job.Steps {
		if s := &job.Steps[i]; s.Func != "" {
			s.Type, s.With = common.TypeFunc, common.Function{App: a.cfg.App, Name: s.Func}.With()
		}
	}
	if job.Func != "" {
		job.Type, job.With = common.TypeFunc, common.Function{App: a.cfg.App, Name: job.Func}.With()
	}
	a.define(job)
}

func (a *App) declare(name string, fn Func) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.ran:
		a.bad = append(a.bad, fmt.Errorf("function %q: declared after Run", name))
	case !common.ValidName(name):
		a.bad = append(a.bad, fmt.Errorf("function %q: the name %s", name, common.NameRule))
	case fn == nil:
		a.bad = append(a.bad, fmt.Errorf("function %q: is nil", name))
	case a.funcs[name] != nil:
		a.bad = append(a.bad, fmt.Errorf("function %q: declared twice", name))
	case len(a.funcs) == common.MaxFunctions:
		a.bad = append(a.bad, fmt.Errorf("function %q: an app has at most %d", name, common.MaxFunctions))
	default:
		a.funcs[name] = funcrun.Func(fn)
	}
}

func (a *App) define(job Job) {
	converted, err := job.convert()
	if err == nil {
		err = checkJob(&converted)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	_, twice := a.jobs[job.Name]
	switch {
	case a.ran:
		a.bad = append(a.bad, fmt.Errorf("job %q: declared after Run", job.Name))
	case err != nil:
		a.bad = append(a.bad, fmt.Errorf("job %q: %w", job.Name, err))
	case twice:
		a.bad = append(a.bad, fmt.Errorf("job %q: declared twice", job.Name))
	default:
		converted.Labels = maps.Clone(converted.Labels)
		if converted.Labels == nil {
			converted.Labels = map[string]string{}
		}
		converted.Labels[common.LabelApp], converted.Labels[common.LabelBuild] = a.cfg.App, a.cfg.Build
		a.jobs[job.Name] = converted
	}
}

// checkJob returns the faults of a job that can be found without a master.
func checkJob(job *common.Job) error {
	var faults []error
	if !job.IsFlow() {
		for _, f := range job.Faults() {
			faults = append(faults, fmt.Errorf("%s: %s", f.Location, f.Message))
		}
	}
	in := schedule.NewInterner()
	job.EachSchedule(func(at string, index int, of *common.JobSchedule) {
		parse := in.ParseNew
		if index >= 0 {
			parse = in.ParseNewOf
		}
		spec, err := schedule.SpecOf(job.Name, of)
		if spec.Zone == "" {
			spec.Zone = "UTC" // the masters' default applies
		}
		if err == nil && (spec.Expr != "" || index >= 0) {
			_, err = parse(spec, time.Now())
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%scronExpr %q: %w", at, of.CronExpr, err))
		}
	})
	return errors.Join(faults...)
}

// Check returns the faults of the declarations, as Run does. It is for tests.
func (a *App) Check() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.faults()
}

// begin ends the declarations. It returns their faults.
func (a *App) begin() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.ran {
		return errors.New("carillon: Run was called before")
	}
	a.ran = true
	return a.faults()
}

// faults returns the faults of the declarations, mu held.
func (a *App) faults() error {
	if len(a.bad) == 0 {
		return nil
	}
	return fmt.Errorf("carillon: %w", errors.Join(a.bad...))
}
