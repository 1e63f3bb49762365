package httpapi

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// registerDocs adds the document and a page for reading it. It must come last. Each is written when
// a client first asks for it.
func registerDocs(r *core.Router) {
	// Every refusal is a Problem: huma's own error type never leaves the server. Nor does what a flow run or a
	// backfill keeps, which its nodes or its fires show.
	for _, internal := range []string{"ErrorModel", "ErrorDetail", "Base", "KeptStep", "Nested", "Acceptance",
		"EndedBackfill", "BackfillRange"} {
		delete(r.API.OpenAPI().Components.Schemas.Map(), internal)
	}
	asJSON := func() ([]byte, error) { return json.Marshal(r.API.OpenAPI()) }
	page := func() ([]byte, error) { return renderDocs(r.API.OpenAPI()) }
	r.Raw(http.MethodGet, "/openapi.json", core.Viewer, written(r.Problems, "application/vnd.oai.openapi+json", asJSON))
	r.Raw(http.MethodGet, "/openapi.yaml", core.Viewer,
		written(r.Problems, "application/vnd.oai.openapi", r.API.OpenAPI().YAML))
	r.Raw(http.MethodGet, "/docs", core.Viewer, written(r.Problems, "text/html; charset=utf-8", page))
}

// written serves what is written once.
func written(p core.Problems, mediaType string, write func() ([]byte, error)) http.Handler {
	once := sync.OnceValues(write)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		data, err := once()
		if err != nil {
			p.Write(w, req, p.Of(req.Context(), fmt.Errorf("write the OpenAPI document: %w", err)))
			return
		}
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Security-Policy", policyDocs)
		_, _ = w.Write(data) // the client may be gone
	})
}

func noMethod(p core.Problems) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.Write(w, r, p.Refuse(r.Context(), common.CodeNotAllowed, "this method is not for this path"))
	})
}

type docsOperation struct {
	ID, Method, Path, Summary, Description, Role string
	Parameters                                   []docsField
	Body, BodyType                               string
	Example                                      string // of the body
	Responses                                    []docsField
}

type docsField struct{ Name, Type, Link, Text, Example string }

type docsSchema struct {
	Name   string
	Fields []docsField
}

//go:embed docs.html
var docsTemplate string

// renderDocs makes one page without scripts of the document.
func renderDocs(doc *huma.OpenAPI) ([]byte, error) {
	var operations []docsOperation
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		item := doc.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				operations = append(operations, docsOf(doc, op))
			}
		}
	}
	var schemas []docsSchema
	all := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		schemas = append(schemas, docsSchema{Name: name, Fields: docsFields(all[name])})
	}
	var refusals []docsField
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Responses)) {
		r := doc.Components.Responses[name]
		refusals = append(refusals, docsField{
			Name:    name,
			Text:    r.Description,
			Example: docsExample(r.Content[core.ProblemType].Example),
		})
	}
	var out bytes.Buffer
	t, err := template.New("docs").Parse(docsTemplate)
	if err == nil {
		err = t.Execute(&out, map[string]any{
			"Info":       doc.Info,
			"Operations": operations,
			"Refusals":   refusals,
			"Schemas":    schemas,
		})
	}
	if err != nil {
		return nil, fmt.Errorf("write the docs page: %w", err)
	}
	return out.Bytes(), nil
}

func docsOf(doc *huma.OpenAPI, op *huma.Operation) docsOperation {
	d := docsOperation{
		ID:          op.OperationID,
		Method:      op.Method,
		Path:        op.Path,
		Summary:     op.Summary,
		Description: op.Description,
		Role:        fmt.Sprint(op.Extensions["x-carillon-role"]),
	}
	for _, p := range op.Parameters {
		d.Parameters = append(d.Parameters, docsField{
			Name: p.Name + " (" + p.In + ")",
			Type: docsType(p.Schema),
			Text: p.Schema.Description,
		})
	}
	if op.RequestBody != nil {
		for kind, media := range op.RequestBody.Content {
			d.Body, d.BodyType, d.Example = docsType(media.Schema), kind, docsExample(media.Example)
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		r := op.Responses[status]
		if name, ok := strings.CutPrefix(r.Ref, "#/components/responses/"); ok {
			d.Responses = append(d.Responses, docsField{
				Name: status,
				Link: name,
				Text: doc.Components.Responses[name].Description,
			})
			continue
		}
		f := docsField{Name: status, Text: r.Description}
		for kind, media := range r.Content {
			if f.Type = kind; media.Schema != nil && media.Schema.Ref != "" {
				f.Type = docsType(media.Schema)
			}
			f.Example = docsExample(media.Example)
		}
		d.Responses = append(d.Responses, f)
	}
	return d
}

// docsExample writes an example as it is read best.
func docsExample(v any) string {
	if v == nil {
		return ""
	}
	data, err := json.Marshal(v)
	var text string
	if err == nil && json.Unmarshal(data, &text) == nil {
		return text
	}
	var out bytes.Buffer
	if err != nil || json.Indent(&out, data, "", "  ") != nil {
		return ""
	}
	return out.String()
}

func docsFields(s *huma.Schema) []docsField {
	var fields []docsField
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		kind := docsType(p)
		if slices.Contains(s.Required, name) {
			kind += ", required"
		}
		fields = append(fields, docsField{Name: name, Type: kind, Text: p.Description})
	}
	return fields
}

func docsType(s *huma.Schema) string {
	switch {
	case s.Ref != "":
		return s.Ref[len("#/components/schemas/"):]
	case s.Type == huma.TypeArray:
		return "list of " + docsType(s.Items)
	case len(s.Enum) > 0:
		return fmt.Sprintf("one of %v", s.Enum)
	case s.Format != "":
		return s.Type + " (" + s.Format + ")"
	}
	return s.Type
}
