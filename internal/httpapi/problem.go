package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
)

const problemType = "application/problem+json"

// Problem is the body of every error (RFC 9457).
type Problem struct {
	Title     string       `json:"title" doc:"Name of the HTTP status."`
	Status    int          `json:"status" doc:"The HTTP status."`
	Detail    string       `json:"detail" doc:"The error in one sentence."`
	Code      common.Code  `json:"code" doc:"Stable error code, for programs." enum:"invalid,not_found,exists,stale,conflict,unauthenticated,forbidden,unavailable,too_large,unsupported_media_type,method_not_allowed,too_many_requests,internal"`
	Reason    string       `json:"reason,omitempty" doc:"Stable reason, for programs: distinguishes failures with the same code that need different handling."`
	Data      common.Words `json:"data,omitempty" doc:"Values for translated texts."`
	RequestID string       `json:"requestId" doc:"Id of the request in the server's log."`
	Hint      string       `json:"hint,omitempty" doc:"Advice."`
	Errors    []Fault      `json:"errors,omitempty" nullable:"false" doc:"All faults found in the request."`

	headers http.Header
}

// Fault is one fault at one location of a request.
type Fault struct {
	Location string       `json:"location" doc:"Location: such as path.name, query.limit, header.If-Match or body.env.PATH." example:"body.timeout"`
	Code     string       `json:"code" doc:"Stable fault code." example:"duration"`
	Message  string       `json:"message" doc:"The fault, following its location: for example must be a duration."`
	Hint     string       `json:"hint,omitempty" doc:"Advice on correcting it."`
	Value    any          `json:"value,omitempty" doc:"The value sent, shortened and escaped."`
	Data     common.Words `json:"data,omitempty" doc:"Values for translated texts."`
}

// Error makes a Problem an error, so that a handler can return it.
func (p *Problem) Error() string { return p.Detail }

// GetStatus is called by huma.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders is called by huma.
func (p *Problem) GetHeaders() http.Header { return p.headers }

// ContentType is called by huma.
func (p *Problem) ContentType(string) string { return problemType }

// statusOf maps error codes to HTTP status codes; there is no other place that does.
func statusOf(code common.Code) int {
	switch code {
	case common.CodeInvalid:
		return http.StatusUnprocessableEntity
	case common.CodeNotFound:
		return http.StatusNotFound
	case common.CodeExists, common.CodeConflict:
		return http.StatusConflict
	case common.CodeStale:
		return http.StatusPreconditionFailed
	case common.CodeUnauthenticated:
		return http.StatusUnauthorized
	case common.CodeForbidden:
		return http.StatusForbidden
	case common.CodeUnavailable:
		return http.StatusServiceUnavailable
	case common.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case common.CodeUnsupportedType:
		return http.StatusUnsupportedMediaType
	case common.CodeNotAllowed:
		return http.StatusMethodNotAllowed
	case common.CodeTooMany:
		return http.StatusTooManyRequests
	case common.CodeInternal:
		return http.StatusInternalServerError
	}
	return http.StatusInternalServerError
}

// problems converts errors to problems, and logs internal ones.
type problems struct{ log *slog.Logger }

// of returns the problem of an error. Locations of faults from lower layers are fields of the body,
// except for headers; those from the guard are complete.
func (p problems) of(ctx context.Context, err error) *Problem {
	if done, ok := errors.AsType[*Problem](err); ok {
		return done
	}
	again := retryAfter
	out := &Problem{Code: common.CodeInternal, Detail: "internal error",
		RequestID: requestID(ctx), Hint: "search the server's log for the request id"}
	if f, ok := errors.AsType[*requestFault](err); ok {
		out.Code, out.Detail, out.Hint, out.Errors = common.CodeInvalid, "the request is not valid", "",
			[]Fault{f.Fault}
	} else if e, ok := errors.AsType[*common.Error](err); ok {
		out.Code, out.Detail, out.Hint, out.Reason, out.Data = e.Code, e.Message, e.Hint, e.Reason, e.Data
		again = cmp.Or(e.RetryAfter, retryAfter)
		for _, f := range e.Faults {
			f.Location = inBody(f.Location)
			out.Errors = append(out.Errors, Fault(f))
		}
	}
	out.Status = statusOf(out.Code)
	out.Title = http.StatusText(out.Status)
	switch out.Code {
	case common.CodeUnauthenticated:
		out.headers = http.Header{"Www-Authenticate": {`Bearer realm="carillon"`}}
	case common.CodeTooMany, common.CodeUnavailable:
		out.again(again)
	}
	if out.Status >= http.StatusInternalServerError && ctx.Err() == nil {
		p.log.LogAttrs(ctx, slog.LevelError, "request_failed",
			slog.String("request_id", out.RequestID), slog.String("code", string(out.Code)), slog.Any("error", err))
	}
	return out
}

// retryAfter is the default of Retry-After.
const retryAfter = 2 * time.Second

// again sets Retry-After, in whole seconds.
func (p *Problem) again(after time.Duration) {
	if p.headers == nil {
		p.headers = http.Header{}
	}
	p.headers.Set("Retry-After", strconv.Itoa(max(1, int(math.Ceil(after.Seconds())))))
}

// requestFault is a fault outside of the body, found by a handler.
type requestFault struct{ Fault }

func (f *requestFault) Error() string { return f.Location + " " + f.Message }

func inBody(location string) string {
	switch {
	case location == "":
		return "body"
	case strings.HasPrefix(location, "header."):
		return location
	}
	return "body." + location
}

// refuse returns the problem of a request that the API itself refuses.
func (p problems) refuse(ctx context.Context, code common.Code, detail string, faults ...Fault) *Problem {
	out := p.of(ctx, common.Errorf(code, "%s", detail))
	out.Errors = faults
	return out
}

// write sends a problem outside of huma.
func (p problems) write(w http.ResponseWriter, r *http.Request, problem *Problem) {
	maps.Copy(w.Header(), problem.headers)
	w.Header().Set("Content-Type", problemType)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(problem.Status)
	if r.Method != http.MethodHead {
		_ = json.NewEncoder(w).Encode(problem) // the client may be gone
	}
}

// transform replaces huma's own errors, which occur only if the guard accepted input that huma
// cannot decode.
func (p problems) transform(ctx huma.Context, _ string, v any) (any, error) {
	model, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	out := &Problem{Title: model.Title, Status: model.Status, Detail: model.Detail, Code: codeOfStatus(model.Status),
		RequestID: requestID(ctx.Context())}
	for _, e := range model.Errors {
		if e != nil {
			out.Errors = append(out.Errors, Fault{
				Location: e.Location,
				Code:     "invalid",
				Message:  common.Excerpt(e.Message),
			})
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
