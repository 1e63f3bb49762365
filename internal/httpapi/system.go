package httpapi

import (
	"context"
	"net/http"
	"runtime"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

type systemResource struct {
	health  Health
	version string
}

// Liveness is the response of a health check.
type Liveness struct {
	Status string `json:"status" enum:"ok"`
}

// Readiness reports whether the process can work.
type Readiness struct {
	Status     string             `json:"status" enum:"ok,degraded,unavailable" doc:"degraded: the process works, with active problems."`
	Checks     []Check            `json:"checks,omitempty" nullable:"false" doc:"Checks; only for authenticated clients."`
	Conditions []common.Condition `json:"conditions,omitempty" nullable:"false" doc:"Active problems; only for authenticated clients."`
}

// ReadinessOf summarizes checks and conditions.
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

// HTTPStatus returns the status of the response.
func (r Readiness) HTTPStatus() int {
	if r.Status == "unavailable" {
		return http.StatusServiceUnavailable
	}
	return http.StatusOK
}

// Version is the running version.
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

func (s *systemResource) register(r *core.Router) {
	core.Register(r, core.Route{
		Access: core.Public,
		Operation: huma.Operation{OperationID: "healthz", Method: http.MethodGet, Path: "/healthz",
			Summary: "Check liveness", Tags: []string{"system"}},
	},
		func(context.Context, *struct{}) (*livenessOutput, error) {
			return &livenessOutput{Body: Liveness{Status: "ok"}}, nil
		})
	core.Register(r, core.Route{
		Access: core.Public,
		Operation: huma.Operation{OperationID: "readyz", Method: http.MethodGet, Path: "/readyz",
			Summary: "Check readiness", Tags: []string{"system"},
			Responses: map[string]*huma.Response{"503": {Description: "The process cannot work.",
				Content: map[string]*huma.MediaType{
					"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Readiness"}}}}}},
	}, s.ready)
	core.Register(r, core.Route{
		Access: core.Viewer,
		Operation: huma.Operation{OperationID: "version", Method: http.MethodGet, Path: "/version",
			Summary: "Get the version", Tags: []string{"system"}},
	},
		func(context.Context, *struct{}) (*versionOutput, error) {
			return &versionOutput{Body: Version{Version: s.version, Go: runtime.Version()}}, nil
		})
}

func (s *systemResource) ready(ctx context.Context, _ *struct{}) (*readinessOutput, error) {
	ready := ReadinessOf(s.health.Ready(ctx), s.health.Conditions())
	if _, known := core.Identity(ctx); !known {
		ready.Checks, ready.Conditions = nil, nil
	}
	return &readinessOutput{Status: ready.HTTPStatus(), Body: ready}, nil
}
