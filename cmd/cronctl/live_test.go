package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"carillon/internal/common"
)

// between stands between the program and the server.
func (s *stage) between(h func(next http.Handler, w http.ResponseWriter, r *http.Request)) []string {
	next := s.server.Config.Handler
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h(next, w, r) }))
	s.t.Cleanup(server.Close)
	return []string{"CARILLON_SERVER=" + server.URL, "CARILLON_TOKEN=" + goodToken}
}

func isStream(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "/output/stream") }

// torn is an answer that breaks off after so many bytes.
type torn struct {
	http.ResponseWriter
	left int
}

func (t *torn) Write(p []byte) (int, error) {
	if t.left -= len(p); t.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return t.ResponseWriter.Write(p)
}

func (t *torn) Unwrap() http.ResponseWriter { return t.ResponseWriter }

const aRun = "aaaaaaaaaaaaaaaa.00000000000000000001.1"

// printing gives the stage a run that has printed a text.
func (s *stage) printing(text string, status common.Status) {
	s.runs[aRun] = &common.Run{ID: aRun, Job: "hello", Attempt: 1, Status: common.StatusRunning}
	s.output[aRun] = text
	if status.Terminal() {
		s.end(aRun, status, 0)
	}
}

// However often the connection breaks, each byte comes once.
func TestFollow_ConnectionBreaks_Continues(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	var text strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&text, "%d: 日本語 \x00\xff\n", i)
	}
	s.printing(text.String(), common.StatusSucceeded)
	var streams atomic.Int64
	env := s.between(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if isStream(r) {
			n := int(streams.Add(1))
			w = &torn{w, 100_000 * n}
		}
		next.ServeHTTP(w, r)
	})
	got := s.runWith(env, "logs", "-f", aRun).want(t, exitOK)
	if got.out != text.String() {
		t.Errorf("%d of %d bytes came", len(got.out), text.Len())
	}
	if n := streams.Load(); n < 3 {
		t.Errorf("connection lost %d times", n-1)
	}
}

// A server from before the stream is asked piece by piece.
func TestFollow_OlderServer(t *testing.T) {
	s := newStage(t)
	s.printing("one\ntwo\n", common.StatusRunning)
	asked := 0
	s.onAsk = func(f *fakes, id string) {
		if asked++; asked == 3 {
			f.output[id] += "three\n"
			f.end(id, common.StatusSucceeded, 0)
		}
	}
	env := s.between(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if isStream(r) {
			r.URL.Path = "/api/v1/no/such/route"
		}
		next.ServeHTTP(w, r)
	})
	if got := s.runWith(env, "logs", "-f", aRun).want(t, exitOK); got.out != "one\ntwo\nthree\n" {
		t.Errorf("%q", got.out)
	}
	s.runWith(env, "logs", "-f", strings.Replace(aRun, "a", "b", 1)).want(t, exitNotFound)
}

func TestFollow_MissingOutput_IsReported(t *testing.T) {
	s := newStage(t)
	s.printing("", common.StatusRunning)
	events := "retry: 1\n\nevent: run\ndata: {\"id\":\"x\"}\n\n" +
		"id: 4\nevent: output\ndata: {\"offset\":0,\"stream\":\"stdout\",\"text\":\"head\"}\n\n" +
		"id: 10\nevent: missing\ndata: {\"offset\":4,\"count\":6}\n\n" +
		"id: 13\nevent: output\ndata: {\"offset\":10,\"stream\":\"stdout\",\"base64\":\"AP8K\"}\n\n" +
		"id: 20\n: alive\n\n" + "event: away\ndata: {}\n\n" + "event: something new\ndata: [1]\n\n" +
		"id: 23\nevent: output\ndata: {\"offset\":20,\"stream\":\"stdout\",\"text\":\"end\"}\n\n"
	var mu sync.Mutex
	var offsets []string
	env := s.between(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if !isStream(r) {
			next.ServeHTTP(w, r)
			return
		}
		mu.Lock()
		defer mu.Unlock()
		offsets = append(offsets, r.URL.Query().Get("offset"))
		if len(offsets) == 1 {
			_, _ = io.WriteString(w, events)
			return
		}
		_, _ = io.WriteString(w, "event: end\ndata: {\"offset\":23,\"complete\":false}\n\n")
	})
	got := s.runWith(env, "logs", "-f", "--stream", "stdout", aRun).want(t, exitAway, "has not arrived")
	if got.out != "head\n[carillon: 6 bytes of output are missing here]\n\x00\xff\nend" ||
		fmt.Sprint(offsets) != "[0 23]" {
		t.Errorf("%q, asked for %v", got.out, offsets)
	}
}

func TestFollow_Refused(t *testing.T) {
	s := newStage(t)
	s.printing("x", common.StatusRunning)
	s.run("logs", "-f", strings.Replace(aRun, "a", "b", 1)).want(t, exitNotFound)
	s.runWith([]string{"CARILLON_SERVER=" + s.server.URL, "CARILLON_TOKEN=bad"}, "logs", "-f", aRun).want(t, exitDenied)
	s.run("logs", "-f", "--stream", "both", aRun).want(t, exitUsage)
	// The reader closes the pipe.
	var errs bytes.Buffer
	p := &closed{}
	if code := run(t.Context(), []string{"logs", "-f", aRun}, nil, p, &errs,
		[]string{"CARILLON_SERVER=" + s.server.URL, "CARILLON_TOKEN=" + goodToken}); code != exitAway ||
		!strings.Contains(errs.String(), "cannot write") {
		t.Errorf("ended with %d: %s", code, errs.String())
	}
}

type closed struct{}

func (*closed) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
