package httpapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

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
	v31, v30, err := httpapi.Document(r.API)
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
