package httpapi

import (
	"context"
	"net/http"
	"runtime"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
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
	Status string  `json:"status" enum:"ok,unavailable"`
	Checks []Check `json:"checks,omitempty" nullable:"false" doc:"What was looked at; only for those who are logged in."`
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
	checks := s.health.Ready(ctx)
	out := &readinessOutput{Status: http.StatusOK, Body: Readiness{Status: "ok"}}
	for _, c := range checks {
		if !c.OK {
			out.Status, out.Body.Status = http.StatusServiceUnavailable, "unavailable"
		}
	}
	if _, known := identity(ctx); known {
		out.Body.Checks = checks
	}
	return out, nil
}
