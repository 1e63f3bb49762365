package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

type statsResource struct{ stats Stats }

// StoreState says whether the log store is there.
type StoreState string

const (
	StoreOK   StoreState = "ok"
	StoreAway StoreState = "away"
)

// Overview is the cluster in a few numbers, and what is not as it should be.
type Overview struct {
	Running  *int64             `json:"running,omitempty" doc:"Runs that are not resolved; absent while etcd does not answer."`
	Waiting  *int64             `json:"waiting,omitempty" doc:"Runs that were asked for, or are to be tried again, and wait; likewise."`
	Jobs     JobCounts          `json:"jobs"`
	Workers  WorkerCounts       `json:"workers"`
	LogStore StoreState         `json:"logStore" enum:"ok,away" doc:"Away: lists show only what waits, runs, or has just ended; nothing is lost."`
	Degraded []common.Condition `json:"degraded" nullable:"false" doc:"What is not as it should be, with this master, the cluster, or a worker. Empty when all is well."`
}

// JobCounts are of the definitions.
type JobCounts struct {
	Total      int `json:"total"`
	Paused     int `json:"paused"`
	Unreadable int `json:"unreadable" doc:"Definitions in etcd that cannot be read, and have no plan."`
}

// WorkerCounts are of the workers that are alive.
type WorkerCounts struct {
	Alive    int `json:"alive"`
	Draining int `json:"draining" doc:"They take no new runs: they are about to stop, or an operator wants it so."`
	Troubled int `json:"troubled" doc:"They take no new runs because something is not as it should be there."`
	Slots    int `json:"slots" doc:"Of all that are alive."`
	Used     int `json:"used" doc:"How many of the slots are taken."`
}

type overviewOutput struct{ Body Overview }

func (s *statsResource) register(r *router) {
	register(r, route{access: needs(auth.Viewer), Operation: huma.Operation{OperationID: "get-overview", Method: http.MethodGet,
		Path: "/api/v1/stats/overview", Summary: "The cluster in a few numbers, and what is not as it should be", Tags: []string{"stats"}}}, s.overview)
}

func (s *statsResource) overview(ctx context.Context, _ *struct{}) (*overviewOutput, error) {
	overview, err := s.stats.Overview(ctx)
	if err != nil {
		return nil, err
	}
	if overview.Degraded == nil {
		overview.Degraded = []common.Condition{}
	}
	return &overviewOutput{Body: overview}, nil
}
