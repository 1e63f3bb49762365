package system_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/events"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
	"carillon/internal/platform/virtualtime"
)

// news is a source of changes in memory.
type news struct {
	mu      sync.Mutex
	all     []events.Batch
	changed chan struct{}
}

func newNews() *news { return &news{changed: make(chan struct{})} }

func (n *news) put(batch ...events.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, events.Batch{Revision: int64(len(n.all)) + 11, Events: batch})
	close(n.changed)
	n.changed = make(chan struct{})
}

func (n *news) Revision(context.Context) (int64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return int64(len(n.all)) + 10, nil
}

func (n *news) Watch(ctx context.Context, after int64, each func(events.Batch)) error {
	if after < 10 {
		return events.ErrGone
	}
	for {
		n.mu.Lock()
		due, changed := n.all[after-10:], n.changed
		n.mu.Unlock()
		for _, b := range due {
			each(b)
			after = b.Revision
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-changed:
		}
	}
}

func jobNews(name string) events.Event {
	return events.Event{Kind: events.Job, Job: name, Data: events.JobData{Name: name, Version: 7}}
}

// following is a hub that runs until the test ends.
func following(t *testing.T, n *news) *events.Hub {
	t.Helper()
	return followingFew(t, n, 0)
}

// followingFew is such a hub that few follow at a time; 0 for the default.
func followingFew(t *testing.T, n *news, followers int) *events.Hub {
	t.Helper()
	hub := events.NewHub(events.Config{Source: n, Log: slog.New(slog.DiscardHandler), Followers: followers})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = hub.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return hub
}

// lines reads what a stream says, an event at a time: its id where it has one, its kind, its data.
func lines(t *testing.T, r io.Reader) func() string {
	t.Helper()
	reader := bufio.NewReader(r)
	return func() string {
		t.Helper()
		var event []string
		for {
			line, err := reader.ReadString('\n')
			if err != nil {
				return "end"
			}
			line = strings.TrimSpace(line)
			switch {
			case strings.HasPrefix(line, "retry:"):
				_, _ = reader.ReadString('\n') // the empty line after it
			case line != "":
				event = append(event, line[strings.Index(line, ":")+1:])
			default:
				return strings.TrimSpace(strings.Join(event, ""))
			}
		}
	}
}

func TestFeed(t *testing.T) {
	n := newNews()
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Feed = following(t, n) })
	server := httptest.NewServer(h.Handler)
	t.Cleanup(server.Close) // after the bodies are closed
	open := func(role, query string, headers ...string) (next func() string, end func()) {
		t.Helper()
		r := apitest.As(role, "GET", server.URL+"/api/v1/events"+query, "", headers...)
		r.RequestURI = ""
		ctx, cancel := context.WithCancel(t.Context())
		resp, err := server.Client().Do(r.WithContext(ctx))
		if err != nil {
			t.Fatal(err)
		}
		if ct := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || ct != "text/event-stream; charset=utf-8" {
			t.Fatalf("%d, %s", resp.StatusCode, ct)
		}
		return lines(t, resp.Body), func() { cancel(); _ = resp.Body.Close() }
	}
	expect := func(next func() string, want ...string) {
		t.Helper()
		for _, w := range want {
			if got := next(); got != w {
				t.Fatalf("got %q, want %q", got, w)
			}
		}
	}
	all, endAll := open("viewer", "")
	defer endAll()
	expect(all, `10 ready {"revision":10}`)
	worker := events.Event{Kind: events.Worker, Data: events.WorkerData{ID: "w"}}
	run := events.Event{
		Kind: events.Run,
		Job:  "b",
		Data: events.RunData{ID: "r", Job: "b", Status: common.StatusRunning, PlannedAt: time.Unix(0, 0).UTC()},
	}
	n.put(jobNews("a"), run)
	n.put(worker)
	const a, b, w = `job {"name":"a","version":7}`,
		`11 run {"id":"r","job":"b","jobUid":"","fire":"","plannedAt":"1970-01-01T00:00:00Z","cause":"","attempt":0,"status":"running"}`, `12 worker {"id":"w"}`
	expect(all, a, b, w)
	jobs, end := open("viewer", "?since=10&jobs=b,c")
	expect(jobs, `10 ready {"revision":10}`, b)
	end()
	workers, end := open("viewer", "?types=worker&since=3", "Last-Event-ID", "11")
	expect(workers, `11 ready {"revision":11}`, w)
	end()
	gone, end := open("viewer", "?since=3")
	expect(gone, `12 ready {"revision":12}`, `12 reset {"revision":12}`)
	n.put(jobNews("z"))
	expect(gone, `13 job {"name":"z","version":7}`)
	end()
	n.put(events.Event{Kind: events.Run, Job: "b:step", Data: 1}, events.Event{Kind: events.FlowRun, Job: "b", Data: 2})
	flow, end := open("viewer", "?since=13&jobs=b")
	expect(flow, `13 ready {"revision":13}`, `run 1`, `14 flowrun 2`)
	end()
	marks, end := open("viewer", "?since=13&types=flowrun")
	expect(marks, `13 ready {"revision":13}`, `14 flowrun 2`)
	end()

	h.Problem(422, "invalid", "query.types", apitest.As("viewer", "GET", "/api/v1/events?types=secret", ""))
	h.Problem(422, "invalid", "header.Last-Event-ID",
		apitest.As("viewer", "GET", "/api/v1/events", "", "Last-Event-ID", "x"))
	h.Problem(401, "unauthenticated", "", apitest.As("", "GET", "/api/v1/events", ""))
}

// One token takes a share of the streams, and is told when to try again.
func TestFeed_ShareUsedUp_Answers429(t *testing.T) {
	n := newNews()
	h := apitest.NewHarness(t, func(c *httpapi.Config) { c.Feed = followingFew(t, n, 4) })
	server := httptest.NewServer(h.Handler)
	t.Cleanup(server.Close) // after the bodies are closed
	open := func(role string) *http.Response {
		t.Helper()
		r := apitest.As(role, "GET", server.URL+"/api/v1/events", "")
		r.RequestURI = ""
		resp, err := server.Client().Do(r.WithContext(t.Context()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	if resp := open("viewer"); resp.StatusCode != http.StatusOK {
		t.Fatal(resp.Status)
	}
	resp := open("viewer")
	var p core.Problem
	if err := json.NewDecoder(resp.Body).Decode(&p); err != nil || resp.StatusCode != http.StatusTooManyRequests ||
		resp.Header.Get("Retry-After") == "" ||
		resp.Header.Get("Content-Type") != core.ProblemType || p.Code != common.CodeTooMany ||
		p.Reason != "too_many_follow_events" {
		t.Errorf("%s, Retry-After %q: %+v, %v", resp.Status, resp.Header.Get("Retry-After"), p, err)
	}
	if resp := open("editor"); resp.StatusCode != http.StatusOK {
		t.Errorf("another token: %s", resp.Status)
	}
}

// Who may not read any more is not told more.
func TestFeedEndsWithTheToken(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		n := newNews()
		var gone sync.Map
		h := apitest.NewHarness(t, func(c *httpapi.Config) {
			c.Feed = following(t, n)
			c.Auth = revocable{c.Auth, &gone}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		reader, writer := io.Pipe()
		var serving sync.WaitGroup
		serving.Go(func() {
			h.Handler.ServeHTTP(&piped{header: http.Header{}, w: writer},
				apitest.As("viewer", "GET", "/api/v1/events", "").WithContext(ctx))
			_ = writer.Close()
		})
		next := lines(t, reader)
		if got := next(); got != `10 ready {"revision":10}` {
			t.Fatal(got)
		}
		for i := range 8 { // two minutes
			n.put()
			if got, want := next(), fmt.Sprintf("%d alive", 11+i); got != want {
				t.Fatalf("got %q, want %q", got, want)
			}
		}
		gone.Store("viewer-token", true)
		since := time.Now()
		if got := next(); got != "end" || time.Since(since) > core.Recheck {
			t.Errorf("after %v comes %q", time.Since(since), got)
			cancel()
			_ = reader.Close()
		}
		serving.Wait()
	})
}

// revocable takes tokens back.
type revocable struct {
	httpapi.Logins
	gone *sync.Map
}

func (r revocable) Authenticate(ctx context.Context, c access.Credential) (access.Identity, error) {
	if _, gone := r.gone.Load(c.Token); gone {
		return access.Identity{}, common.Errorf(common.CodeUnauthenticated, "the token is not valid")
	}
	return r.Logins.Authenticate(ctx, c)
}

// piped is a response that is read as it is written.
type piped struct {
	header http.Header
	w      io.Writer
}

func (p *piped) Header() http.Header         { return p.header }
func (p *piped) WriteHeader(int)             {}
func (p *piped) Write(b []byte) (int, error) { return p.w.Write(b) }
func (p *piped) Flush()                      {}
