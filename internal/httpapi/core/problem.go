package core

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
)

const ProblemType = "application/problem+json"

// Problem is the body of every error (RFC 9457).
type Problem struct {
	Title     string        `json:"title" doc:"Name of the HTTP status."`
	Status    int           `json:"status" doc:"The HTTP status."`
	Detail    string        `json:"detail" doc:"The error in one sentence."`
	Code      common.Code   `json:"code" doc:"Stable error code, for programs." enum:"invalid,not_found,exists,stale,conflict,unauthenticated,forbidden,unavailable,too_large,unsupported_media_type,method_not_allowed,too_many_requests,internal"`
	Reason    string        `json:"reason,omitempty" doc:"Stable reason, for programs: distinguishes failures with the same code that need different handling."`
	Data      common.Words  `json:"data,omitempty" doc:"Values for translated texts."`
	RequestID string        `json:"requestId" doc:"Id of the request in the server's log."`
	Hint      string        `json:"hint,omitempty" doc:"Advice."`
	Errors    common.Faults `json:"errors,omitempty" nullable:"false" doc:"All faults found in the request."`

	headers http.Header
}

// Error makes a Problem an error, so that a handler can return it.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is called by huma.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders is called by huma.
func (p *Problem) GetHeaders() http.Header { return p.headers }

// ContentType is called by huma.
func (p *Problem) ContentType(string) string { return ProblemType }

// StatusOf maps error codes to HTTP status codes; there is no other place that does.
func StatusOf(code common.Code) int {
	status := map[common.Code]int{
		common.CodeInvalid:         http.StatusUnprocessableEntity,
		common.CodeNotFound:        http.StatusNotFound,
		common.CodeExists:          http.StatusConflict,
		common.CodeConflict:        http.StatusConflict,
		common.CodeStale:           http.StatusPreconditionFailed,
		common.CodeUnauthenticated: http.StatusUnauthorized,
		common.CodeForbidden:       http.StatusForbidden,
		common.CodeUnavailable:     http.StatusServiceUnavailable,
		common.CodeTooLarge:        http.StatusRequestEntityTooLarge,
		common.CodeUnsupportedType: http.StatusUnsupportedMediaType,
		common.CodeNotAllowed:      http.StatusMethodNotAllowed,
		common.CodeTooMany:         http.StatusTooManyRequests,
	}[code]
	return cmp.Or(status, http.StatusInternalServerError)
}

// Problems converts errors to problems, and logs internal ones.
type Problems struct{ Log *slog.Logger }

// Of returns the problem of an error. Locations of faults from lower layers are fields of the body.
func (p Problems) Of(ctx context.Context, err error) *Problem {
	if done, ok := errors.AsType[*Problem](err); ok {
		return done
	}
	again := retryAfter
	out := &Problem{Code: common.CodeInternal, Detail: "internal error",
		RequestID: VisitOf(ctx).RequestID, Hint: "search the server's log for the request id"}
	if e, ok := errors.AsType[*common.Error](err); ok {
		out.Code, out.Detail, out.Hint, out.Reason, out.Data = e.Code, e.Message, e.Hint, e.Reason, e.Data
		again = cmp.Or(e.RetryAfter, retryAfter)
		for _, f := range e.Faults {
			f.Location = InBody(f.Location)
			out.Errors = append(out.Errors, f)
		}
	}
	out.Status = StatusOf(out.Code)
	out.Title = http.StatusText(out.Status)
	switch out.Code {
	case common.CodeUnauthenticated:
		out.SetHeader("WWW-Authenticate", `Bearer realm="carillon"`)
	case common.CodeTooMany, common.CodeUnavailable:
		out.RetryAfter(again)
	}
	if out.Status >= http.StatusInternalServerError && ctx.Err() == nil {
		p.Log.LogAttrs(ctx, slog.LevelError, "request_failed",
			slog.String("request_id", out.RequestID), slog.String("code", string(out.Code)), slog.Any("error", err))
	}
	return out
}

// retryAfter is the default of Retry-After.
const retryAfter = 2 * time.Second

// RetryAfter sets Retry-After, in whole seconds.
func (p *Problem) RetryAfter(after time.Duration) {
	p.SetHeader("Retry-After", strconv.Itoa(max(1, int(math.Ceil(after.Seconds())))))
}

// SetHeader sets a header of the response.
func (p *Problem) SetHeader(name, value string) {
	if p.headers == nil {
		p.headers = http.Header{}
	}
	p.headers.Set(name, value)
}

// BadParameter returns the error of a fault at a complete location, such as query.limit, that quotes the value.
func BadParameter(at, code, message, value string) error {
	if value == "" {
		return BadRequest(common.NewFault(at, code, nil, "%s", message))
	}
	return BadRequest(common.NewFault(at, code, value, "%s", message))
}

// BadRequest returns the error of a fault at a complete location.
func BadRequest(f common.Fault) error { return common.Invalid("the request is not valid", f) }

// InBody completes the location of a fault in a field of the body.
func InBody(location string) string {
	root, _, _ := strings.Cut(location, ".")
	root, _, _ = strings.Cut(root, "[")
	switch root {
	case "":
		return "body"
	case "body", "header", "path", "query":
		return location
	}
	return "body." + location
}

// Refuse returns the problem of a request that the API itself refuses.
func (p Problems) Refuse(ctx context.Context, code common.Code, detail string, faults ...common.Fault) *Problem {
	out := p.Of(ctx, common.Errorf(code, "%s", detail))
	out.Errors = faults
	return out
}

// Write sends a problem outside of huma.
func (p Problems) Write(w http.ResponseWriter, r *http.Request, problem *Problem) {
	maps.Copy(w.Header(), problem.headers)
	w.Header().Set("Content-Type", ProblemType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(problem.Status)
	if r.Method != http.MethodHead {
		_ = json.NewEncoder(w).Encode(problem) // the client may be gone
	}
}

// Transform replaces huma's own errors, which occur only if the guard accepted input that huma
// cannot decode.
func (p Problems) Transform(ctx huma.Context, _ string, v any) (any, error) {
	model, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	out := &Problem{Title: model.Title, Status: model.Status, Detail: model.Detail, Code: codeOfStatus(model.Status),
		RequestID: VisitOf(ctx.Context()).RequestID}
	for _, e := range model.Errors {
		if e != nil {
			out.Errors.Add(e.Location, "invalid", nil, "%s", common.Excerpt(e.Message))
		}
	}
	return out, nil
}

// codeOfStatus returns the code of an error returned by huma.
func codeOfStatus(status int) common.Code {
	switch {
	case status == http.StatusRequestEntityTooLarge:
		return common.CodeTooLarge
	case status == http.StatusUnsupportedMediaType:
		return common.CodeUnsupportedType
	case status < http.StatusInternalServerError:
		return common.CodeInvalid
	}
	return common.CodeInternal
}

// ProblemSchema returns the schema of a Problem.
func ProblemSchema(api huma.API) *huma.Schema {
	return api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Problem](), true, "")
}
