package httpapi

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/gin-gonic/gin"

	"carillon/internal/access"
	"carillon/internal/common"
)

// audience is who may use a route: callers with a role, authenticated callers, or all. A route with
// the zero value is not registered.
type audience string

const (
	public audience = "public"
	anyone audience = "authenticated" // who has shown who they are, whatever they may do
)

func needs(role access.Role) audience { return audience(role) }

func (a audience) valid() bool { return a == public || a == anyone || access.Role(a).Valid() }

// Bounds of request bodies.
const (
	maxJobBody = common.MaxJobBytes
	maxBody    = 256 << 10
)

// route is an operation with its settings for the guard.
type route struct {
	huma.Operation
	access  audience
	maxBody int64 // default maxBody
	// shape: only the types of the body's values are checked here; the port checks the rest.
	shape bool
	// raw: the body is only checked to be JSON; the handler takes it from the visit and checks each
	// part.
	raw bool
	// turns: the request waits for its turn before its body is read; nil: it does not.
	turns *turns
	// patience is how long the handler may wait for its result.
	patience time.Duration
	// patch: the body is a merge patch, in which null removes a field.
	patch bool
}

// mediaType returns that of the body.
func (r *route) mediaType() string {
	if r.patch {
		return mergePatchType
	}
	return "application/json"
}

// takes reports whether a media type is accepted for the body: for a merge patch by any of its
// names.
func (r *route) takes(mediaType string) bool {
	return mediaType == r.mediaType() || r.Method == http.MethodPatch &&
		(mediaType == mergePatchType || mediaType == "application/json")
}

// mergePatchType is the media type of RFC 7396.
const mergePatchType = "application/merge-patch+json"

// router registers routes. Every route of the API is registered with it.
type router struct {
	api      huma.API
	engine   *gin.Engine
	problems problems
	describe *describer
	public   map[string]bool // "METHOD /path"
	paths    map[string]bool // of all routes
	err      error           // first registration error
}

func (r *router) admit(method, path string, a audience) bool {
	if !a.valid() {
		if r.err == nil {
			r.err = fmt.Errorf("route %s %s names no role", method, path)
		}
		return false
	}
	r.paths[path] = true
	if a == public {
		r.public[method+" "+path] = true
	}
	return true
}

// register adds an operation to the OpenAPI document.
func register[I, O any](r *router, rt route, handle func(context.Context, *I) (*O, error)) {
	op := rt.Operation
	if !r.admit(op.Method, op.Path, rt.access) {
		return
	}
	if rt.maxBody == 0 {
		rt.maxBody = maxBody
	}
	op.Extensions = map[string]any{"x-carillon-role": string(rt.access)}
	op.Security = []map[string][]string{} // explicitly empty: no authentication
	if rt.access != public {
		op.Security = []map[string][]string{{"token": {}}, {"session": {}}}
	}
	// The guard has checked parameters and body before huma decodes them.
	op.SkipValidateParams, op.SkipValidateBody = true, true
	op.MaxBodyBytes, op.BodyReadTimeout = rt.maxBody+1, -1
	g := &guard{problems: r.problems, schemas: r.api.OpenAPI().Components.Schemas, route: rt}
	op.Middlewares = append(op.Middlewares, g.handle)
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	op.Responses["default"] = refused(r.api)
	huma.Register(r.api, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, r.problems.of(ctx, err)
		}
		return out, nil
	})
	g.operation = operationOf(r.api, op.Method, op.Path)
	r.describe.complete(g.operation, rt.access)
}

// raw adds a route outside of huma.
func (r *router) raw(method, path string, a audience, h http.Handler) {
	if !r.admit(method, path, a) {
		return
	}
	r.engine.Handle(method, path, func(c *gin.Context) {
		if problem := r.problems.forbid(c.Request.Context(), a); problem != nil {
			r.problems.write(c.Writer, c.Request, problem)
			return
		}
		h.ServeHTTP(c.Writer, c.Request)
	})
}

// redirect adds a route for browsers outside of huma, since it answers any query with a redirect,
// and describes it in the OpenAPI document. Its errors come from the checks before the handler, and
// from a missing configuration.
func (r *router) redirect(a audience, op *huma.Operation, h http.Handler) {
	r.raw(op.Method, op.Path, a, h)
	op.Extensions = map[string]any{"x-carillon-role": string(a)}
	op.Security = []map[string][]string{}
	for _, code := range []common.Code{common.CodeNotFound, common.CodeTooMany, common.CodeInternal} {
		op.Responses[strconv.Itoa(statusOf(code))] = &huma.Response{Ref: "#/components/responses/" + string(code)}
	}
	op.Responses["default"] = refused(r.api)
	r.api.OpenAPI().AddOperation(op)
}

// refused describes all errors that are not described separately.
func refused(api huma.API) *huma.Response {
	return &huma.Response{
		Description: "Error.",
		Content:     map[string]*huma.MediaType{problemType: {Schema: problemSchema(api)}},
	}
}

// forbid returns the problem of a caller who may not use a route.
func (p problems) forbid(ctx context.Context, a audience) *Problem {
	if a == public {
		return nil
	}
	who, ok := identity(ctx)
	if !ok {
		return p.of(ctx, errNoCredentials())
	}
	if a != anyone && !who.Somewhere(access.Role(a)) {
		return p.of(ctx, errRole(access.Role(a), who.Role))
	}
	return nil
}

func operationOf(api huma.API, method, path string) *huma.Operation {
	item := api.OpenAPI().Paths[path]
	switch method {
	case http.MethodGet:
		return item.Get
	case http.MethodPost:
		return item.Post
	case http.MethodPut:
		return item.Put
	case http.MethodPatch:
		return item.Patch
	case http.MethodDelete:
		return item.Delete
	}
	return nil
}

func newHuma(engine *gin.Engine, version string, p problems) huma.API {
	schemas := newSchemas()
	return humagin.New(engine, huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{Title: "Carillon", Version: version, Description: strings.TrimSpace(description),
				Contact: &huma.Contact{Name: "The maintainers of Carillon"},
				License: &huma.License{Name: "Apache-2.0", URL: "https://www.apache.org/licenses/LICENSE-2.0"}},
			Servers: []*huma.Server{{URL: "/", Description: "The master that serves this document."}},
			Components: &huma.Components{Schemas: schemas, SecuritySchemes: map[string]*huma.SecurityScheme{
				"token": {Type: "http", Scheme: "bearer", Description: "An API token: car_<id>_<secret>."},
				"session": {
					Type:        "apiKey",
					In:          "cookie",
					Name:        secureCookie,
					Description: "The console's session; ignored if a token is sent.",
				},
			}},
			Tags: tags(),
		},
		Formats: map[string]huma.Format{
			"application/json": huma.DefaultJSONFormat,
			"json":             huma.DefaultJSONFormat,
		},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
		Transformers:                 []huma.Transformer{p.transform},
	})
}

// tags are the subjects of operations; each operation has one of them.
func tags() []*huma.Tag {
	return []*huma.Tag{
		{Name: "jobs", Description: "Definitions of jobs, one by one and in bulk, their versions and labels."},
		{Name: "runs", Description: "Executions of commands, and their output."},
		{Name: "fires", Description: "The ledger: one entry for each planned time of a job."},
		{Name: "workers", Description: "The machines that run commands."},
		{Name: "notifications", Description: "Channels for notifications, and deliveries."},
		{Name: "schedules", Description: "Cron expressions: previews, forecasts and conversions."},
		{Name: "secrets", Description: "Values that jobs refer to by name."},
		{Name: "stats", Description: "Statistics of runs."},
		{Name: "access", Description: "Users, tokens, sessions and the audit."},
		{Name: "system", Description: "Masters, events, health and version."},
	}
}

const description = `
The API of Carillon, a distributed cron. Lists page by an opaque cursor. Refusals are
application/problem+json with a stable code and the list of faults. Unknown fields and
parameters are refused; null says that an optional field is absent. Durations are Go
durations plus d for days; sizes have B, KiB, MiB or GiB; times are RFC 3339.
`
