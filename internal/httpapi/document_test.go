package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
)

var update = flag.Bool("update", false, "write the generated OpenAPI documents")

// TestDocumentsAreCurrent holds the committed documents against the code.
func TestDocumentsAreCurrent(t *testing.T) {
	_, r, err := httpapi.Build(apitest.NewConfig(t, &apitest.Fakes{}))
	if err != nil {
		t.Fatal(err)
	}
	v31, v30, err := document(r.API)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"openapi.json": v31, "openapi-3.0.json": v30} {
		var want bytes.Buffer
		if err := json.Indent(&want, data, "", "  "); err != nil {
			t.Fatal(err)
		}
		want.WriteByte('\n')
		file := filepath.Join("..", "..", "api", name)
		if *update {
			if err := os.WriteFile(file, want.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		got, err := os.ReadFile(file)
		if err != nil || !bytes.Equal(got, want.Bytes()) {
			t.Errorf(
				"api/%s is not what the code says (%v); run: go test ./internal/httpapi -run TestDocuments -update",
				name, err)
		}
	}
}

// document returns the OpenAPI document: as 3.1 for readers and for TypeScript, and as 3.0.3 for generators that
// support no newer one.
func document(api huma.API) (v31, v30 []byte, err error) {
	v31, err = json.Marshal(api.OpenAPI())
	if err == nil {
		v30, err = api.OpenAPI().Downgrade()
	}
	if err == nil {
		v30, err = plainer(v30)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("write the OpenAPI document: %w", err)
	}
	return v31, v30, nil
}

// plainer leaves out of a document what makes a generator's code longer and not better: each kind
// of refusal by itself, all of which are a Problem, and the examples.
func plainer(document []byte) ([]byte, error) {
	var d struct {
		Components map[string]json.RawMessage                       `json:"components"`
		Info       json.RawMessage                                  `json:"info"`
		OpenAPI    string                                           `json:"openapi"`
		Paths      map[string]map[string]map[string]json.RawMessage `json:"paths"`
		Servers    json.RawMessage                                  `json:"servers"`
		Tags       json.RawMessage                                  `json:"tags"`
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, err
	}
	delete(d.Components, "responses")
	for _, item := range d.Paths {
		for _, op := range item {
			var responses map[string]map[string]json.RawMessage
			if err := json.Unmarshal(op["responses"], &responses); err != nil {
				return nil, err
			}
			maps.DeleteFunc(responses, func(_ string, r map[string]json.RawMessage) bool { return r["$ref"] != nil })
			var err error
			if op["responses"], err = json.Marshal(responses); err != nil {
				return nil, err
			}
		}
	}
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	var whole any
	if err := json.Unmarshal(data, &whole); err != nil {
		return nil, err
	}
	return json.Marshal(alone(whole))
}

// alone leaves references alone in their place: 3.0 allows nothing beside one, and readers ignore it.
func alone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if ref, is := v["$ref"].(string); is {
			return map[string]any{"$ref": ref}
		}
		for name := range v {
			v[name] = alone(v[name])
		}
	case []any:
		for i := range v {
			v[i] = alone(v[i])
		}
	}
	return value
}
