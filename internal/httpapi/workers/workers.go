package workers

import (
	"context"
	"reflect"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// Resource serves workers.
type Resource struct {
	Workers Store
	Jobs    Jobs
}

// Store manages workers.
type Store interface {
	// Workers lists live workers, and those with settings only, whose Lease is zero.
	Workers(ctx context.Context) ([]common.Member, error)
	// UpdateWorker changes the settings of a worker and returns the worker.
	UpdateWorker(ctx context.Context, actor common.Actor, id string,
		change func(*common.WorkerSettings) error) (common.WorkerSettings, error)
	// DeleteSettings deletes the settings of a worker that is not alive.
	DeleteSettings(ctx context.Context, actor common.Actor, id string) error
}

// Worker is a worker, with what an operator says of it.
type Worker struct {
	ID          string            `json:"id"`
	Name        string            `json:"name"`
	Host        string            `json:"host"`
	Version     string            `json:"version"`
	PID         int               `json:"pid"`
	Labels      map[string]string `json:"labels,omitempty" doc:"Labels for selectors."`
	Slots       int               `json:"slots" doc:"Capacity."`
	Used        int               `json:"used" doc:"Slots in use."`
	Running     int               `json:"running" doc:"Number of current runs."`
	Replicas    map[string]int    `json:"replicas,omitempty" doc:"Numbers of replicas of daemon jobs, by job, of at most 500 jobs."`
	ZoneData    string            `json:"zoneData,omitempty" doc:"Version of the time zone database that it computes fires with; earlier versions report none and use the files of their machine." example:"2025c"`
	DaemonSlots int               `json:"daemonSlots,omitempty" doc:"Slots in use by daemon jobs."`
	Program     *Program          `json:"program,omitempty" doc:"Set if the worker is a program that runs its own functions, and no commands."`

	Weight     int                    `json:"weight" doc:"Share with the strategy weight."`
	StartedAt  time.Time              `json:"startedAt"`
	Clock      time.Time              `json:"clock" doc:"Its wall clock at its last write."`
	SkewMs     int64                  `json:"skewMs" doc:"How many milliseconds its clock is ahead of the cluster's, by its own measurement."`
	Draining   bool                   `json:"draining,omitempty" doc:"The worker claims no new runs: it is stopping, or drained by an operator."`
	Trouble    string                 `json:"trouble,omitempty" doc:"Why it claims no runs, if a condition prevents it."`
	Conditions []common.Condition     `json:"conditions,omitempty" nullable:"false" doc:"Active problems of the worker."`
	Away       bool                   `json:"away,omitempty" doc:"The worker is not alive: only its settings are known."`
	Settings   *common.WorkerSettings `json:"settings,omitempty" doc:"Settings by an operator, which override the worker's own."`
}

// Program is a program with functions that are jobs.
type Program struct {
	App       string   `json:"app" example:"billing"`
	Build     string   `json:"build,omitempty" doc:"Version of the program: of two builds, the one whose text sorts last is the later one." example:"20261101T093000Z"`
	Functions []string `json:"functions" nullable:"false" doc:"The functions that it runs."`
}

// programOf returns the program that a worker is; nil for one that runs commands.
func programOf(m *common.Member) *Program {
	if !m.Only {
		return nil
	}
	p := &Program{Build: m.Build, Functions: []string{}}
	for _, feature := range m.Features {
		if f, ok := common.FunctionOfFeature(feature); ok {
			p.App, p.Functions = f.App, append(p.Functions, f.Name)
		}
	}
	slices.Sort(p.Functions)
	return p
}

// WorkerPatch says what to change; null goes back to what the worker says of itself.
type WorkerPatch struct {
	Labels core.Optional[map[string]string] `json:"labels,omitzero" doc:"Labels for selectors, at most 32; null for the worker's own."`
	Slots  core.Optional[int]               `json:"slots,omitzero" minimum:"0" maximum:"100000" doc:"Capacity; null for the worker's own."`
	Weight core.Optional[int]               `json:"weight,omitzero" minimum:"0" maximum:"1000" doc:"Share with the strategy weight; null for 1."`
}

// WorkerPath names a worker.
type WorkerPath struct {
	ID string `path:"id" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Id of the worker, or its name if unique."`
}

type workerDrainInput struct {
	WorkerPath
	Body *noteBody `nameHint:"NoteInput"`
}

type workerPatchInput struct {
	WorkerPath
	Body WorkerPatch
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("workers", "/api/v1/workers")
	core.Register(r, op.Get("list-workers", "", "List workers", core.Viewer), s.list)
	core.Register(r, op.Get("get-worker", "/{id}", "Get a worker", core.Viewer), s.get)
	core.Register(r, op.Get("get-exclusive-jobs", "/{id}/exclusive-jobs", "Get the jobs that only this worker may run",
		core.Viewer), s.exclusive)
	core.Register(r, op.Patch("patch-worker", "/{id}", "Set a worker's labels, slots and weight",
		core.Admin).Everywhere(), s.patch)
	core.Register(r, op.Post("drain-worker", "/{id}/drain", "Drain a worker", core.Operator).Everywhere(), s.drain)
	core.Register(r, op.Post("undrain-worker", "/{id}/undrain", "End the drain of a worker",
		core.Operator).Everywhere(),
		s.undrain)
	core.Register(r, op.Delete("delete-worker-settings", "/{id}/settings",
		"Delete the settings of a worker that is gone", core.Admin).Everywhere(), s.deleteSettings)
}

func (s *Resource) deleteSettings(ctx context.Context, in *WorkerPath) (*struct{}, error) {
	return nil, s.Workers.DeleteSettings(ctx, core.Actor(ctx), in.ID)
}

func (s *Resource) list(ctx context.Context, _ *struct{}) (*core.Body[core.Page[Worker]], error) {
	found, err := s.Workers.Workers(ctx)
	if err != nil {
		return nil, err
	}
	return core.Reply(core.NewPage(core.Items(found, workerOf), ""))
}

func (s *Resource) get(ctx context.Context, in *WorkerPath) (*core.Body[Worker], error) {
	m, err := s.find(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return core.Reply(workerOf(&m))
}

// find finds a worker by its id, or by its name.
func (s *Resource) find(ctx context.Context, id string) (common.Member, error) {
	found, err := s.Workers.Workers(ctx)
	if err != nil {
		return common.Member{}, err
	}
	var named []common.Member
	for i := range found {
		switch id {
		case found[i].Worker:
			return found[i], nil
		case found[i].Name:
			named = append(named, found[i])
		}
	}
	switch len(named) {
	case 0:
		return common.Member{}, common.Errorf(common.CodeNotFound, "worker %q not found", common.Shorten(id))
	case 1:
		return named[0], nil
	}
	return common.Member{}, common.Errorf(common.CodeConflict, "%d workers have the name %s", len(named),
		common.Excerpt(id)).WithReason("named_alike").With("count", len(named)).WithHint("use the id of one of them")
}

func (s *Resource) drain(ctx context.Context, in *workerDrainInput) (*core.Body[Worker], error) {
	return s.change(ctx, in.ID, func(w *common.WorkerSettings) error {
		w.Drain, w.DrainNote = true, in.Body.text()
		return nil
	})
}

func (s *Resource) undrain(ctx context.Context, in *WorkerPath) (*core.Body[Worker], error) {
	return s.change(ctx, in.ID, func(w *common.WorkerSettings) error {
		w.Drain, w.DrainNote = false, ""
		return nil
	})
}

func (s *Resource) patch(ctx context.Context, in *workerPatchInput) (*core.Body[Worker], error) {
	return s.change(ctx, in.ID, func(w *common.WorkerSettings) error {
		if in.Body.Labels.Given {
			w.Labels = nil
			if in.Body.Labels.Value != nil {
				w.Labels = *in.Body.Labels.Value
			}
		}
		if in.Body.Slots.Given {
			w.Slots = in.Body.Slots.Value
		}
		if in.Body.Weight.Given {
			w.Weight = in.Body.Weight.Value
		}
		return nil
	})
}

// change changes what is said of a worker, and answers with the worker. Workers belong to no group.
func (s *Resource) change(ctx context.Context, id string,
	change func(*common.WorkerSettings) error) (*core.Body[Worker], error) {
	m, err := s.find(ctx, id)
	if err != nil {
		return nil, err
	}
	if m.Settings, err = s.Workers.UpdateWorker(ctx, core.Actor(ctx), m.Worker, change); err != nil {
		return nil, err
	}
	return core.Reply(workerOf(&m))
}

func workerOf(m *common.Member) Worker {
	w := Worker{
		ID:         m.Worker,
		Name:       m.Name,
		Host:       m.Host,
		Version:    m.Version,
		PID:        m.PID,
		Labels:     m.EffectiveLabels(),
		Slots:      m.EffectiveSlots(),
		Used:       m.Used,
		Running:    m.Running,
		Weight:     m.Weight(),
		StartedAt:  m.StartedAt,
		Clock:      m.Clock,
		SkewMs:     m.Skew.Milliseconds(),
		Draining:   m.Draining || m.Settings.Drain,
		Trouble:    m.Trouble,
		Conditions: m.Conditions,
		Away:       m.Lease == 0,

		Replicas:    m.Replicas,
		ZoneData:    m.ZoneData,
		DaemonSlots: m.DaemonSlots,
		Program:     programOf(m),
	}
	if !reflect.ValueOf(m.Settings).IsZero() {
		w.Settings = &m.Settings
	}
	return w
}

// noteBody is the optional reason for a request.
type noteBody struct {
	Note string `json:"note,omitempty" maxLength:"500" doc:"Reason; shown with the run."`
}

func (b *noteBody) text() string {
	if b == nil {
		return ""
	}
	return b.Note
}
