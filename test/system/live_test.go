package system

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"carillon/internal/common"
)

// reading is a stream of what a run prints.
type reading struct {
	t     testing.TB
	lines *bufio.Reader
	close func()
	id    string // of the last event
	text  string
	end   *ending
}

type ending struct {
	Run      run
	Offset   int64
	Complete bool
}

// stream begins to read what a run prints, after the event with an id, if there is one.
func (a *api) stream(id, after string) *reading {
	a.t.Helper()
	t := a.t
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+"/api/v1/runs/"+id+"/output/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	if after != "" {
		req.Header.Set("Last-Event-ID", after)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("the stream is refused with %d", resp.StatusCode)
	}
	r := &reading{t: t, lines: bufio.NewReader(resp.Body), id: after, close: func() { cancel(); _ = resp.Body.Close() }}
	t.Cleanup(r.close)
	return r
}

// next waits for the next event that is output or the end. It tells false where the stream ends without.
func (r *reading) next() bool {
	r.t.Helper()
	event := ""
	for {
		line, err := r.lines.ReadString('\n')
		if err != nil {
			return false
		}
		field, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		switch {
		case field == "id":
			r.id = value
		case field == "event":
			event = value
		case field == "data" && event == "output":
			var out struct {
				Offset int64
				Text   string
			}
			if err := json.Unmarshal([]byte(value), &out); err != nil || out.Offset != int64(len(r.text)) {
				r.t.Fatalf("an event at %d follows %d bytes: %v", out.Offset, len(r.text), err)
			}
			r.text += out.Text
			return true
		case field == "data" && event == "missing":
			r.t.Fatalf("something is missing: %s", value)
		case field == "data" && event == "end":
			r.end = new(ending)
			if err := json.Unmarshal([]byte(value), r.end); err != nil {
				r.t.Fatal(err)
			}
			return true
		}
	}
}

// until reads on until a text has come.
func (r *reading) until(text string) {
	r.t.Helper()
	for !strings.Contains(r.text, text) {
		if !r.next() || r.end != nil {
			r.t.Fatalf("the stream ended before %q came: %+v, %q", text, r.end, r.text)
		}
	}
}

// toEnd reads on until the run has ended.
func (r *reading) toEnd() ending {
	r.t.Helper()
	for r.end == nil {
		if !r.next() {
			r.t.Fatalf("the stream broke off after %q", r.text)
		}
	}
	return *r.end
}

func counted(n int) string {
	var all strings.Builder
	for i := range n {
		fmt.Fprintf(&all, "line %d\n", i)
	}
	return all.String()
}

// A job prints a line now and then: each of them is read while the job runs, by who looks on
// with its own program and with ours.
func TestLiveOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, a := standalone(t, dir)
	gate := filepath.Join(t.TempDir(), "gate")
	// The next line is printed once the one before has been read, so each of them is read live.
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "talker",
		"command": `i=0; while [ $i -lt 10 ]; do echo "line $i"; while [ ! -e ` + gate +
			`.$i ]; do sleep 0.05; done; i=$((i+1)); done; echo done >&2`}, nil)
	var accepted struct{ Run string }
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/talker/run", map[string]string{}, &accepted)
	stream := a.stream(accepted.Run, "")
	follower := start(t, "cronctl", "--server", a.base, "--token-file", filepath.Join(dir, "admin.token"), "logs", "-f",
		accepted.Run)
	for i := range 10 {
		stream.until(fmt.Sprintf("line %d\n", i))
		eventually(t, "cronctl has printed it", func() bool {
			return strings.HasSuffix(follower.Text(), fmt.Sprintf("line %d\n", i))
		})
		if got := stream.text; got != counted(i+1) {
			t.Fatalf("after line %d: %q", i, got)
		}
		var now run
		a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+accepted.Run, nil, &now)
		if now.Status != "running" {
			t.Fatalf("line %d came when the run was %s", i, now.Status)
		}
		if err := os.WriteFile(fmt.Sprintf("%s.%d", gate, i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := counted(10) + "done\n"
	if end := stream.toEnd(); end.Run.Status != "succeeded" || !end.Complete || end.Offset != int64(len(want)) ||
		stream.text != want {
		t.Errorf("it ended as %+v with %q", end, stream.text)
	}
	if code := follower.exit(); code != 0 || follower.Text() != want {
		t.Errorf("cronctl ended with %d: %q", code, follower.Text())
	}
	// Who comes later reads the same at once.
	if again := a.stream(accepted.Run, "7"); again.id != "7" {
		t.Error(again.id)
	} else {
		again.text = want[:7]
		if again.toEnd(); again.text != want {
			t.Errorf("read again: %q", again.text)
		}
	}
}

// A line each 300 ms: they come in order, and before the run has ended. A master that stops lets its
// followers go on at another one. The worker is killed: what the job had printed is read all
// the same, and the stream ends with the run.
func TestLiveOutput_WorkerKilled(t *testing.T) {
	t.Parallel() // it mostly waits
	c := newCluster(t)
	address := freePort(t)
	first := start(t, "carillon-master", c.flags("--listen", address)...)
	a := &api{t: t, base: "http://" + address}
	a.token = c.bootstrap()
	b := c.master()
	b.token = a.token
	eventually(t, "the masters are ready", func() bool { return a.ready() && b.ready() })
	c.worker("east")
	west := c.worker("west")
	printed := filepath.Join(c.dir, "printed")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":      "talker",
		"onLost":    "abandon",
		"lostAfter": "20s",
		"killGrace": "1s",
		"command":   `i=0; while :; do echo "line $i" >> ` + printed + `; echo "line $i"; i=$((i+1)); sleep 0.3; done`,
	}, nil)
	var accepted struct{ Run string }
	eventually(t, "west can be sent a run", func() bool {
		code, err := a.try(http.MethodPost, "/api/v1/jobs/talker/run", map[string]string{"worker": "west"}, &accepted)
		return err == nil && code == http.StatusAccepted
	})
	stream := a.stream(accepted.Run, "") // it may wait still
	stream.until("line 4\n")
	if code := first.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("the master stopped with %d", code)
	}
	for stream.next() {
		if stream.end != nil {
			t.Fatalf("a master that stops says that the run has ended: %+v", stream.end)
		}
	}
	if at, err := strconv.Atoi(stream.id); err != nil || at != len(stream.text) {
		t.Fatalf("%d bytes have come, the last id is %q", len(stream.text), stream.id)
	}
	rest := b.stream(accepted.Run, stream.id)
	rest.text = stream.text
	rest.until("line 9\n")

	shown := rest.text
	west.killAll()
	c.expire(common.WorkerKey(registered(t, c.keys())["west"].Worker))
	end := rest.toEnd()
	if end.Run.Status != "lost" || end.Offset != int64(len(rest.text)) {
		t.Errorf("the stream ended with %+v after %d bytes", end, len(rest.text))
	}
	all, err := os.ReadFile(printed)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(rest.text, shown) || !strings.HasPrefix(string(all), rest.text) {
		t.Errorf("read %q, of which %q before the worker was killed; printed was %q", rest.text, shown, all)
	}
	var text string
	b.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+accepted.Run+"/output", nil, &text)
	if text != rest.text {
		t.Errorf("the output is %q, the stream was %q", text, rest.text)
	}
}
