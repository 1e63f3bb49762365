package core

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"carillon/internal/access"
	"carillon/internal/common"
)

// Audience is who may use a route: callers with a role, authenticated callers, or all. A route with
// the zero value is not registered.
type Audience string

// The audiences.
const (
	Public        = Audience("public")
	Authenticated = Audience("authenticated") // whatever their roles are
	Viewer        = Audience(access.Viewer)
	Operator      = Audience(access.Operator)
	Editor        = Audience(access.Editor)
	Admin         = Audience(access.Admin)
)

func (a Audience) valid() bool { return a == Public || a == Authenticated || access.Role(a).Valid() }

// Bounds of request bodies.
const (
	MaxJobBody = common.MaxFlowBytes
	maxBody    = 256 << 10
)

// Route is an operation with its settings for the guard.
type Route struct {
	huma.Operation
	Access  Audience
	all     bool  // see Everywhere
	MaxBody int64 // default 256 KiB
	// Shape: only the types of the body's values are checked here; the port checks the rest.
	Shape bool
	// Raw: the body is only checked to be JSON; the handler takes it from the visit and checks each
	// part.
	Raw bool
	// Queue: the request waits for its turn before its body is read; nil: it does not.
	Queue *Queue
	// Small: requests with a body of at most this size do not wait; 0: all of them wait.
	Small int64
	// Patience is how long the handler may wait for its result.
	Patience time.Duration
	// Patch: the body is a merge patch, in which null removes a field.
	Patch bool
	// PatchAt is the location of a merge patch within the body; empty for none.
	PatchAt string
}

// Everywhere returns the route for callers that have the role everywhere, and not only in some groups.
func (r Route) Everywhere() Route {
	r.all = true
	return r
}

// mediaType returns that of the body.
func (r *Route) mediaType() string {
	if r.Patch {
		return MergePatchType
	}
	return "application/json"
}

// takes reports whether a media type is accepted for the body: for a merge patch by any of its
// names.
func (r *Route) takes(mediaType string) bool {
	return mediaType == r.mediaType() || r.Method == http.MethodPatch &&
		(mediaType == MergePatchType || mediaType == "application/json")
}

// MergePatchType is the media type of RFC 7396.
const MergePatchType = "application/merge-patch+json"

// Router registers routes. Every route of the API is registered with it.
type Router struct {
	API        huma.API
	Problems   Problems
	engine     *gin.Engine
	public     map[string]bool   // "METHOD /path"
	paths      map[string]bool   // of all routes
	Operations []*huma.Operation // of register
	Plains     []*huma.Operation // of plain
	Err        error             // first registration error
}

// NewRouter returns a router without routes.
func NewRouter(api huma.API, engine *gin.Engine, p Problems) *Router {
	return &Router{API: api, engine: engine, Problems: p, public: map[string]bool{}, paths: map[string]bool{}}
}

// Public reports whether a route is open to unauthenticated callers.
func (r *Router) Public(method, path string) bool { return r.public[method+" "+path] }

// Knows reports whether a path has a route.
func (r *Router) Knows(path string) bool { return r.paths[path] }

// Routes returns all routes.
func (r *Router) Routes() gin.RoutesInfo { return r.engine.Routes() }

func (r *Router) admit(method, path string, a Audience) bool {
	if !a.valid() {
		if r.Err == nil {
			r.Err = fmt.Errorf("route %s %s names no role", method, path)
		}
		return false
	}
	r.paths[path] = true
	if a == Public {
		r.public[method+" "+path] = true
	}
	return true
}

// Register adds an operation to the OpenAPI document.
func Register[I, O any](r *Router, rt Route, handle func(context.Context, *I) (*O, error)) {
	op := rt.Operation
	if !r.admit(op.Method, op.Path, rt.Access) {
		return
	}
	if rt.MaxBody == 0 {
		rt.MaxBody = maxBody
	}
	op.Extensions = map[string]any{"x-carillon-role": string(rt.Access)}
	op.Security = []map[string][]string{} // explicitly empty: no authentication
	if rt.Access != Public {
		op.Security = []map[string][]string{{"token": {}}, {"session": {}}}
	}
	// The guard has checked parameters and body before huma decodes them.
	op.SkipValidateParams, op.SkipValidateBody = true, true
	op.MaxBodyBytes, op.BodyReadTimeout = rt.MaxBody+1, -1
	g := &guard{problems: r.Problems, schemas: r.API.OpenAPI().Components.Schemas, route: rt}
	op.Middlewares = append(op.Middlewares, g.handle)
	if op.Responses == nil {
		op.Responses = map[string]*huma.Response{}
	}
	op.Responses["default"] = refused(r.API)
	huma.Register(r.API, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, in)
		if err != nil {
			return nil, r.Problems.Of(ctx, err)
		}
		return out, nil
	})
	g.operation = OperationOf(r.API, op.Method, op.Path)
	r.Operations = append(r.Operations, g.operation)
}

// Raw adds a route outside of huma.
func (r *Router) Raw(method, path string, a Audience, h http.Handler) {
	if !r.admit(method, path, a) {
		return
	}
	r.engine.Handle(method, path, func(c *gin.Context) {
		if problem := r.Problems.forbid(c.Request.Context(), a); problem != nil {
			r.Problems.Write(c.Writer, c.Request, problem)
			return
		}
		h.ServeHTTP(c.Writer, c.Request)
	})
}

// Redirect adds a route for browsers outside of huma, since it answers any query with a redirect,
// and describes it in the OpenAPI document. Its errors come from the checks before the handler, and
// from a missing configuration.
func (r *Router) Redirect(a Audience, op *huma.Operation, h http.Handler) {
	r.Plain(a, op, h, common.CodeNotFound, common.CodeTooMany, common.CodeInternal)
}

// Plain adds a route outside of huma, with the errors of its handler, and describes it in the OpenAPI document.
func (r *Router) Plain(a Audience, op *huma.Operation, h http.Handler, codes ...common.Code) {
	r.Raw(op.Method, strings.NewReplacer("{", ":", "}", "").Replace(op.Path), a, h)
	op.Extensions = map[string]any{"x-carillon-role": string(a)}
	op.Security = []map[string][]string{}
	for _, code := range codes {
		op.Responses[strconv.Itoa(StatusOf(code))] = &huma.Response{Ref: "#/components/responses/" + string(code)}
	}
	op.Responses["default"] = refused(r.API)
	r.API.OpenAPI().AddOperation(op)
	r.Plains = append(r.Plains, op)
}

// refused describes all errors that are not described separately.
func refused(api huma.API) *huma.Response {
	return &huma.Response{
		Description: "Error.",
		Content:     map[string]*huma.MediaType{ProblemType: {Schema: ProblemSchema(api)}},
	}
}

// forbid returns the problem of a caller who may not use a route.
func (p Problems) forbid(ctx context.Context, a Audience) *Problem {
	if a == Public {
		return nil
	}
	who, ok := Identity(ctx)
	if !ok {
		return p.Of(ctx, ErrNoCredentials())
	}
	if a != Authenticated && !who.Somewhere(access.Role(a)) {
		return p.Of(ctx, errRole(access.Role(a), who.Role))
	}
	return nil
}

// OperationOf returns an operation of the document; nil if there is none.
func OperationOf(api huma.API, method, path string) *huma.Operation {
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

// Enumerate adds the possible values of a list parameter's items to the document.
func Enumerate[T ~string](r *Router, path, name string, values []T) {
	op := OperationOf(r.API, http.MethodGet, path)
	if op == nil {
		return
	}
	for _, p := range op.Parameters {
		if p.Name == name {
			for _, v := range values {
				p.Schema.Items.Enum = append(p.Schema.Items.Enum, string(v))
			}
		}
	}
}

// Operations makes the routes below a path, which have one tag in the document.
type Operations struct{ tag, base string }

// NewOperations returns the maker of routes below a path.
func NewOperations(tag, base string) Operations { return Operations{tag: tag, base: base} }

// Get returns the route of a GET.
func (o Operations) Get(id, path, summary string, who Audience) Route {
	return o.route(http.MethodGet, id, path, summary, who)
}

// Post returns the route of a POST.
func (o Operations) Post(id, path, summary string, who Audience) Route {
	return o.route(http.MethodPost, id, path, summary, who)
}

// Put returns the route of a PUT.
func (o Operations) Put(id, path, summary string, who Audience) Route {
	return o.route(http.MethodPut, id, path, summary, who)
}

// Patch returns the route of a PATCH.
func (o Operations) Patch(id, path, summary string, who Audience) Route {
	return o.route(http.MethodPatch, id, path, summary, who)
}

// Delete returns the route of a DELETE.
func (o Operations) Delete(id, path, summary string, who Audience) Route {
	return o.route(http.MethodDelete, id, path, summary, who)
}

func (o Operations) route(method, id, path, summary string, who Audience) Route {
	return Route{Access: who, Operation: huma.Operation{
		OperationID: id,
		Method:      method,
		Path:        o.base + path,
		Summary:     summary,
		Tags:        []string{o.tag},
	}}
}

// Created describes the response of an operation that has created an object, by the name of its schema.
func Created(schema string) map[string]*huma.Response {
	return map[string]*huma.Response{"201": response("Created", schema)}
}

// Planned describes the response to a dry run of an operation that is otherwise accepted, by the name of its schema.
func Planned(schema string) map[string]*huma.Response {
	return map[string]*huma.Response{"200": response("Dry run: nothing was changed", schema)}
}

func response(text, schema string) *huma.Response {
	return &huma.Response{Description: text, Content: map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/" + schema}}}}
}
