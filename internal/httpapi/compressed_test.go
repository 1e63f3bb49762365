package httpapi_test

import (
	"compress/gzip"
	"encoding/json"
	"net/http"
	"testing"

	"carillon/internal/httpapi/apitest"
)

// The answers of the whole API are compressed, behind all its checks, and for those only who may have them.
func TestAPI_AnswersAreCompressed(t *testing.T) {
	h := apitest.NewHarness(t)
	w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/openapi.json", "", "Accept-Encoding", "gzip"))
	if w.Header().Get("Content-Encoding") != "gzip" || w.Header().Get("Vary") != "Accept-Encoding" {
		t.Fatalf("%v", w.Header())
	}
	sent := w.Body.Len()
	unzipped, err := gzip.NewReader(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	var document struct{ OpenAPI string }
	if err := json.NewDecoder(unzipped).Decode(&document); err != nil || document.OpenAPI == "" || sent > 200_000 {
		t.Errorf("%v, %d bytes on the wire", err, sent)
	}
	for _, target := range []string{"/openapi.json", "/assets/index.js"} {
		w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, target, ""))
		if w.Header().Get("Content-Encoding") != "" || len(w.Header().Values("Vary")) != 1 {
			t.Errorf("%s: %v", target, w.Header())
		}
	}
}
