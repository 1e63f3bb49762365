package system

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
	"carillon/internal/health"
	"carillon/internal/httpapi/core"
)

// Health reports whether this process can work. It does not wait.
type Health interface {
	Ready(ctx context.Context) []health.Check
	// Conditions returns the active problems of this process and of the workers.
	Conditions() []common.Condition
}

// Resource serves the system.
type Resource struct {
	Health   Health
	Doctor   Doctor
	Recovery Recovery
	Masters  Masters
	Feed     Feed
	Problems core.Problems
	Version  string
	Zone     string // of schedules that name none
	Mail     bool   // this master sends mail
}

// Liveness is the response of a health check.
type Liveness struct {
	Status string `json:"status" enum:"ok"`
}

// Readiness reports whether the process can work.
type Readiness struct {
	Status     string             `json:"status" enum:"ok,degraded,unavailable" doc:"degraded: the process works, with active problems."`
	Checks     []health.Check     `json:"checks,omitempty" nullable:"false" doc:"Checks; only for authenticated clients."`
	Conditions []common.Condition `json:"conditions,omitempty" nullable:"false" doc:"Active problems; only for authenticated clients."`
}

// ReadinessOf summarizes checks and conditions.
func ReadinessOf(checks []health.Check, conditions []common.Condition) Readiness {
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

// Local serves /metrics, /healthz and /readyz of a process without an API. It accepts no changes.
func Local(metrics http.Handler, ready func() Readiness) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		now := ready()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(now.HTTPStatus())
		_ = json.NewEncoder(w).Encode(now) // the client may have disconnected
	})
	return mux
}

// Version is the running version.
type Version struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	Zone    string `json:"timezone,omitempty" doc:"Time zone of schedules that name none."`
	Zones   string `json:"zoneData" doc:"Version of the IANA time zone database that schedules are computed with." example:"2025c"`
	Mail    bool   `json:"mail" doc:"This master sends mail: its setting smtpHost is set."`
}

type readinessOutput struct {
	Status int
	Body   Readiness
}

// Register registers the routes.
func (s *Resource) Register(r *core.Router) {
	op := core.NewOperations("system", "")
	core.Register(r, op.Get("healthz", "/healthz", "Check liveness", core.Public),
		func(context.Context, *struct{}) (*core.Body[Liveness], error) {
			return core.Reply(Liveness{Status: "ok"})
		})
	ready := op.Get("readyz", "/readyz", "Check readiness", core.Public)
	ready.Responses = map[string]*huma.Response{"503": {Description: "The process cannot work.",
		Content: map[string]*huma.MediaType{
			"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Readiness"}}}}}
	core.Register(r, ready, s.ready)
	core.Register(r, op.Get("version", "/version", "Get the version", core.Viewer),
		func(context.Context, *struct{}) (*core.Body[Version], error) {
			return core.Reply(Version{Version: s.Version, Go: runtime.Version(), Zone: s.Zone,
				Zones: zoneinfo.Version(), Mail: s.Mail})
		})
	api := core.NewOperations("system", "/api/v1")
	core.Register(r, api.Get("get-doctor", "/system/doctor", "Diagnose the cluster", core.Viewer), s.examine)
	core.Register(r, api.Delete("delete-record", "/system/records", "Delete a stored value that does not decode",
		core.Admin).Everywhere(), s.deleteRecord)
	core.Register(r, api.Post("recover", "/system/recover",
		"Recover cursors after a wrong clock or a restore of etcd", core.Admin).Everywhere(), s.recover)
	core.Register(r, api.Get("list-masters", "/masters", "List live masters", core.Viewer), s.masters)
	follow := api.Get("follow-events", "/events", "Follow changes of jobs, runs, flow runs and workers", core.Viewer)
	follow.Responses = map[string]*huma.Response{"200": {Description: feedDoc,
		Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}}}
	core.Register(r, follow, s.follow)
}

func (s *Resource) ready(ctx context.Context, _ *struct{}) (*readinessOutput, error) {
	ready := ReadinessOf(s.Health.Ready(ctx), s.Health.Conditions())
	if _, known := core.Identity(ctx); !known {
		ready.Checks, ready.Conditions = nil, nil
	}
	return &readinessOutput{Status: ready.HTTPStatus(), Body: ready}, nil
}
