package httpapi

import (
	"context"
	"net/http"
	"runtime"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

type systemResource struct {
	health  Health
	version string
}

// Liveness says that the process answers.
type Liveness struct {
	Status string `json:"status" enum:"ok"`
}

// Readiness says whether the process can do its work.
type Readiness struct {
	Status     string             `json:"status" enum:"ok,degraded,unavailable" doc:"Degraded: it does its work, and something is not as it should be."`
	Checks     []Check            `json:"checks,omitempty" nullable:"false" doc:"What was looked at; only for those who are logged in."`
	Conditions []common.Condition `json:"conditions,omitempty" nullable:"false" doc:"What is not as it should be; likewise."`
}

// ReadinessOf says what checks and conditions come to.
func ReadinessOf(checks []Check, conditions []common.Condition) Readiness {
	r := Readiness{Status: "ok", Checks: checks, Conditions: conditions}
	if len(conditions) > 0 {
		r.Status = "degraded"
	}
	for _, c := range checks {
		switch {
		case !c.OK && c.Needed:
			r.Status = "unavailable"
			return r
		case !c.OK:
			r.Status = "degraded"
		}
	}
	return r
}

// HTTPStatus is that of the answer.
func (r Readiness) HTTPStatus() int {
	if r.Status == "unavailable" {
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}

// Version says what is running.
type Version struct {
	Version string `json:"version"`
	Go      string `json:"go"`
}

type livenessOutput struct{ Body Liveness }

type readinessOutput struct {
	Status int
	Body   Readiness
}

type versionOutput struct{ Body Version }

func (s *systemResource) register(r *router) {
	register(r, route{access: public, Operation: huma.Operation{OperationID: "healthz", Method: http.MethodGet, Path: "/healthz",
		Summary: "Whether the process answers", Tags: []string{"system"}}},
		func(context.Context, *struct{}) (*livenessOutput, error) {
			return &livenessOutput{Body: Liveness{Status: "ok"}}, nil
		})
	register(r, route{access: public, Operation: huma.Operation{OperationID: "readyz", Method: http.MethodGet, Path: "/readyz",
		Summary: "Whether the process can do its work", Tags: []string{"system"},
		Responses: map[string]*huma.Response{"503": {Description: "It cannot.", Content: map[string]*huma.MediaType{
			"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Readiness"}}}}}}}, s.ready)
	register(r, route{access: needs(auth.Viewer), Operation: huma.Operation{OperationID: "version", Method: http.MethodGet, Path: "/version",
		Summary: "What is running", Tags: []string{"system"}}},
		func(context.Context, *struct{}) (*versionOutput, error) {
			return &versionOutput{Body: Version{Version: s.version, Go: runtime.Version()}}, nil
		})
}

func (s *systemResource) ready(ctx context.Context, _ *struct{}) (*readinessOutput, error) {
	ready := ReadinessOf(s.health.Ready(ctx), s.health.Conditions())
	if _, known := identity(ctx); !known {
		ready.Checks, ready.Conditions = nil, nil
	}
	return &readinessOutput{Status: ready.HTTPStatus(), Body: ready}, nil
}
