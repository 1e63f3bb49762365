package httpapi

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// What the document says of operations beyond what their types and registrations do: at length, which refusals there
// are, and by example. The examples were taken from a master at work.
var (
	//go:embed operations.txt
	descriptions string
	//go:embed refusals.json
	refusalKinds []byte
	//go:embed examples.json
	recorded []byte
)

// example is a recorded request and response of an operation.
type example struct {
	Request json.RawMessage            `json:"request,omitempty"`
	Answers map[string]json.RawMessage `json:"answers,omitempty"` // by status; of an answer that is no JSON the text
}

// refusalKind is an error response that operations have in common.
type refusalKind struct {
	Code    common.Code
	Text    string // description in the document
	Example core.Problem
	Headers map[string]*huma.Param
}

// describe completes the document and its operations.
func describe(r *core.Router) error {
	var examples map[string]example // by id of operation
	var kinds []refusalKind
	if err := errors.Join(json.Unmarshal(recorded, &examples), json.Unmarshal(refusalKinds, &kinds)); err != nil {
		return fmt.Errorf("read the texts of the API document: %w", err)
	}
	api := r.API
	// Tags cannot say that the lists in a map are never null.
	if n := api.OpenAPI().Components.Schemas.Map()["Notify"]; n != nil {
		if values, is := n.Properties["after"].AdditionalProperties.(*huma.Schema); is {
			values.Nullable = false
		}
	}
	api.OpenAPI().Components.Responses = map[string]*huma.Response{}
	for _, k := range kinds {
		api.OpenAPI().Components.Responses[string(k.Code)] = k.response(api)
	}
	about := descriptionsByID()
	for _, op := range r.Plains {
		op.Description = about[op.OperationID]
		illustrate(op, examples[op.OperationID])
	}
	for _, op := range r.Operations {
		complete(op, about[op.OperationID], examples[op.OperationID])
	}
	return nil
}

// descriptionsByID returns the descriptions of operations, each below the id of its operation in the text.
func descriptionsByID() map[string]string {
	about := map[string]string{}
	for part := range strings.SplitSeq(descriptions, "\n\n") {
		id, text, _ := strings.Cut(part, "\n")
		about[id] = strings.Join(strings.Fields(text), " ")
	}
	return about
}

func (r *refusalKind) response(api huma.API) *huma.Response {
	p := r.Example
	p.Code, p.Status, p.RequestID = r.Code, core.StatusOf(r.Code), "k5w2hq6v3n7ptx4a"
	p.Title = http.StatusText(p.Status)
	return &huma.Response{
		Description: r.Text,
		Headers:     r.Headers,
		Content:     map[string]*huma.MediaType{core.ProblemType: {Schema: core.ProblemSchema(api), Example: p}},
	}
}

// complete adds descriptions, error responses and examples to an operation.
func complete(op *huma.Operation, about string, given example) {
	if op.Description == "" {
		op.Description = about
	}
	if ok, made := op.Responses["200"], op.Responses["201"]; ok != nil && made != nil && made.Headers == nil {
		made.Headers = ok.Headers
	}
	for _, code := range refusalsOf(op) {
		if status := strconv.Itoa(core.StatusOf(code)); op.Responses[status] == nil {
			op.Responses[status] = &huma.Response{Ref: "#/components/responses/" + string(code)}
		}
	}
	illustrate(op, given)
}

// illustrate adds recorded examples to an operation.
func illustrate(op *huma.Operation, given example) {
	if op.RequestBody != nil && given.Request != nil {
		for _, media := range op.RequestBody.Content {
			media.Example = given.Request
		}
	}
	for status, answer := range given.Answers {
		if op.Responses[status] == nil {
			continue
		}
		for kind, media := range op.Responses[status].Content {
			if kind != "text/html" {
				media.Example = answer
			}
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
