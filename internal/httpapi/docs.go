package httpapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// Document gives the OpenAPI document: as 3.1 for readers and for TypeScript, and
// as 3.0.3 for generators that know no newer one.
func (r *router) document() (v31, v30 []byte, err error) {
	v31, err = json.Marshal(r.api.OpenAPI())
	if err == nil {
		v30, err = r.api.OpenAPI().Downgrade()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	return v31, v30, nil
}

// registerDocs adds the document and a page for reading it. It must come last.
func registerDocs(r *router) error {
	// Every refusal is a Problem; huma's own error type never leaves the server.
	delete(r.api.OpenAPI().Components.Schemas.Map(), "ErrorModel")
	delete(r.api.OpenAPI().Components.Schemas.Map(), "ErrorDetail")
	v31, _, err := r.document()
	if err != nil {
		return err
	}
	yaml, err := r.api.OpenAPI().YAML()
	if err != nil {
		return fmt.Errorf("write the OpenAPI document: %w", err)
	}
	page, err := renderDocs(r.api.OpenAPI())
	if err != nil {
		return err
	}
	r.raw(http.MethodGet, "/openapi.json", needs(auth.Viewer), static("application/vnd.oai.openapi+json", v31))
	r.raw(http.MethodGet, "/openapi.yaml", needs(auth.Viewer), static("application/vnd.oai.openapi", yaml))
	r.raw(http.MethodGet, "/docs", needs(auth.Viewer), static("text/html; charset=utf-8", page))
	return nil
}

func static(mediaType string, data []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Security-Policy", policyDocs)
		_, _ = w.Write(data) // the client may be gone
	})
}

func noMethod(p problems) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.write(w, r, p.refuse(r.Context(), common.CodeNotAllowed, "this method is not for this path"))
	})
}

type docsOperation struct {
	Method, Path, Summary, Role string
	Parameters                  []docsField
	Body                        string
	Responses                   []docsField
}

type docsField struct{ Name, Type, Text string }

type docsSchema struct {
	Name   string
	Fields []docsField
}

// renderDocs makes one page without scripts of the document.
func renderDocs(doc *huma.OpenAPI) ([]byte, error) {
	var operations []docsOperation
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		item := doc.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Put, item.Patch, item.Delete} {
			if op != nil {
				operations = append(operations, docsOf(op))
			}
		}
	}
	var schemas []docsSchema
	all := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		schemas = append(schemas, docsSchema{Name: name, Fields: docsFields(all[name])})
	}
	var out bytes.Buffer
	t, err := template.New("docs").Parse(docsTemplate)
	if err == nil {
		err = t.Execute(&out, map[string]any{"Info": doc.Info, "Operations": operations, "Schemas": schemas})
	}
	if err != nil {
		return nil, fmt.Errorf("write the docs page: %w", err)
	}
	return out.Bytes(), nil
}

func docsOf(op *huma.Operation) docsOperation {
	d := docsOperation{Method: op.Method, Path: op.Path, Summary: op.Summary, Role: fmt.Sprint(op.Extensions["x-carillon-role"])}
	for _, p := range op.Parameters {
		d.Parameters = append(d.Parameters, docsField{Name: p.Name + " (" + p.In + ")", Type: docsType(p.Schema), Text: p.Schema.Description})
	}
	if op.RequestBody != nil {
		for _, media := range op.RequestBody.Content {
			d.Body = docsType(media.Schema)
		}
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		f := docsField{Name: status, Text: op.Responses[status].Description}
		for _, media := range op.Responses[status].Content {
			if media.Schema != nil {
				f.Type = docsType(media.Schema)
			}
		}
		d.Responses = append(d.Responses, f)
	}
	return d
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

const docsTemplate = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Info.Title}} API</title>
<style>
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
code{font-size:.95em}h2{margin-top:3rem}h3{margin:2rem 0 .25rem}table{border-collapse:collapse;width:100%;margin:.5rem 0}
th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #8884}
</style></head>
<body>
<h1>{{.Info.Title}} API {{.Info.Version}}</h1>
<p>{{.Info.Description}}</p>
<p>For programs: <a href="/openapi.json">OpenAPI 3.1 as JSON</a>, <a href="/openapi.yaml">as YAML</a>.</p>
<h2>Operations</h2>
{{range .Operations}}<section><h3><code>{{.Method}} {{.Path}}</code></h3>
<p>{{.Summary}}. Role: {{.Role}}.{{with .Body}} Body: {{.}}.{{end}}</p>
<table>{{range .Parameters}}<tr><th scope="row">{{.Name}}</th><td>{{.Type}}</td><td>{{.Text}}</td></tr>{{end}}
{{range .Responses}}<tr><th scope="row">{{.Name}}</th><td>{{.Type}}</td><td>{{.Text}}</td></tr>{{end}}</table></section>
{{end}}
<h2>Types</h2>
{{range .Schemas}}<section><h3>{{.Name}}</h3>
<table>{{range .Fields}}<tr><th scope="row"><code>{{.Name}}</code></th><td>{{.Type}}</td><td>{{.Text}}</td></tr>{{end}}</table></section>
{{end}}
</body></html>
`
