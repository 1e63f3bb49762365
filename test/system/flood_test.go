package system

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// flood is many who want too much of a server at once, until the test has seen enough.
type flood struct {
	t       *testing.T
	address string
	ctx     context.Context
	all     sync.WaitGroup
	answers [600]atomic.Int64 // by status
}

// slowly holds connections by sending a request's header, or its body, a byte at a time, and begins
// anew where the server has had enough.
func (f *flood) slowly(connections int, request string) {
	for range connections {
		f.all.Go(func() {
			for f.ctx.Err() == nil {
				f.drip(request)
			}
		})
	}
}

func (f *flood) drip(request string) {
	conn, err := (&net.Dialer{}).DialContext(f.ctx, "tcp", f.address)
	if err != nil {
		return
	}
	defer conn.Close()
	defer context.AfterFunc(f.ctx, func() { _ = conn.Close() })()
	if _, err := io.WriteString(conn, request); err != nil {
		return
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for range tick.C {
		if _, err := io.WriteString(conn, "x"); err != nil {
			return
		}
	}
}

// fast asks as fast as it is answered, over connections of its own.
func (f *flood) fast(clients int, method, path, token, body string) {
	for range clients {
		f.all.Go(func() {
			transport := &http.Transport{}
			defer transport.CloseIdleConnections()
			client := &http.Client{Transport: transport, Timeout: 20 * time.Second}
			for f.ctx.Err() == nil {
				req, err := http.NewRequestWithContext(f.ctx, method, "http://"+f.address+path, strings.NewReader(body))
				if err != nil {
					f.t.Error(err)
					return
				}
				shown := token
				if token == "guess" {
					shown = "car_" + strings.ToLower(rand.Text()[:16]) + "_" + strings.ToLower(rand.Text()+rand.Text())
				}
				req.Header.Set("Authorization", "Bearer "+shown)
				req.Header.Set("Content-Type", "application/json")
				resp, err := client.Do(req)
				if err != nil {
					continue
				}
				_, _ = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
				f.answers[resp.StatusCode].Add(1)
			}
		})
	}
}

// While others hold every connection there is, and ask more than they may, the server
// answers whether it lives, fires go on, each once, and afterwards it is as it was.
func TestConnectionFlood_SchedulingContinues(t *testing.T) {
	dir := t.TempDir()
	p, a := standalone(t, dir)
	struck := filepath.Join(t.TempDir(), "struck")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":     "bell",
		"cronExpr": "* * * * * * *",
		"command":  "echo x >> " + struck,
	}, nil)
	strikes := func() int {
		data, err := os.ReadFile(struck)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return bytes.Count(data, []byte("\n"))
	}
	var script struct{ Token string }
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/tokens", map[string]any{"name": "script", "role": "viewer"},
		&script)
	eventually(t, "the job runs", func() bool { return strikes() > 0 })
	begin := time.Now()

	ctx, stop := context.WithCancel(t.Context())
	f := &flood{t: t, ctx: ctx, address: strings.TrimPrefix(a.base, "http://")}
	defer func() { stop(); f.all.Wait() }()
	f.slowly(1000, "GET /api/v1/jobs HTTP/1.1\r\nHost: carillon\r\nX-Slow: ")
	f.slowly(400, "POST /api/v1/auth/login HTTP/1.1\r\nHost: carillon\r\nContent-Type: "+
		"application/json\r\nContent-Length: 1000\r\n\r\n{\"token\":\"")
	alone := func(path string) (int, string, error) { // over a connection of its own
		client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 20 * time.Second}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, a.base+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+a.token)
		resp, err := client.Do(req)
		if err != nil {
			return 0, "", err
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(text), err
	}
	eventually(t, "all connections are taken", func() bool {
		status, text, err := alone("/api/v1/jobs")
		return err == nil && status == http.StatusTooManyRequests && strings.Contains(text, "connections")
	})
	f.fast(8, http.MethodGet, "/api/v1/jobs", "guess", "")
	f.fast(4, http.MethodGet, "/api/v1/jobs", script.Token, "")
	f.fast(4, http.MethodPost, "/api/v1/auth/login", "", `{"token":"car_x"}`)
	f.fast(4, http.MethodGet, "/healthz", "", "")
	soFar, asked := strikes(), 0
	eventually(t, "fires go on", func() bool {
		for _, path := range []string{"/healthz", "/readyz"} {
			if status, text, err := alone(path); err != nil || status != http.StatusOK {
				t.Fatalf("%s while all connections are taken: %d %s, %v", path, status, text, err)
			}
			asked++
		}
		return strikes() >= soFar+5
	})
	stop()
	f.all.Wait()
	t.Logf("asked %d times whether it lives; others were answered %d times with 200, %d with 401, %d with 429",
		asked, f.answers[200].Load(), f.answers[401].Load(), f.answers[429].Load())
	if f.answers[429].Load() == 0 {
		t.Error("no client was asked to slow down")
	}
	eventually(t, "it serves again", func() bool {
		status, err := a.try(http.MethodGet, "/api/v1/jobs/bell", nil, nil)
		return err == nil && status == http.StatusOK
	})
	a.do(http.StatusOK, http.MethodPost, "/api/v1/jobs/bell/pause", map[string]any{"note": "enough"}, nil)
	eventually(t, "its runs have ended", func() bool {
		return a.count("job=bell", status("running"))+a.count("job=bell", status("waiting")) == 0
	})
	runs := a.runs("job=bell")
	everyFireOnce(t, runs)
	for _, r := range runs {
		if r.Status != "succeeded" || r.Cause != "cron" {
			t.Errorf("the fire of %s: %s %s %s", r.PlannedAt.Format(time.TimeOnly), r.Cause, r.Status, r.Reason.Code)
		}
	}
	if last := runs[0].PlannedAt; !last.After(begin) {
		t.Errorf("the last fire was at %v, before the flood", last)
	}
	var shown string
	a.do(http.StatusOK, http.MethodGet, "/metrics", nil, &shown)
	counted := `carillon_http_requests_refused_total{reason="connections"} `
	if !strings.Contains(shown, counted) || strings.Contains(shown, counted+"0\n") {
		t.Error("refused requests are not counted")
	}
	if lines := strings.Count(p.Text(), "\n"); lines > 20_000 {
		t.Errorf("the log has %d lines", lines)
	}
}
