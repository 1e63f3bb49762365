package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/runlog"
	"carillon/internal/runlog/search"
)

// FuzzRouter sends whatever it is given to the whole API, as an admin: nothing may panic, nothing
// may be our fault, and every answer has to be one that the document knows.
func FuzzRouter(f *testing.F) {
	var examples map[string]example
	if err := json.Unmarshal(recorded, &examples); err != nil {
		f.Fatal(err)
	}
	h := newHarness(&testing.T{})
	for path, item := range h.router.API.OpenAPI().Paths {
		for method, op := range operations(item) {
			f.Add(method, fill(path), "", "", string(examples[op.OperationID].Request))
			for _, p := range op.Parameters {
				switch p.In {
				case "query":
					f.Add(method, fill(path), p.Name+"=1", "", "")
				case "header":
					f.Add(method, fill(path), "", p.Name+": *", string(examples[op.OperationID].Request))
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
		one.t = t
		one.jobs = map[string]common.JobState{"a": {
			StoredJob: common.StoredJob{UID: "a", Job: common.Job{Name: "a", Command: "true", Group: "g"}},
			Version:   1,
		}}
		w := httptest.NewRecorder()
		one.handler.ServeHTTP(w, r.WithContext(ctx))
		if w.Code == http.StatusInternalServerError && ctx.Err() == nil {
			t.Errorf("%s %s: %d %s", method, r.URL, w.Code, w.Body)
		}
		one.conforms(r, w)
	})
}

func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"", "e30", "bnVsbA",
		"eyJsIjoicnVucyIsImEiOnsidCI6IjIwMjYtMDEtMDFUMDA6MDA6MDBaIiwiaSI6ImEifX0", "eyJsIjoiam9icyIsImEiOiJhIn0", "!"} {
		f.Add("runs", seed)
	}
	f.Fuzz(func(t *testing.T, list, text string) {
		for _, err := range []error{
			second(core.ReadCursor[string](list, text)), second(core.ReadCursor[runlog.Position](list, text)),
			second(core.ReadCursor[runlog.FireCursor](list, text)), second(core.ReadCursor[search.Place](list, text)),
		} {
			if err != nil && common.CodeOf(err) != common.CodeInvalid {
				t.Errorf("%q: %v", text, err)
			}
		}
		if after, err := core.ReadCursor[string](list, text); err == nil {
			again, err := core.WriteCursor(list, after)
			if back, err2 := core.ReadCursor[string](list, again); err != nil || err2 != nil || back != after {
				t.Errorf("%q becomes %q (%v, %v)", after, back, err, err2)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// FuzzMergePatch patches a job: what comes of it is a job, or is refused, and an empty patch changes nothing.
func FuzzMergePatch(f *testing.F) {
	for _, seed := range []string{`{}`, `{"env":{"A":null,"B":"x"}}`, `{"retry":{"max":3},"args":null}`, `[]`, `null`,
		`{"meta":{}}`, `{"a":{"b":{"c":null}}}`, `{"timeout":1}`} {
		f.Add([]byte(aJob), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, job, patch []byte) {
		var old common.Job
		if json.Unmarshal(job, &old) != nil {
			return
		}
		if made, err := patched(&old, patch); err == nil {
			made.Faults()
			if _, err := json.Marshal(made); err != nil {
				t.Error(err)
			}
		}
		same, err := patched(&old, []byte(`{}`))
		before, _ := json.Marshal(old)
		if after, _ := json.Marshal(same); err != nil || string(after) != string(before) {
			t.Errorf("%s becomes %s: %v", before, after, err)
		}
	})
}

// FuzzHeaders reads the headers that have a grammar of their own.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{`"1"`, `W/"9"`, `*`, `bytes=0-1`, `bytes=-0`, `bytes=18446744073709551616-`,
		"203.0.113.1, 10.0.0.1", "[::1]:80", `for="[2001:db8::1]"`, "zh-CN;q=0.9,en"} {
		f.Add(seed, int64(10))
	}
	trusted := proxies{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, text string, size int64) {
		if pre, err := core.Precondition(text, ""); err == nil && text != "" && pre.Version <= 0 {
			t.Errorf("If-Match %q is version %d", text, pre.Version)
		}
		if size >= 0 {
			if from, to, ok := parseRange(text, size); ok && from < to && (from < 0 || to > size) {
				t.Errorf("Range %q of %d is %d to %d", text, size, from, to)
			}
		}
		core.Language(text)
		r := &http.Request{RemoteAddr: "192.0.2.1:1", Header: http.Header{"X-Forwarded-For": {text}}}
		if _, err := netip.ParseAddr(trusted.remoteOf(r)); err != nil {
			t.Errorf("X-Forwarded-For %q makes a request come from %q", text, trusted.remoteOf(r))
		}
		r.RemoteAddr = "198.51.100.1:1"
		if got := trusted.remoteOf(r); got != "198.51.100.1" {
			t.Errorf("a stranger's X-Forwarded-For %q is believed: %q", text, got)
		}
	})
}
