package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
)

type mastersResource struct{ masters Masters }

// Master is a master that is alive.
type Master struct {
	ID         string     `json:"id" doc:"Made anew at each start."`
	Host       string     `json:"host"`
	Address    string     `json:"address,omitempty" doc:"Where it listens; absent for one of an older version." example:"10.0.0.7:7070"`
	Version    string     `json:"version"`
	StartedAt  time.Time  `json:"startedAt,omitzero" doc:"Absent for one of an older version."`
	Clock      time.Time  `json:"clock" doc:"Its wall clock when it last wrote."`
	SkewMs     int64      `json:"skewMs" doc:"How many milliseconds its clock is ahead of the cluster's, as far as it knows."`
	LeadsSince *time.Time `json:"leadsSince,omitempty" doc:"Since when it is the elected one, by its own clock; absent for the others."`
	Answers    bool       `json:"answers,omitempty" doc:"It is the one that has answered this."`
}

type mastersOutput struct{ Body Page[Master] }

func (s *mastersResource) register(r *router) {
	register(r, route{access: needs(auth.Viewer), Operation: huma.Operation{OperationID: "list-masters", Method: http.MethodGet,
		Path: "/api/v1/masters", Summary: "Masters that are alive", Tags: []string{"system"},
		Description: "Each serves all of the API. One of them is elected and does what is done once: housekeeping, the audit chain, notices."}}, s.list)
}

func (s *mastersResource) list(ctx context.Context, _ *struct{}) (*mastersOutput, error) {
	found, err := s.masters.Masters(ctx)
	if err != nil {
		return nil, err
	}
	return &mastersOutput{Body: page(found, "")}, nil
}
