package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"carillon/internal/common"
)

// watching calls the program until the test has seen enough; next gives its next line.
func (s *stage) watching(events <-chan string, args ...string) (next func(want string), stop func() int) {
	s.t.Helper()
	next, _, stop = s.followed(events, args...)
	return next, stop
}

// followed is watching of what ends by itself: wait returns its exit code. An event is its name, and its data after a
// space.
func (s *stage) followed(events <-chan string, args ...string) (next func(want string), wait, stop func() int) {
	s.t.Helper()
	environ := s.between(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.URL.Path, "/events") {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for {
			select {
			case name := <-events:
				if name == "" {
					return // breaks off
				}
				name, data, _ := strings.Cut(name, " ")
				fmt.Fprintf(w, "id: 1\nevent: %s\ndata: %s\n\n", name, cmp.Or(data, "{}"))
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	ctx, cancel := context.WithCancel(s.t.Context())
	r, w := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, args, strings.NewReader(""), w, io.Discard, environ)
		_ = w.Close()
	}()
	lines := bufio.NewScanner(r)
	next = func(want string) {
		s.t.Helper()
		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			s.t.Fatalf("there comes %q, %v, want %q", lines.Text(), lines.Err(), want)
		}
	}
	wait = func() int {
		for lines.Scan() {
		}
		return <-ended
	}
	return next, wait, func() int {
		cancel()
		return wait()
	}
}

func TestWatch(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.run("create", "job", "a", "--", "true").want(t, exitOK)
	events := make(chan string)
	next, stop := s.watching(events, "get", "jobs", "--watch")
	next("NAME")
	next("a")
	events <- "ready"
	s.run("create", "job", "b", "--cron", "@daily", "--", "true").want(t, exitOK)
	events <- "job"
	next("b")
	s.run("pause", "b", "--note", "x").want(t, exitOK)
	events <- "job"
	next("paused") // and a, which is as it was, is not printed again
	s.run("delete", "job", "a").want(t, exitOK)
	events <- "" // what changes while the connection is broken is seen after it
	next("(gone)")
	if code := stop(); code != exitInterrupted {
		t.Errorf("exit code %d", code)
	}
}

func TestWatchAsJSON(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.printing("x", common.StatusRunning)
	events := make(chan string)
	next, stop := s.watching(events, "get", "runs", "-w", "-o", "json")
	next(`"status":"running"`)
	s.mu.Lock()
	s.end(aRun, common.StatusSucceeded, 0)
	s.mu.Unlock()
	events <- "run"
	next(`"status":"succeeded"`)
	stop()
}

// What cannot be listed is not watched.
func TestWatchRefused(t *testing.T) {
	s := newStage(t)
	s.run("get", "jobs", "-w", "--group", "No Group").want(t, exitUsage)
	s.run("get", "job", "none", "-w").want(t, exitNotFound)
}

// A list without an end does not take more and more memory; a row that is still listed is never printed twice.
func TestWatchOfRunsStaysBounded(t *testing.T) {
	t.Parallel()
	var printed strings.Builder
	c := &cli{stdout: &printed, format: "table"}
	s := &seen{newest: true}
	const page = 100
	for round := range 100 {
		var rows [][]string
		var items []json.RawMessage
		for i := range page {
			id := fmt.Sprint(round*page/2 + page - i)
			rows = append(rows, []string{"run-" + id, "succeeded"})
			items = append(items, json.RawMessage(`{"id":"`+id+`"}`))
		}
		if err := s.show(c, []string{"RUN", "STATUS"}, rows, items); err != nil {
			t.Fatal(err)
		}
	}
	if most := page + watchMemory; len(s.rows) > most || len(s.order) > most || len(s.first) > most {
		t.Errorf("%d rows, %d keys and %d names are kept, want at most %d", len(s.rows), len(s.order),
			len(s.first), most)
	}
	if n := strings.Count(printed.String(), "run-"); n != 99*page/2+page {
		t.Errorf("%d rows were printed", n)
	}
}
