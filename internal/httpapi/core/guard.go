package core

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/strict"
)

// Time limits of one request.
const (
	ReadTimeout  = 30 * time.Second // for it to arrive
	WriteTimeout = 30 * time.Second // to write its response; a stream renews it
)

// guard checks a request before its operation: role first, then path and query, then the body's
// size, type, format and fields.
type guard struct {
	problems  Problems
	schemas   huma.Registry
	route     Route
	operation *huma.Operation // as registered, with its parameters
}

func (g *guard) handle(hc huma.Context, next func(huma.Context)) {
	c := humagin.Unwrap(hc)
	w, r := http.ResponseWriter(c.Writer), c.Request
	problem := g.problems.forbid(r.Context(), g.route.Access)
	if problem == nil && g.route.all {
		if err := AllowEverywhere(r.Context(), access.Role(g.route.Access)); err != nil {
			problem = g.problems.Of(r.Context(), err)
		}
	}
	if problem == nil && g.route.waits(r) {
		var end func()
		if end, problem = g.turn(w, r); problem == nil {
			defer end()
		}
	}
	if problem == nil {
		problem = g.request(w, r, c.Param)
	}
	if problem != nil {
		g.problems.Write(w, r, problem)
		return
	}
	// The body has been read. The rest of the read deadline would end a long response.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // not supported by every writer
	if g.route.Patience > 0 {
		// not supported by every writer
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(g.route.Patience + WriteTimeout))
	}
	w.Header().Set("Cache-Control", "no-store")
	next(hc)
}

// waits reports whether a request waits for its turn. A body without a given length may be large.
func (r *Route) waits(request *http.Request) bool {
	return r.Queue != nil && (r.Small == 0 || request.ContentLength < 0 || request.ContentLength > r.Small)
}

func (g *guard) request(w http.ResponseWriter, r *http.Request, param func(string) string) *Problem {
	check := &strict.Checker{Schemas: g.schemas}
	g.parameters(check, r.URL, param)
	if g.operation.RequestBody != nil {
		check.Shape, check.Patch, check.PatchAt = g.route.Shape, g.route.Patch, g.route.PatchAt
		check.Root = "body"
		if problem := g.body(check, w, r); problem != nil {
			return problem
		}
	}
	if len(check.Faults) > 0 {
		return g.problems.Refuse(r.Context(), common.CodeInvalid, "the request is not valid", check.Faults...)
	}
	return nil
}

func (g *guard) parameters(check *strict.Checker, u *url.URL, param func(string) string) {
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		check.Add("query", "query", nil, "is not a valid query string")
		return
	}
	known := map[string]*huma.Param{}
	for _, p := range g.operation.Parameters {
		switch p.In {
		case "path":
			check.Parameter(p, param(p.Name))
		case "query":
			known[p.Name] = p
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		values, p := query[name], known[name]
		switch {
		case p == nil:
			check.Add("query."+common.Excerpt(name), "unknown", nil, "is not a known parameter")
		case len(values) > 1:
			check.Add("query."+name, "duplicate", nil, "is a duplicate")
		case !utf8.ValidString(values[0]) || strings.ContainsRune(values[0], 0):
			check.Add("query."+name, "utf8", values[0], "must be UTF-8, without NUL")
		case values[0] != "":
			check.Parameter(p, values[0])
		}
	}
}

// body reads and checks the body and makes it readable again.
func (g *guard) body(check *strict.Checker, w http.ResponseWriter, r *http.Request) *Problem {
	ctx, limit := r.Context(), g.route.MaxBody
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	// Reading may take as long as a response, so that a slow client gets an error.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(WriteTimeout)) // not supported by every writer
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		size := sizeText(limit)
		fault := common.NewFault("body", "too_large", nil, "must be at most %s", size)
		return g.problems.Refuse(ctx, common.CodeTooLarge, "the body is too large", *fault.With("size", size))
	}
	if err != nil {
		return g.problems.Refuse(ctx, common.CodeInvalid, "the body could not be read",
			common.NewFault("body", "incomplete", nil, "is incomplete"))
	}
	if len(data) == 0 {
		if g.operation.RequestBody.Required {
			check.Add("body", "required", nil, "is required")
		}
		return nil
	}
	if problem := g.mediaType(ctx, r.Header.Get("Content-Type")); problem != nil {
		return problem
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return g.problems.Refuse(ctx, common.CodeUnsupportedType, "the body must not be compressed",
			common.NewFault("header.Content-Encoding", "media_type", coding, "must be absent"))
	}
	if g.route.Raw {
		if !utf8.Valid(data) || !json.Valid(data) {
			check.Add("body", "json", nil, "is not valid JSON in UTF-8")
			return nil
		}
		VisitOf(ctx).Body = data
		r.Body = io.NopCloser(strings.NewReader("null")) // huma would copy it
		r.Header.Set("Content-Type", "application/json")
		return nil
	}
	value, fault := strict.Parse(data)
	if fault != nil {
		check.Faults = append(check.Faults, *fault)
		return nil
	}
	check.Check(g.operation.RequestBody.Content[g.route.mediaType()].Schema, "body", value)
	r.Body = io.NopCloser(bytes.NewReader(data))
	r.Header.Set("Content-Type", "application/json")
	return nil
}

// mediaType accepts only JSON in UTF-8: forms of other sites could send other types without a
// preflight request.
func (g *guard) mediaType(ctx context.Context, header string) *Problem {
	mediaType, params, err := mime.ParseMediaType(header)
	charset := params["charset"]
	if err == nil && g.route.takes(mediaType) && (charset == "" || strings.EqualFold(charset, "utf-8")) {
		return nil
	}
	return g.problems.Refuse(ctx, common.CodeUnsupportedType, "the body must be JSON",
		common.NewFault("header.Content-Type", "media_type", header, "must be %s", g.route.mediaType()))
}

func sizeText(n int64) string { return strconv.FormatInt(n>>10, 10) + " KiB" }
