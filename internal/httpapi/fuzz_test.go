package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
)

// FuzzRouter sends whatever it is given to the whole API, as an admin: nothing may panic, nothing
// may be our fault, and every answer has to be one that the document knows.
func FuzzRouter(f *testing.F) {
	var examples map[string]httpapi.Example
	if err := json.Unmarshal(httpapi.Recorded, &examples); err != nil {
		f.Fatal(err)
	}
	h := apitest.NewHarness(&testing.T{})
	for path, item := range h.Router.API.OpenAPI().Paths {
		for method, op := range apitest.Operations(item) {
			f.Add(method, apitest.Fill(path), "", "", string(examples[op.OperationID].Request))
			for _, p := range op.Parameters {
				switch p.In {
				case "query":
					f.Add(method, apitest.Fill(path), p.Name+"=1", "", "")
				case "header":
					f.Add(method, apitest.Fill(path), "", p.Name+": *", string(examples[op.OperationID].Request))
				}
			}
		}
	}
	f.Add("GET", "/api/v1/runs/a.b.1/output", "offset=9223372036854775807&limit=1", "Range: bytes=-1", "")
	f.Add("PATCH", "/api/v1/jobs/a", "", "Content-Type: application/merge-patch+json", `{"env":{"A":null}}`)
	f.Add("POST", "/api/v1/jobs/apply", "prune=a%3Db&dryRun=true", "", `{"jobs":[{"name":"a"},{},null,1]}`)
	f.Fuzz(func(t *testing.T, method, path, query, header, body string) {
		r, err := http.NewRequest(method, "/", strings.NewReader(body))
		if err != nil || !strings.HasPrefix(path, "/") {
			return // net/http lets no such request in
		}
		target, err := url.ParseRequestURI(path)
		if err != nil || target.Host != "" {
			return
		}
		target.RawQuery = query
		r.URL, r.Host, r.RemoteAddr = target, "localhost", "192.0.2.1:1"
		r.Header.Set("Content-Type", "application/json")
		if name, value, ok := strings.Cut(header, ": "); ok {
			r.Header.Set(name, value)
		}
		r.Header.Set("Authorization", "Bearer admin-token")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second) // what goes on is left
		defer cancel()
		one := *h
		one.T = t
		one.Jobs = map[string]common.JobState{"a": {
			StoredJob: common.StoredJob{UID: "a", Job: common.Job{Name: "a", Command: "true", Group: "g"}},
			Version:   1,
		}}
		w := httptest.NewRecorder()
		one.Handler.ServeHTTP(w, r.WithContext(ctx))
		if w.Code == http.StatusInternalServerError && ctx.Err() == nil {
			t.Errorf("%s %s: %d %s", method, r.URL, w.Code, w.Body)
		}
		one.Conforms(r, w)
	})
}
