package runs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/runs"
	"carillon/internal/httpapi/view"
)

func TestOutput(t *testing.T) {
	h := apitest.NewHarness(t)
	ended := apitest.Printed(h, common.StatusFailed, apitest.Out(0, common.Stdout, "one\n"),
		apitest.Out(4, common.Stderr, "two\n"),
		apitest.Out(8, common.Stdout, "<b>\xff\x00\n"))
	running := apitest.Printed(h, common.StatusRunning, apitest.Out(0, common.Stdout, "one\n"),
		apitest.Out(4, common.Stderr, "two\n"))
	h.RunList[1].OutputBytes = 0 // is not known before the end
	holed := apitest.Printed(h, common.StatusSucceeded, apitest.Out(0, common.Stdout, "head"),
		common.Chunk{Offset: 4, Missing: 1000},
		apitest.Out(1004, common.Stdout, "tail\n"))
	torn := apitest.Printed(h, common.StatusSucceeded, apitest.Out(0, common.Stdout, "head\n"),
		apitest.Out(100, common.Stdout, "tail\n"))
	late := apitest.Printed(h, common.StatusSucceeded, apitest.Out(0, common.Stdout, "head\n"))
	h.RunList[4].OutputBytes = 50 // the rest has not arrived yet
	silent := apitest.Printed(h, common.StatusSucceeded)
	lost := apitest.Printed(h, common.StatusLost, apitest.Out(0, common.Stdout, "one\n"),
		apitest.Out(4, common.Stderr, "two\n"))
	h.RunList[6].OutputBytes = 3

	for _, c := range []struct {
		run, query       string
		body             string
		next, size, done string
	}{
		{ended, "", "one\ntwo\n<b>\xff\x00\n", "14", "14", "true"},
		{ended, "?limit=6", "one\ntw", "6", "14", "false"},
		{ended, "?limit=6&offset=6", "o\n<b>\xff", "12", "14", "false"},
		{ended, "?limit=100&offset=12", "\x00\n", "14", "14", "true"},
		{ended, "?offset=6", "o\n<b>\xff\x00\n", "14", "14", "true"},
		{ended, "?offset=14", "", "14", "14", "true"},
		{ended, "?offset=99", "", "14", "14", "true"},
		{ended, "?offset=99&limit=5", "", "14", "14", "true"},
		{ended, "?offset=9223372036854775807&limit=5", "", "14", "14", "true"},
		{ended, "?stream=stderr", "two\n", "14", "14", "true"},
		{ended, "?stream=stdout&limit=9", "one\n<", "9", "14", "false"},
		{running, "", "one\ntwo\n", "8", "8", "false"},
		{running, "?offset=8", "", "8", "8", "false"},
		{running, "?offset=9", "", "9", "8", "false"},
		{running, "?offset=9223372036854775807&limit=5", "", "9223372036854775807", "8", "false"},
		{lost, "?offset=4", "two\n", "8", "8", "true"},
		{lost, "?offset=8", "", "8", "8", "true"},
		{lost, "?offset=99", "", "99", "8", "true"},
		{running, "?offset=2&limit=3", "e\nt", "5", "5", "false"},
		{holed, "", "head\n[carillon: 1000 bytes of output are missing here]\ntail\n", "1009", "1009", "true"},
		{holed, "?stream=stderr", "[carillon: 1000 bytes of output are missing here]\n", "1009", "1009", "true"},
		{holed, "?offset=500", "[carillon: 504 bytes of output are missing here]\ntail\n", "1009", "1009", "true"},
		{holed, "?limit=10", "head\n[carillon: 6 bytes of output are missing here]\n", "10", "1009", "false"},
		{torn, "", "head\n[carillon: 95 bytes of output are missing here]\ntail\n", "105", "105", "true"},
		{late, "", "head\n", "5", "50", "false"},
		{silent, "", "", "0", "0", "true"},
	} {
		w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+c.run+"/output"+c.query, ""))
		got := []string{w.Body.String(), w.Header().Get("Carillon-Next-Offset"), w.Header().Get("Carillon-Output-Size"),
			w.Header().Get("Carillon-Output-Complete")}
		if want := []string{c.body, c.next, c.size, c.done}; fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%s%s\ngot  %q\nwant %q", c.run, c.query, got, want)
		}
		if ct := w.Header().Get("Content-Type"); ct != "text/plain; charset=utf-8" ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("Content-Type %q", ct)
		}
	}
	w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+ended+"/output?download=true", ""))
	if d := w.Header().Get("Content-Disposition"); d != `attachment; filename="a-`+ended+`.log"` {
		t.Error(d)
	}
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+apitest.SomeRun("", 99).ID+"/output", ""))
}

func TestRange(t *testing.T) {
	h := apitest.NewHarness(t)
	ended := apitest.Printed(h, common.StatusSucceeded, apitest.Out(0, common.Stdout, "01234"),
		apitest.Out(5, common.Stderr, "56789"))
	holed := apitest.Printed(h, common.StatusSucceeded, apitest.Out(0, common.Stdout, "01234"),
		common.Chunk{Offset: 5, Missing: 5})
	running := apitest.Printed(h, common.StatusRunning, apitest.Out(0, common.Stdout, "01234"))
	for _, c := range []struct {
		run, query, header string
		status             int
		body, contentRange string
	}{
		{ended, "", "bytes=0-0", 206, "0", "bytes 0-0/10"},
		{ended, "", "bytes=3-6", 206, "3456", "bytes 3-6/10"},
		{ended, "", "bytes=7-", 206, "789", "bytes 7-9/10"},
		{ended, "", "bytes=7-999", 206, "789", "bytes 7-9/10"},
		{ended, "", "bytes=-4", 206, "6789", "bytes 6-9/10"},
		{ended, "", "bytes=-99", 206, "0123456789", "bytes 0-9/10"},
		{ended, "", "bytes=10-", 416, "", "bytes */10"},
		{ended, "", "bytes=-0", 416, "", "bytes */10"},
		{ended, "", "bytes=0-1,3-4", 200, "0123456789", ""},
		{ended, "", "bytes=6-3", 200, "0123456789", ""},
		{ended, "", "bytes=x-", 200, "0123456789", ""},
		{ended, "", "bytes=+1-2", 200, "0123456789", ""},
		{ended, "", "lines=1-2", 200, "0123456789", ""},
		{ended, "", "bytes=99999999999999999999-", 200, "0123456789", ""},
		{ended, "?stream=stdout", "bytes=0-0", 200, "01234", ""},
		{ended, "?offset=5", "bytes=0-0", 200, "56789", ""},
		{holed, "", "bytes=0-0", 200, "01234\n[carillon: 5 bytes of output are missing here]\n", ""},
		{running, "", "bytes=0-0", 200, "01234", ""},
	} {
		w := h.Want(c.status, apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+c.run+"/output"+c.query, "",
			"Range", c.header))
		if got := w.Header().Get("Content-Range"); got != c.contentRange {
			t.Errorf("%s: Content-Range %q, want %q", c.header, got, c.contentRange)
		}
		if c.status != 416 && w.Body.String() != c.body {
			t.Errorf("%s%s: %q, want %q", c.header, c.query, w.Body, c.body)
		}
	}
}

// flood is a run with more output than should be held in memory.
type flood struct {
	*apitest.Fakes
	size   int64
	broken int64 // from here on the store fails
	asked  int   // the most that was asked for at once
}

func (f *flood) Run(context.Context, string) (common.Run, error) {
	r := apitest.SomeRun(common.StatusSucceeded, 0)
	r.OutputBytes = f.size
	return r, nil
}

func (f *flood) Output(_ context.Context, _ string, offset int64, limit int) (chunks []common.Chunk, err error) {
	f.asked = max(f.asked, limit)
	if f.broken > 0 && offset >= f.broken && offset < f.size-1 {
		return nil, errors.New("the store is away")
	}
	at := offset - offset%common.MaxChunk
	for got := 0; at < f.size && (got == 0 || got+common.MaxChunk <= limit); got += common.MaxChunk {
		data := bytes.Repeat([]byte{'x'}, int(min(common.MaxChunk, f.size-at)))
		chunks = append(chunks, common.Chunk{Offset: at, Stream: common.Stdout, Data: data})
		at += int64(len(data))
	}
	return chunks, nil
}

func TestLongOutputIsStreamed(t *testing.T) {
	f := &flood{size: 40<<20 + 123}
	h := apitest.NewHarness(t, func(c *httpapi.Config) { f.Fakes = c.Runs.(*apitest.Fakes); c.Runs = f })
	server := httptest.NewUnstartedServer(h.Handler)
	server.Config = httpapi.Server(h.Handler, slog.New(slog.DiscardHandler), nil)
	server.Start()
	defer server.Close()
	get := func() (int64, error) {
		r := apitest.As("viewer", http.MethodGet, server.URL+"/api/v1/runs/a.b.1/output", "")
		r.RequestURI = ""
		resp, err := server.Client().Do(r)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		return io.Copy(io.Discard, resp.Body)
	}
	if n, err := get(); n != f.size || err != nil {
		t.Errorf("%d of %d bytes, %v", n, f.size, err)
	}
	if f.asked > runs.StreamAsk {
		t.Errorf("%d bytes were asked for at once", f.asked)
	}
	// A part must not be taken for the whole.
	f.broken = 10 << 20
	if n, err := get(); err == nil || n >= f.size {
		t.Errorf("a torn stream ends well after %d bytes", n)
	}
}

// Output has the start of a current run, which is neither a part of the output nor asked for once the run has ended.
func TestGetRun_Running_HasItsStart(t *testing.T) {
	at := time.Unix(1_000_000, 5).UTC()
	for name, c := range map[string]struct {
		status common.Status
		chunks []common.Chunk
		want   *time.Time
	}{
		"silent": {common.StatusRunning, []common.Chunk{common.StartChunk("", at)}, &at},
		"printed": {
			common.StatusRunning,
			[]common.Chunk{common.StartChunk("", at), apitest.Out(0, "stdout", "x")},
			&at,
		},
		"beginning dropped":  {common.StatusRunning, []common.Chunk{{Missing: 7}, common.StartChunk("", at)}, &at},
		"not recorded yet":   {common.StatusRunning, []common.Chunk{apitest.Out(0, "stdout", "x")}, nil},
		"of an older worker": {common.StatusRunning, nil, nil},
		"waiting":            {common.StatusWaiting, []common.Chunk{common.StartChunk("", at)}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			h := apitest.NewHarness(t)
			id := apitest.Printed(h, c.status, c.chunks...)
			h.RunList[0].StartedAt = nil
			var run view.Run
			get := func(path string) *httptest.ResponseRecorder {
				return h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+id+path, ""))
			}
			apitest.Decode(t, get(""), &run)
			if !reflect.DeepEqual(run.StartedAt, c.want) {
				t.Errorf("started at %v, want %v", run.StartedAt, c.want)
			}
			if text := get("/output").Body.String(); strings.Trim(text, "x") != "" && c.chunks[0].Missing == 0 {
				t.Errorf("output %q", text)
			}
		})
	}
}

func TestOutputOfARunningJobIsBounded(t *testing.T) {
	h := apitest.NewHarness(t)
	var chunks []common.Chunk
	for i := range 40 {
		chunks = append(chunks, apitest.Out(int64(i)*common.MaxChunk, common.Stdout,
			strings.Repeat("x", common.MaxChunk)))
	}
	id := apitest.Printed(h, common.StatusRunning, chunks...)
	total, offset := 0, "0"
	for range 5 {
		w := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet,
			"/api/v1/runs/"+id+"/output?offset="+offset, ""))
		if w.Body.Len() > runs.MaxPiece {
			t.Fatalf("%d bytes at once", w.Body.Len())
		}
		total += w.Body.Len()
		offset = w.Header().Get("Carillon-Next-Offset")
	}
	if total != 40*common.MaxChunk {
		t.Errorf("%d bytes in all, next %s", total, offset)
	}
}

// A range answers with exact bytes or not at all: a hole that nothing told of
// before ends the connection.
func TestRange_WithMissingBytes_BreaksTheConnection(t *testing.T) {
	h := apitest.NewHarness(t)
	for _, chunks := range [][]common.Chunk{
		{apitest.Out(0, common.Stdout, "head\n"), apitest.Out(100, common.Stdout, "tail\n")},
		{apitest.Out(0, common.Stdout, "head\n"), {Offset: 5, Missing: 95}, apitest.Out(100, common.Stdout, "tail\n")},
	} {
		id := apitest.Printed(h, common.StatusSucceeded, chunks...)
		h.RunList[len(h.RunList)-1].OutputTruncated = false
		func() {
			defer func() {
				if thrown := recover(); thrown != http.ErrAbortHandler {
					t.Errorf("the answer ended with %v", thrown)
				}
			}()
			h.Send(apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+id+"/output", "", "Range", "bytes=2-102"))
		}()
	}
}
