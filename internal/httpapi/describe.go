package httpapi

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// What the document says of operations beyond what their types and registrations do: at length,
// which refusals there are, and by example. The examples were taken from a master at work.

//go:embed examples.json
var recorded []byte

// example is a recorded request and response of an operation.
type example struct {
	Request json.RawMessage            `json:"request,omitempty"`
	Answers map[string]json.RawMessage `json:"answers,omitempty"` // by status; of an answer that is no JSON the text
}

// describe completes the document and its operations.
func describe(api huma.API, operations []*huma.Operation) error {
	var examples map[string]example // by id of operation
	if err := json.Unmarshal(recorded, &examples); err != nil {
		return fmt.Errorf("read the examples of the API: %w", err)
	}
	api.OpenAPI().Components.Responses = map[string]*huma.Response{}
	for _, r := range refusalKinds() {
		api.OpenAPI().Components.Responses[string(r.code)] = r.response(api)
	}
	for _, op := range operations {
		complete(op, examples[op.OperationID])
	}
	return nil
}

// refusalKind is an error response that operations have in common.
type refusalKind struct {
	code    common.Code
	text    string // description in the document
	example core.Problem
	headers map[string]*huma.Param
}

func refusalKinds() []refusalKind {
	text := func(description string) *huma.Param {
		return &huma.Param{Description: description, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	wait := map[string]*huma.Param{"Retry-After": {
		Description: "Seconds to wait.",
		Schema:      &huma.Schema{Type: huma.TypeInteger},
	}}
	return []refusalKind{
		{
			code: common.CodeInvalid,
			text: "The request is invalid. All faults are listed.",
			example: core.Problem{Detail: "the request is not valid",
				Errors: []common.Fault{{
					Location: "body.timeout",
					Code:     "duration",
					Message:  "must be a duration",
					Hint:     "write 90s, 1h30m or 7d",
					Value:    "soon",
				}}},
		},
		{
			code:    common.CodeUnauthenticated,
			text:    "No credentials were sent, or the token or session is invalid or has expired.",
			headers: map[string]*huma.Param{"WWW-Authenticate": text("The accepted authentication scheme.")},
			example: core.Problem{
				Detail: "you are not logged in",
				Hint:   "send a token as Authorization: Bearer …, or log in",
			},
		},
		{code: common.CodeForbidden, text: "Your role does not allow this, or not in this group.",
			example: core.Problem{
				Detail: `your role in the group "reports" does not allow this`,
				Hint:   "it needs the role editor; yours is viewer",
			}},
		{
			code:    common.CodeNotFound,
			text:    "Not found.",
			example: core.Problem{Detail: `job "nightly-report" not found`},
		},
		{
			code: common.CodeConflict,
			text: "Conflict with the current state: the name exists already, the run has ended, or there are too " +
				"many concurrent changes.",
			example: core.Problem{
				Detail: "the Idempotency-Key was used for another request",
				Hint:   "use a new key for each request",
				Errors: []common.Fault{{
					Location: "header.Idempotency-Key",
					Code:     "idempotency_reused",
					Message:  "belongs to another request",
				}},
			},
		},
		{code: common.CodeStale, text: "The condition in If-Match or If-None-Match does not hold.",
			example: core.Problem{
				Detail: `job "nightly-report" is at version 42, not 40`,
				Hint:   "read it again and repeat the change: it was saved in the meantime",
			}},
		{
			code: common.CodeTooLarge,
			text: "The body is too large.",
			example: core.Problem{Detail: "the body is too large",
				Errors: []common.Fault{{Location: "body", Code: "too_large", Message: "must be at most 64 KiB"}}},
		},
		{
			code: common.CodeUnsupportedType,
			text: "The body has another media type, or is compressed.",
			example: core.Problem{Detail: "the body must be JSON",
				Errors: []common.Fault{{
					Location: "header.Content-Type",
					Code:     "media_type",
					Message:  "must be application/json",
					Value:    "text/plain",
				}}},
		},
		{
			code:    common.CodeTooMany,
			text:    "Too many requests.",
			headers: wait,
			example: core.Problem{Detail: "too many requests", Hint: "wait for the time in Retry-After"},
		},
		{code: common.CodeUnavailable, text: "etcd or the log store does not respond.", headers: wait,
			example: core.Problem{Detail: "the log store does not respond", Hint: "retry in a few seconds"}},
		{code: common.CodeInternal, text: "Internal error.", example: core.Problem{Detail: "internal error",
			Hint: "search the server's log for the request id"}},
	}
}

func (r *refusalKind) response(api huma.API) *huma.Response {
	p := r.example
	p.Code, p.Status, p.RequestID = r.code, core.StatusOf(r.code), "k5w2hq6v3n7ptx4a"
	p.Title = http.StatusText(p.Status)
	return &huma.Response{
		Description: r.text,
		Headers:     r.headers,
		Content:     map[string]*huma.MediaType{core.ProblemType: {Schema: core.ProblemSchema(api), Example: p}},
	}
}

// complete adds descriptions, error responses and examples to an operation.
func complete(op *huma.Operation, given example) {
	if op.Description == "" {
		op.Description = descriptions[op.OperationID]
	}
	if ok, made := op.Responses["200"], op.Responses["201"]; ok != nil && made != nil && made.Headers == nil {
		made.Headers = ok.Headers
	}
	for _, code := range refusalsOf(op) {
		if status := strconv.Itoa(core.StatusOf(code)); op.Responses[status] == nil {
			op.Responses[status] = &huma.Response{Ref: "#/components/responses/" + string(code)}
		}
	}
	if op.RequestBody != nil && given.Request != nil {
		for _, media := range op.RequestBody.Content {
			media.Example = given.Request
		}
	}
	for status, answer := range given.Answers {
		if op.Responses[status] == nil {
			continue
		}
		for _, media := range op.Responses[status].Content {
			media.Example = answer
		}
	}
}

// refusalsOf returns the error codes that an operation may return.
func refusalsOf(op *huma.Operation) []common.Code {
	a := core.Audience(fmt.Sprint(op.Extensions["x-carillon-role"]))
	codes := []common.Code{common.CodeTooMany, common.CodeInternal}
	if op.OperationID != "healthz" {
		codes = append(codes, common.CodeUnavailable)
	}
	if a != core.Public || op.RequestBody != nil {
		codes = append(codes, common.CodeUnauthenticated)
	}
	changes := op.Method != http.MethodGet
	if a != core.Public && a != core.Authenticated || changes {
		codes = append(codes, common.CodeForbidden) // also for cross-site requests
	}
	if changes || op.OperationID == "get-worker" { // a name may be that of several
		codes = append(codes, common.CodeConflict)
	}
	codes = append(codes, common.CodeInvalid) // at least for unknown parameters
	if op.RequestBody != nil {
		codes = append(codes, common.CodeTooLarge, common.CodeUnsupportedType)
	}
	in := func(where string, names ...string) bool {
		return slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool {
			return p.In == where && (len(names) == 0 || slices.Contains(names, p.Name))
		})
	}
	if in("path") {
		codes = append(codes, common.CodeNotFound)
	}
	if in("header", "If-Match", "If-None-Match") {
		codes = append(codes, common.CodeStale)
	}
	return codes
}
