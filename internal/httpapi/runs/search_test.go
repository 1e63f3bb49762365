package runs_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/runs"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/runlog"
)

// printing puts runs with what they printed behind the API.
func printing(h *apitest.Harness, texts ...string) {
	h.Chunks = map[string][]common.Chunk{}
	for n, text := range texts {
		r := apitest.SomeRun(common.StatusFailed, len(texts)-n)
		r.Group = "night"
		half := len(text) / 2
		h.Chunks[r.ID] = []common.Chunk{{Run: r.ID, Stream: common.Stdout, At: r.PlannedAt, Data: []byte(text[:half])},
			{Run: r.ID, Offset: int64(half), Stream: common.Stdout, At: r.PlannedAt, Data: []byte(text[half:])}}
		r.OutputBytes = int64(len(text))
		h.RunList = append(h.RunList, r)
	}
}

func TestSearchInARun(t *testing.T) {
	h := apitest.NewHarness(t)
	text := "first line\n\x1b[31mError\x1b[0m: disk full\nerror: again\n"
	printing(h, text)
	path := "/api/v1/runs/" + h.RunList[0].ID + "/output"
	find := func(query string) (found runs.OutputSearch) {
		t.Helper()
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, path+"/search?"+query, "")),
			&found)
		return found
	}
	found := find("q=error:+disk")
	if len(found.Matches) != 1 || !found.Complete || found.Stopped != "end" || found.ScannedTo != int64(len(text)) ||
		found.Bytes != int64(len(text)) {
		t.Fatalf("%+v", found)
	}
	m := found.Matches[0]
	if m.Text != "Error: disk" || m.Before != "" || m.After != " full" || m.LineOffset != 11 || m.Cut ||
		m.At.IsZero() || m.Stream != common.Stdout {
		t.Errorf("%+v", m)
	}
	// The offset is one that the output is read from.
	body := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet,
		fmt.Sprintf("%s?offset=%d&limit=%d", path, m.Offset,
			m.Length), "")).Body.String()
	if body != "Error\x1b[0m: disk" {
		t.Errorf("at its offset stands %q", body)
	}
	for query, want := range map[string]int{
		"q=error":                              2,
		"q=error&case=true":                    1,
		"q=Error%5B:%5D?&regex=true&case=true": 1,
		"q=%5Eerror&regex=true":                2,
		"q=nothing":                            0,
		"q=error&stream=stderr":                0,
		"q=error&stream=stdout":                2,
		"q=error&offset=30":                    1,
		"q=error&offset=1000":                  0,
	} {
		if found := find(query); len(found.Matches) != want {
			t.Errorf("%s: %+v", query, found)
		}
	}
	first := find("q=error&limit=1")
	if len(first.Matches) != 1 || first.Complete || first.Stopped != "matches" {
		t.Fatalf("%+v", first)
	}
	rest := find(fmt.Sprintf("q=error&limit=1&offset=%d", first.NextOffset))
	if len(rest.Matches) != 1 || !rest.Complete || rest.Matches[0].Text != "error" {
		t.Errorf("%+v", rest)
	}
	for _, offset := range []string{"99", "9223372036854775807"} {
		h.RunList[0].Status, h.RunList[0].OutputBytes = common.StatusFailed, int64(len(text))
		if found = find("q=error&offset=" + offset); found.ScannedTo != int64(len(text)) ||
			found.NextOffset != int64(len(text)) || !found.Complete {
			t.Errorf("%+v", found)
		}
		h.RunList[0].Status, h.RunList[0].OutputBytes = common.StatusRunning, 0
		if found = find("q=error&offset=" + offset); found.ScannedTo != int64(len(text)) ||
			fmt.Sprint(found.NextOffset) != offset || found.Complete {
			t.Errorf("%+v", found)
		}
	}
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+apitest.SomeRun("", 99).ID+"/output/search?q=x", ""))
}

func TestSearchOverRuns(t *testing.T) {
	h := apitest.NewHarness(t)
	printing(h, "a needle\n", "hay\n", "hay\nthe NEEDLE\nneedle\n", "", "needle")
	h.RunList[4].Group = "day"
	h.RunList[2].Outputs = map[string]string{"rows": "17"}
	find := func(query string) (found runs.RunSearch) {
		t.Helper()
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs/search?"+query, "")),
			&found)
		return found
	}
	found := find("q=needle")
	if len(found.Items) != 3 || !found.Complete || found.NextCursor != "" || found.Scanned.Runs != 5 ||
		found.Scanned.Bytes != 41 || found.Items[1].Run.Outputs != nil ||
		!found.Scanned.Until.Equal(h.RunList[4].PlannedAt) || found.Items[1].Run.ID != h.RunList[2].ID ||
		len(found.Items[1].Matches) != 2 {
		t.Fatalf("%+v", found)
	}
	if found = find("q=needle&group=night&status=failed,lost&job=a&worker=w1&from=1970-01-01T00:00:00Z"); len(
		found.Items) != 2 || !found.Complete {
		t.Errorf("%+v", found)
	}
	if found = find("q=needle&to=1970-01-02T00:00:00Z"); len(found.Items) != 0 || !found.Complete ||
		!found.Scanned.Until.IsZero() {
		t.Errorf("%+v", found)
	}
	var ids []string
	for query := ""; ; {
		found = find("q=needle&limit=1" + query)
		for _, item := range found.Items {
			ids = append(ids, item.Run.ID)
		}
		if found.NextCursor == "" {
			break
		}
		h.Problem(http.StatusUnprocessableEntity, "invalid", "query.cursor",
			apitest.As("viewer", http.MethodGet, "/api/v1/runs/search?q=hay&cursor="+found.NextCursor, ""))
		query = "&cursor=" + found.NextCursor
	}
	if fmt.Sprint(ids) != fmt.Sprint([]string{h.RunList[0].ID, h.RunList[2].ID, h.RunList[4].ID}) {
		t.Errorf("%v", ids)
	}
}

func TestSearch_InvalidRequests_AreRefused(t *testing.T) {
	h := apitest.NewHarness(t)
	printing(h, "x")
	for query, at := range map[string]string{
		"": "query.q", "q=": "query.q", "q=" + strings.Repeat("x", 1025): "query.q",
		"q=" + strings.Repeat("%C3%A9", 513): "query.q", "q=a%0Ab": "query.q",
		"q=%1b[31m": "query.q", "q=%ff": "query.q", "q=%00": "query.q", "q=(&regex=true": "query.q",
		"q=" + url.QueryEscape(strings.Repeat("a{900}", 9)) + "&regex=true": "query.q",
		"q=" + url.QueryEscape(`(a*)*\1`) + "&regex=true":                   "query.q", "q=x&regex=yes": "query.regex",
		"q=x&limit=0": "query.limit", "q=x&limit=501": "query.limit", "q=x&context=3": "query.context",
	} {
		for _, path := range []string{"/api/v1/runs/search", "/api/v1/runs/" + h.RunList[0].ID + "/output/search"} {
			p := h.Problem(http.StatusUnprocessableEntity, "invalid", at,
				apitest.As("viewer", http.MethodGet, path+"?"+query, ""))
			for _, f := range p.Errors {
				if strings.ContainsAny(f.Message+fmt.Sprint(f.Value), "\n\x1b") {
					t.Errorf("%s: %q", query, f)
				}
			}
		}
	}
	for query, at := range map[string]string{"stream=both": "query.stream", "offset=-1": "query.offset"} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", at,
			apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+h.RunList[0].ID+"/output/search?q=x&"+query, ""))
	}
	for query, at := range map[string]string{
		"status=no": "query.status",
		"from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z": "query.to",
		"cursor=x":  "query.cursor",
		"limit=101": "query.limit",
	} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", at,
			apitest.As("viewer", http.MethodGet, "/api/v1/runs/search?q=x&"+query, ""))
	}
}

// slowOutput is a store that waits with each answer until it is let go.
type slowOutput struct {
	*apitest.Fakes
	asked chan struct{}
	wait  chan struct{}
}

func (s slowOutput) Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error) {
	s.asked <- struct{}{}
	select {
	case <-s.wait:
		return s.Fakes.Output(ctx, run, offset, limit)
	case <-ctx.Done():
		return nil, common.Errorf(common.CodeUnavailable, "the log store is away")
	}
}

// A few search at once; the next one waits a little, and is told to come back. One who is
// gone leaves his place.
func TestSearches_AreLimited(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		slow := slowOutput{asked: make(chan struct{}, 100), wait: make(chan struct{})}
		h := apitest.NewHarness(t, func(c *httpapi.Config) { slow.Fakes = c.Runs.(*apitest.Fakes); c.Runs = slow })
		printing(h, "x\n")
		answers := make(chan int, 10)
		ctx, leave := context.WithCancel(t.Context())
		search := func(ctx context.Context, query string) {
			w := httptest.NewRecorder()
			h.Handler.ServeHTTP(w, apitest.As("viewer", http.MethodGet, "/api/v1/runs/search?"+query,
				"").WithContext(ctx))
			if w.Code == http.StatusTooManyRequests && w.Header().Get("Retry-After") != "2" {
				t.Errorf("Retry-After %q", w.Header().Get("Retry-After"))
			}
			answers <- w.Code
		}
		for range runs.SearchTurns {
			go search(ctx, "q=x")
			<-slow.asked
		}
		began := time.Now()
		search(t.Context(), "q=(&regex=true") // nor is an expression read without a turn
		if code := <-answers; code != http.StatusTooManyRequests || time.Since(began) != runs.SearchWait {
			t.Errorf("%d after %v", code, time.Since(began))
		}
		h.Problem(http.StatusTooManyRequests, "too_many_requests", "",
			apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+h.RunList[0].ID+"/output/search?q=(&regex=true", ""))
		began = time.Now().Add(-runs.SearchWait)
		leave()
		for range runs.SearchTurns {
			<-answers
		}
		if time.Since(began) != runs.SearchWait {
			t.Errorf("who is gone is searched for until %v", time.Since(began))
		}
		close(slow.wait)
		search(t.Context(), "q=x")
		if code := <-answers; code != http.StatusOK {
			t.Errorf("%d when all are done", code)
		}
	})
}

// A store that does not answer ends a search long before its answer has to be written.
func TestSearchOfASlowStore(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		slow := slowOutput{asked: make(chan struct{}, 100), wait: make(chan struct{})}
		h := apitest.NewHarness(t, func(c *httpapi.Config) { slow.Fakes = c.Runs.(*apitest.Fakes); c.Runs = slow })
		printing(h, "x\n")
		began := time.Now()
		h.Problem(http.StatusServiceUnavailable, "unavailable", "",
			apitest.As("viewer", http.MethodGet, "/api/v1/runs/search?q=x", ""))
		h.Problem(http.StatusServiceUnavailable, "unavailable", "",
			apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+h.RunList[0].ID+"/output/search?q=x", ""))
		if took := time.Since(began); took != 2*runs.SearchTime || 2*runs.SearchTime > core.WriteTimeout {
			t.Errorf("took %v", took)
		}
	})
}

// failingRuns fails with an error that quotes what it was asked for.
type failingRuns struct{ *apitest.Fakes }

func (f failingRuns) Runs(_ context.Context, q runlog.Query) (runlog.RunPage, error) {
	return runlog.RunPage{}, fmt.Errorf("list runs with %s: broken", q.Text)
}

// What is searched for cannot forge lines of the log.
func TestSearchDoesNotForgeTheLog(t *testing.T) {
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"text": func(b *bytes.Buffer) slog.Handler {
			return slog.NewTextHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug})
		},
		"json": func(b *bytes.Buffer) slog.Handler {
			return slog.NewJSONHandler(b, &slog.HandlerOptions{Level: slog.LevelDebug})
		},
	} {
		var log bytes.Buffer
		h := apitest.NewHarness(t, func(c *httpapi.Config) {
			c.Runs, c.Logger = failingRuns{c.Runs.(*apitest.Fakes)}, slog.New(handler(&log))
		})
		q := url.QueryEscape("x\r\n\x1b[2J{\"msg\":\"forged\"}\u202e")
		for _, target := range []string{"/api/v1/runs?q=" + q, "/api/v1/runs/search?q=" + q,
			"/api/v1/runs/search?regex=true&q=" + q, "/api/v1/jobs?q=" + q, "/api/v1/runs?" + q + "=1"} {
			h.Send(apitest.As("viewer", http.MethodGet, target, ""))
		}
		for line := range strings.Lines(log.String()) {
			if strings.ContainsAny(line, "\x1b\r") || !strings.HasPrefix(line, "time=") &&
				!strings.HasPrefix(line, `{"time":`) {
				t.Errorf("%s: %q", name, line)
			}
		}
		if !strings.Contains(log.String(), "request_failed") {
			t.Errorf("%s: nothing was logged:\n%s", name, &log)
		}
	}
}
