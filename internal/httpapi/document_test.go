package httpapi

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "write the generated OpenAPI documents")

// TestDocumentsAreCurrent holds the committed documents against the code.
func TestDocumentsAreCurrent(t *testing.T) {
	_, r, err := build(testConfig(t, &fakes{}))
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
