package apiclient_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// The generated code belongs to the current OpenAPI document.
func TestGeneratedClient_IsUpToDate(t *testing.T) {
	document, err := os.ReadFile("../../api/openapi-3.0.json")
	if err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile("openapi.sha256")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(document)
	if hex.EncodeToString(sum[:]) != strings.TrimSpace(string(made)) {
		t.Error("the document has changed since the client was generated: run go generate ./internal/apiclient")
	}
}
