package runs_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/runs"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/runlog/tail"
)

// sent is an event as a client gets it.
type sent struct {
	id, event string
	comment   bool
	data      struct {
		Offset   int64
		Count    int64
		Stream   string
		At       time.Time
		Text     *string
		Base64   []byte
		Complete bool
		ID       string
		Status   common.Status
		Run      common.Run
	}
}

// events reads a stream, as browsers do: the last id holds for what comes after it.
func readEvents(t *testing.T, r io.Reader) func() (sent, bool) {
	t.Helper()
	lines := bufio.NewReader(r)
	id := ""
	return func() (s sent, ok bool) {
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return s, false
			}
			field, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case line == "\n":
				if s.id = id; s.event != "" || s.comment {
					return s, true
				}
			case field == "":
				s.comment = true
			case field == "id":
				id = value
			case field == "event":
				s.event = value
			case field == "data":
				if err := json.Unmarshal([]byte(value), &s.data); err != nil {
					t.Fatalf("%v: %s", err, value)
				}
			case field != "retry":
				t.Fatalf("a line of the stream is %q", line)
			}
		}
	}
}

// received is what a client makes of a stream.
type received struct {
	text   string // what is missing stands as <n>
	last   string // id
	kinds  []string
	ends   int
	end    sent
	output []sent
}

func (r *received) take(t *testing.T, s sent) {
	t.Helper()
	r.last = cmp.Or(s.id, r.last)
	if s.event != "" && (len(r.kinds) == 0 || r.kinds[len(r.kinds)-1] != s.event) {
		r.kinds = append(r.kinds, s.event)
	}
	switch s.event {
	case "output":
		data := s.data.Base64
		if s.data.Text != nil {
			data = []byte(*s.data.Text)
		}
		if id := strconv.FormatInt(s.data.Offset+int64(len(data)), 10); s.id != id ||
			(s.data.Text != nil) == (s.data.Base64 != nil) {
			t.Errorf("an event of %d bytes at %d has the id %s", len(data), s.data.Offset, s.id)
		}
		r.text += string(data)
		r.output = append(r.output, s)
	case "missing":
		r.text += fmt.Sprintf("<%d>", s.data.Count)
	case "end":
		r.ends++
		r.end = s
	}
}

// whole asks for the stream of a run that ends by itself.
func whole(h *apitest.Harness, id, query string, headers ...string) received {
	h.T.Helper()
	w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+id+"/output/stream"+query, "",
		headers...))
	var got received
	next := readEvents(h.T, w.Body)
	for s, ok := next(); ok; s, ok = next() {
		got.take(h.T, s)
	}
	if ct := w.Header().Get("Content-Type"); ct != "text/event-stream; charset=utf-8" ||
		w.Header().Get("Cache-Control") != "no-store" {
		h.T.Errorf("Content-Type %q", ct)
	}
	return got
}

func TestStream_EndedRun(t *testing.T) {
	h := apitest.NewHarness(t)
	plain := apitest.Printed(h, common.StatusFailed, apitest.Out(0, common.Stdout, "one\n"),
		apitest.Out(4, common.Stderr, "two\n"),
		apitest.Out(8, common.Stdout, "<b>&\u2028\n"))
	bad := apitest.Printed(h, common.StatusSucceeded, apitest.Out(0, common.Stdout, "a\x00b"),
		apitest.Out(3, common.Stdout, "\xff\xfe"),
		apitest.Out(5, common.Stdout, "ok"))
	// A character of three bytes and one of four are cut, one of them by the other stream.
	cut := apitest.Printed(h, common.StatusSucceeded, apitest.Out(0, common.Stdout, "x\xe6"),
		apitest.Out(2, common.Stdout, "\x97"),
		apitest.Out(3, common.Stdout, "\xa5y\xf0\x9f"), apitest.Out(7, common.Stderr, "!"),
		apitest.Out(8, common.Stdout, "\x94\x94\n"), apitest.Out(11, common.Stdout, "\xe6"))
	holed := apitest.Printed(h, common.StatusSucceeded, apitest.Out(0, common.Stdout, "head"),
		common.Chunk{Offset: 4, Missing: 1000},
		apitest.Out(1004, common.Stdout, "tail\n"))
	silent := apitest.Printed(h, common.StatusSucceeded)
	skipped := apitest.Printed(h, common.StatusSkipped)
	late := apitest.Printed(h, common.StatusSucceeded, apitest.Out(0, common.Stdout, "head\n"))
	h.RunList[6].OutputBytes = 50
	for i := range h.RunList {
		h.RunList[i].EndedAt = new(time.Now().Add(-time.Hour))
	}
	for _, c := range []struct {
		run, query, last string
		text             string
		id               string
	}{
		{plain, "", "", "one\ntwo\n<b>&\u2028\n", "16"},
		{plain, "?offset=6", "", "o\n<b>&\u2028\n", "16"},
		{plain, "?tail=10", "", "o\n<b>&\u2028\n", "16"},
		{plain, "?tail=1000", "", "one\ntwo\n<b>&\u2028\n", "16"},
		{plain, "?stream=stderr", "", "two\n", "16"},
		{plain, "?stream=stdout&offset=3", "", "\n<b>&\u2028\n", "16"},
		{plain, "?tail=2", "4", "two\n<b>&\u2028\n", "16"}, // who comes back goes on where it was
		{plain, "?offset=2", "0", "one\ntwo\n<b>&\u2028\n", "16"},
		{plain, "", "16", "", "16"},
		{plain, "", "99999", "", "16"},
		{bad, "", "", "a\x00b\xff\xfeok", "7"},
		{cut, "", "", "x日y\xf0\x9f!\x94\x94\n\xe6", "12"},
		{cut, "?offset=2", "", "\x97\xa5y\xf0\x9f!\x94\x94\n\xe6", "12"},
		{holed, "", "", "head<1000>tail\n", "1009"},
		{holed, "?offset=500", "", "<504>tail\n", "1009"},
		{holed, "?stream=stderr", "", "<1000>", "1009"},
		{silent, "", "", "", "0"},
		{silent, "?tail=10", "", "", "0"},
		{skipped, "", "", "", "0"},
		{late, "", "", "head\n", "5"},
	} {
		var headers []string
		if c.last != "" {
			headers = []string{"Last-Event-ID", c.last}
		}
		got := whole(h, c.run, c.query, headers...)
		if got.text != c.text || got.last != c.id || got.ends != 1 {
			t.Errorf("%s%s after %q: %q, last id %s, %d ends; want %q, %s", c.run, c.query, c.last, got.text, got.last,
				got.ends, c.text, c.id)
		}
		if end := got.end.data; end.Run.ID != c.run || end.Complete != (c.run != late) ||
			strconv.FormatInt(end.Offset, 10) != c.id {
			t.Errorf("%s%s ended with %+v", c.run, c.query, end)
		}
		if got.kinds[0] != "run" {
			t.Errorf("%s began with %v", c.run, got.kinds)
		}
	}
	if w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet,
		"/api/v1/runs/"+plain+"/output/stream?offset=99999",
		"")); strings.Contains(w.Body.String(), "99999") {
		t.Errorf("there is no such place:\n%s", w.Body)
	}
	// Text is text: only what is none comes as base64.
	for _, s := range whole(h, cut, "").output {
		if isText := s.data.Text != nil; isText == slices.Contains([]int64{5, 8, 11}, s.data.Offset) {
			t.Errorf("at %d it is text: %v", s.data.Offset, isText)
		}
	}
	if first := whole(h, plain, "").output[0]; first.data.Stream != "stdout" || *first.data.Text != "one\n" {
		t.Errorf("the first event is %+v", first)
	}
}

// Long output comes in events of a bounded size, which cut no character; many small chunks are one event.
func TestStreamOfLongOutput(t *testing.T) {
	h := apitest.NewHarness(t)
	var chunks []common.Chunk
	var want strings.Builder
	at := time.Now()
	for _, size := range []int{1, 100, 50_000, common.MaxChunk} {
		for range 2_000_000 / max(size, 200) {
			text := strings.Repeat("日", size/3+1)[:size]
			chunks = append(chunks, common.Chunk{
				Offset: int64(want.Len()),
				Stream: common.Stdout,
				At:     at,
				Data:   []byte(text),
			})
			want.WriteString(text)
		}
	}
	id := apitest.Printed(h, common.StatusSucceeded, chunks...)
	got := whole(h, id, "")
	if got.text != want.String() || !got.end.data.Complete {
		t.Fatalf("%d of %d bytes", len(got.text), want.Len())
	}
	if n := len(got.output); n > 2000 {
		t.Errorf("%d events for %d bytes", n, want.Len())
	}
	for _, s := range got.output {
		if size := len(s.data.Base64); size > runs.MaxEvent || s.data.Text != nil && len(*s.data.Text) > runs.MaxEvent {
			t.Fatalf("an event of %d bytes", size)
		}
	}
}

func TestStream_InvalidRequests_AreRefused(t *testing.T) {
	h := apitest.NewHarness(t)
	id := apitest.Printed(h, common.StatusRunning)
	base := "/api/v1/runs/" + id + "/output/stream"
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+apitest.SomeRun("", 99).ID+"/output/stream", ""))
	for _, last := range []string{"x", "-1", "1.5", "99999999999999999999"} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", "header.Last-Event-ID",
			apitest.As("viewer", http.MethodGet, base, "", "Last-Event-ID", last))
	}
	for query, place := range map[string]string{
		"?offset=1&tail=1": "query.tail",
		"?offset=-1":       "query.offset",
		"?tail=0":          "query.tail",
		"?stream=both":     "query.stream",
		"?from=1":          "query.from",
	} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", place,
			apitest.As("viewer", http.MethodGet, base+query, ""))
	}
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.tail",
		apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+id+"/output?offset=1&tail=1", ""))
	h.Problem(http.StatusUnauthorized, "unauthenticated", "", apitest.As("", http.MethodGet, base, ""))
}

func TestOutput_Tail(t *testing.T) {
	h := apitest.NewHarness(t)
	ended := apitest.Printed(h, common.StatusSucceeded, apitest.Out(0, common.Stdout, "0123456789"),
		apitest.Out(10, common.Stderr, "abcdef"))
	running := apitest.Printed(h, common.StatusRunning, apitest.Out(0, common.Stdout, "0123456789"),
		apitest.Out(10, common.Stderr, "abcdef"))
	h.RunList[1].OutputBytes = 0
	for query, want := range map[string]string{
		"?tail=3":               "def",
		"?tail=8":               "89abcdef",
		"?tail=100":             "0123456789abcdef",
		"?tail=8&limit=4":       "89ab",
		"?tail=8&stream=stderr": "abcdef",
	} {
		for _, id := range []string{ended, running} {
			if w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+id+"/output"+query,
				"", "Range",
				"bytes=0-0")); w.Body.String() != want {
				t.Errorf("%s: %q, want %q", query, w.Body, want)
			}
		}
	}
}

// A browser or curl sees a running job's output line by line, over both versions of HTTP.
func TestStream_RunningJob_IsSentLineByLine(t *testing.T) {
	t.Parallel()
	for _, proto := range []string{"HTTP/1.1", "HTTP/2.0"} {
		t.Run(proto, func(t *testing.T) {
			t.Parallel()
			h := apitest.NewHarness(t)
			id := apitest.Printed(h, common.StatusRunning)
			server := httptest.NewUnstartedServer(h.Handler)
			server.Config.ReadTimeout = time.Second
			server.EnableHTTP2 = proto == "HTTP/2.0"
			server.StartTLS()
			defer server.Close()
			r := apitest.As("viewer", http.MethodGet, server.URL+"/api/v1/runs/"+id+"/output/stream", "")
			r.RequestURI, r.Body = "", nil
			resp, err := server.Client().Do(r)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.Proto != proto {
				t.Fatal(resp.Proto)
			}
			next := readEvents(t, resp.Body)
			if s, _ := next(); s.event != "run" || s.data.ID != id {
				t.Fatalf("first comes %+v", s)
			}
			for i := range 5 {
				line := fmt.Sprintf("line %d\n", i)
				h.Print(id, line)
				if s, _ := next(); s.event != "output" || s.data.Text == nil || *s.data.Text != line {
					t.Fatalf("line %d comes as %+v", i, s)
				}
			}
			h.End(id, common.StatusSucceeded)
			if s, _ := next(); s.event != "end" || s.data.Run.Status != common.StatusSucceeded || !s.data.Complete ||
				s.id != "35" {
				t.Fatalf("it ends with %+v", s)
			}
			if s, more := next(); more {
				t.Fatalf("after the end comes %+v", s)
			}
		})
	}
}

// gauged counts followers.
type gauged struct {
	*tail.Hub
	taken chan *tail.Follower
}

func (g gauged) Follow(ctx context.Context, run string, from tail.Place, client string) (*tail.Follower, error) {
	f, err := g.Hub.Follow(ctx, run, from, client)
	if err == nil {
		g.taken <- f
	}
	return f, err
}

// A server that stops ends its streams at once, so that the clients go on elsewhere; a client that goes leaves nothing
// behind.
func TestStreamsEnd(t *testing.T) {
	var hub *tail.Hub
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		hub = tail.New(c.Runs, tail.Config{Followers: 2})
		c.Following = gauged{hub, make(chan *tail.Follower, 100)}
	})
	id := apitest.Printed(h, common.StatusRunning, apitest.Out(0, common.Stdout, "one\n"))
	server := httptest.NewUnstartedServer(h.Handler)
	server.Config = httpapi.Server(h.Handler, slog.New(slog.DiscardHandler), nil)
	server.Config.RegisterOnShutdown(hub.Stop)
	server.Start()
	defer server.Close()
	open := func(ctx context.Context) *http.Response {
		r := apitest.As("viewer", http.MethodGet, server.URL+"/api/v1/runs/"+id+"/output/stream", "").WithContext(ctx)
		r.RequestURI, r.Body = "", nil
		resp, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	for range 20 { // each of them can only follow when those before it are gone
		ctx, cancel := context.WithCancel(t.Context())
		resp := open(ctx)
		for resp.StatusCode == http.StatusTooManyRequests {
			resp.Body.Close()
			resp = open(ctx)
		}
		if s, _ := readEvents(t, resp.Body)(); s.event != "run" {
			t.Fatalf("%d: %+v", resp.StatusCode, s)
		}
		cancel()
		resp.Body.Close()
	}
	resp := open(t.Context())
	for resp.StatusCode == http.StatusTooManyRequests {
		resp = open(t.Context())
	}
	next := readEvents(t, resp.Body)
	next()
	if err := server.Config.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	for s, ok := next(); ok; s, ok = next() {
		if s.event == "end" {
			t.Error("a stream that was cut off says that the run has ended")
		}
	}
}

// Clients that read nothing delay neither other clients nor a stop.
func TestStream_ClientReadsNothing_DelaysNothing(t *testing.T) {
	t.Parallel()
	var hub *tail.Hub
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		hub = tail.New(c.Runs, tail.Config{})
		c.Following = hub
	})
	id := apitest.Printed(h, common.StatusRunning)
	server := httptest.NewUnstartedServer(h.Handler)
	server.Config = httpapi.Server(h.Handler, slog.New(slog.DiscardHandler), nil)
	server.Config.RegisterOnShutdown(hub.Stop)
	const held = 32 << 10 // by either end of a connection
	server.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if err := c.(*net.TCPConn).SetWriteBuffer(held); err != nil {
			t.Error(err)
		}
		return ctx
	}
	server.Start()
	defer server.Close()
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, network, address)
		if err == nil {
			err = c.(*net.TCPConn).SetReadBuffer(held)
		}
		return c, err
	}}
	defer transport.CloseIdleConnections()
	open := func() *http.Response {
		r := apitest.As("viewer", http.MethodGet, server.URL+"/api/v1/runs/"+id+"/output/stream", "")
		r.RequestURI, r.Body = "", nil
		resp, err := transport.RoundTrip(r)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%v, %v", resp, err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	for range 100 {
		open()
	}
	next := readEvents(t, open().Body)
	const pieces = 100 // more than what connections and the window hold
	go func() {
		for range pieces {
			h.Print(id, strings.Repeat("x", 20_000))
		}
		h.End(id, common.StatusSucceeded)
	}()
	var got received
	for got.ends == 0 {
		s, ok := next()
		if !ok {
			t.Fatal("the stream broke off")
		}
		got.take(t, s)
	}
	if len(got.text) != pieces*20_000 {
		t.Errorf("%d bytes came", len(got.text))
	}
	began := time.Now()
	if err := server.Config.Shutdown(t.Context()); err != nil || time.Since(began) > core.WriteTimeout/2 {
		t.Errorf("it stopped after %v: %v", time.Since(began), err)
	}
}

// conn is a response in memory that sees how it is used.
type conn struct {
	*httptest.ResponseRecorder
	mu       sync.Mutex
	body     strings.Builder
	deadline time.Time
	unsafe   int // writes without a deadline
	broken   error
}

func (c *conn) SetWriteDeadline(at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.deadline = at
	return nil
}

func (c *conn) SetReadDeadline(time.Time) error { return nil }

func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.deadline.IsZero() || time.Until(c.deadline) > core.WriteTimeout {
		c.unsafe++
	}
	if c.broken != nil {
		return 0, c.broken
	}
	return c.body.Write(p)
}

func (c *conn) set(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
}

// streaming serves a stream in virtual time. What it ended with is nil for a return.
func streaming(t *testing.T, r func(*apitest.Harness) *http.Request,
	story func(h *apitest.Harness, c *conn, done <-chan any)) {
	t.Helper()
	virtualtime.Test(t, func(t *testing.T) {
		h := apitest.NewHarness(t)
		ctx, cancel := context.WithCancel(t.Context())
		c, done := &conn{ResponseRecorder: httptest.NewRecorder()}, make(chan any, 1)
		go func() {
			defer func() { done <- recover() }()
			h.Handler.ServeHTTP(c, r(h).WithContext(ctx))
		}()
		virtualtime.Wait()
		story(h, c, done)
		cancel()
		virtualtime.Wait()
		if c.unsafe > 0 {
			t.Errorf("%d writes might hang", c.unsafe)
		}
	})
}

func streamOf(h *apitest.Harness, query string) *http.Request {
	apitest.Printed(h, common.StatusRunning, apitest.Out(0, common.Stdout, "one\n"),
		apitest.Out(4, common.Stderr, "two\n"))
	h.RunList[0].OutputBytes = 0
	return apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+h.RunList[0].ID+"/output/stream"+query, "")
}

func TestStream_WithoutOutput_SendsKeepAlives(t *testing.T) {
	streaming(t, func(h *apitest.Harness) *http.Request {
		return streamOf(h, "?stream=stdout")
	}, func(h *apitest.Harness, c *conn, done <-chan any) {
		time.Sleep(time.Hour)
		c.set(func() {
			if !c.deadline.IsZero() {
				t.Error("a stream that waits has a deadline")
			}
			if n := strings.Count(c.body.String(), ": alive\n\n"); n < 230 || n > 240 {
				t.Errorf("%d signs of life in an hour", n)
			}
			// The place moves also where nothing of it is shown.
			if n := strings.Count(c.body.String(), "id: 8\n"); n != 1 {
				t.Errorf("%d times the place behind the other stream", n)
			}
		})
		h.Print(h.RunList[0].ID, "half a \xe6\x97")
		time.Sleep(700 * time.Millisecond)
		h.Print(h.RunList[0].ID, "\xa5\n\xe6")
		time.Sleep(400 * time.Millisecond)
		c.set(func() {
			if text := c.body.String(); !strings.Contains(text, `"text":"half a "`) ||
				!strings.Contains(text, `"text":"日\n"`) {
				t.Error(text[len(text)-400:])
			}
		})
		time.Sleep(2 * time.Second) // the rest of a character is awaited for a limited time
		c.set(func() {
			if text := c.body.String(); !strings.HasSuffix(text, `"base64":"5g=="}`+"\n\n") {
				t.Error(text[len(text)-400:])
			}
		})
	})
}

// A client that may not read any more receives nothing more, unless permissions cannot be checked just now.
func TestStream_SessionEnds_StreamEnds(t *testing.T) {
	streaming(t, func(h *apitest.Harness) *http.Request {
		h.Sessions["s"] = access.Identity{Name: "ann", Role: access.Viewer}
		r := streamOf(h, "")
		r.Header.Del("Authorization")
		r.AddCookie(&http.Cookie{Name: apitest.PlainCookie, Value: "s"})
		return r
	}, func(h *apitest.Harness, c *conn, done <-chan any) {
		time.Sleep(10 * time.Minute)
		select {
		case <-done:
			t.Fatal("it has ended")
		default:
		}
		_ = h.Logout(t.Context(), common.Actor{}, "s")
		time.Sleep(core.Recheck + time.Second)
		select {
		case thrown := <-done:
			if thrown != nil || strings.Contains(c.body.String(), "event: end") {
				t.Errorf("it ended with %v", thrown)
			}
		default:
			t.Error("it goes on")
		}
	})
}

// Nor who is who they were, and may less.
func TestStream_RoleRevoked_StreamEnds(t *testing.T) {
	streaming(t, func(h *apitest.Harness) *http.Request {
		h.Sessions["s"] = access.Identity{Name: "ann", Role: access.Viewer}
		r := streamOf(h, "")
		r.Header.Del("Authorization")
		r.AddCookie(&http.Cookie{Name: apitest.PlainCookie, Value: "s"})
		return r
	}, func(h *apitest.Harness, c *conn, done <-chan any) {
		time.Sleep(core.Beat)
		h.Mu.Lock()
		h.Sessions["s"] = access.Identity{Name: "ann", Grants: map[string]access.Role{"another": access.Admin}}
		h.Mu.Unlock()
		time.Sleep(core.Recheck + time.Second)
		select {
		case thrown := <-done:
			if thrown != nil || strings.Contains(c.body.String(), "event: end") {
				t.Errorf("it ended with %v", thrown)
			}
		default:
			t.Error("it goes on")
		}
	})
}

// What goes wrong in the middle breaks the connection off.
func TestStream_ReadFails_BreaksTheConnection(t *testing.T) {
	streaming(t, func(h *apitest.Harness) *http.Request {
		return streamOf(h, "")
	}, func(h *apitest.Harness, c *conn, done <-chan any) {
		h.Mu.Lock()
		h.RunList = nil
		h.Mu.Unlock()
		time.Sleep(time.Minute)
		select {
		case thrown := <-done:
			if thrown != http.ErrAbortHandler {
				t.Errorf("it ended with %v", thrown)
			}
		default:
			t.Error("it goes on")
		}
	})
	streaming(t, func(h *apitest.Harness) *http.Request {
		return streamOf(h, "")
	}, func(h *apitest.Harness, c *conn, done <-chan any) {
		c.set(func() { c.broken = errors.New("the client reads nothing") })
		h.Print(h.RunList[0].ID, "x")
		time.Sleep(time.Second)
		select {
		case thrown := <-done:
			if thrown != nil {
				t.Errorf("it ended with %v", thrown)
			}
		default:
			t.Error("it goes on")
		}
	})
}
