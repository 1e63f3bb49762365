package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

type workersResource struct{ workers Workers }

// Worker is a worker that is alive.
type Worker struct {
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	Host      string            `json:"host"`
	Version   string            `json:"version"`
	PID       int               `json:"pid"`
	Labels    map[string]string `json:"labels,omitempty"`
	Slots     int               `json:"slots" doc:"How many runs it takes at a time."`
	Running   int               `json:"running" doc:"How many it has just now."`
	StartedAt time.Time         `json:"startedAt"`
	Clock     time.Time         `json:"clock" doc:"Its wall clock when it last wrote."`
	Draining  bool              `json:"draining,omitempty" doc:"It takes no new runs and is about to stop."`
	Trouble   string            `json:"trouble,omitempty" doc:"Why it takes no runs, if it does not."`
}

type workersOutput struct{ Body Page[Worker] }

type workerInput struct {
	ID string `path:"id" pattern:"^[a-z0-9]([a-z0-9._-]{0,126}[a-z0-9])?$" doc:"Id of the worker."`
}

type workerOutput struct{ Body Worker }

func (s *workersResource) register(r *router) {
	register(r, route{access: needs(auth.Viewer), Operation: huma.Operation{OperationID: "list-workers", Method: http.MethodGet,
		Path: "/api/v1/workers", Summary: "Workers that are alive", Tags: []string{"workers"}}}, s.list)
	register(r, route{access: needs(auth.Viewer), Operation: huma.Operation{OperationID: "get-worker", Method: http.MethodGet,
		Path: "/api/v1/workers/{id}", Summary: "One worker", Tags: []string{"workers"}}}, s.get)
}

func (s *workersResource) list(ctx context.Context, _ *struct{}) (*workersOutput, error) {
	found, err := s.workers.Workers(ctx)
	if err != nil {
		return nil, err
	}
	items := make([]Worker, len(found))
	for i := range found {
		items[i] = workerOf(&found[i])
	}
	return &workersOutput{Body: page(items, "")}, nil
}

func (s *workersResource) get(ctx context.Context, in *workerInput) (*workerOutput, error) {
	found, err := s.workers.Workers(ctx)
	if err != nil {
		return nil, err
	}
	for i := range found {
		if found[i].Worker == in.ID {
			return &workerOutput{Body: workerOf(&found[i])}, nil
		}
	}
	return nil, common.Errorf(common.CodeNotFound, "no worker %q is alive", common.Excerpt(in.ID))
}

func workerOf(r *common.Registration) Worker {
	return Worker{ID: r.Worker, Name: r.Name, Host: r.Host, Version: r.Version, PID: r.PID, Labels: r.Labels, Slots: r.Slots, Running: r.Running,
		StartedAt: r.StartedAt, Clock: r.Clock, Draining: r.Draining, Trouble: r.Trouble}
}
