package httprun

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/httprun/request"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// printed is the output of a request.
type printed struct {
	mu               sync.Mutex
	exchange, body   bytes.Buffer
	bodyHasBegun     chan struct{}
	bodyHasBegunOnce sync.Once
}

func (p *printed) print(stream common.Stream, data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if stream == common.Stderr {
		p.exchange.Write(data)
		return
	}
	p.body.Write(data)
	if p.bodyHasBegun != nil {
		p.bodyHasBegunOnce.Do(func() { close(p.bodyHasBegun) })
	}
}

// send sends a request whose with is %s-formatted JSON.
func send(t *testing.T, cfg Config, task Task, format string, args ...any) (Result, *printed) {
	t.Helper()
	if err := json.Unmarshal(fmt.Appendf(nil, format, args...), &task.With); err != nil {
		t.Fatal(err)
	}
	client := New(cfg)
	t.Cleanup(client.Close)
	out := &printed{}
	return client.Run(t.Context(), task, out.print), out
}

func serve(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

func local() Config { return Config{Allow: loopback, Version: "test"} }

func TestRun_SendsTheRequestAndShowsTheExchange(t *testing.T) {
	var got *http.Request
	var body string
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got, body = r, string(data)
		w.Header().Set("X-Answer", "yes")
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"id": 12345678901234567890, "tags": ["a", "b"], "deep": {"a/b": {"c": true}}}`)
	})
	task := Task{
		Key:   "job.fire",
		Fence: 4711,
		Values: request.Values{
			Named:   map[string]string{"DAY": "2026-12-01"},
			Secrets: map[string]string{"headers.Authorization": "Bearer t"},
		},
		Outputs: map[string]common.Output{"id": {Pointer: "/id"}, "tags": {Pointer: "/tags", List: true},
			"c": {Pointer: "/deep/a~1b/c"}, "none": {Pointer: "/none"}},
	}
	r, out := send(t, local(), task, `{"url": "%s/v1/${DAY}", "method": "POST", "body": "{\"day\": \"${DAY}\"}",
		"headers": {"Authorization": "secret:api", "Content-Type": "application/json"}}`, url)
	if r.Code != "" || r.ExitCode != 0 {
		t.Fatalf("%+v", r)
	}
	if got.Method != "POST" || got.URL.Path != "/v1/2026-12-01" || body != `{"day": "2026-12-01"}` ||
		got.Header.Get("Authorization") != "Bearer t" || got.Header.Get("Idempotency-Key") != "job.fire" ||
		got.Header.Get("Carillon-Fence") != "4711" || got.Header.Get("User-Agent") != "Carillon/test" {
		t.Errorf("%s %s %q %v", got.Method, got.URL, body, got.Header)
	}
	if r.Outputs["id"] != "12345678901234567890" || r.Outputs["tags"] != "a\nb" || r.Outputs["c"] != "true" ||
		r.Outputs["status"] != "201" || r.Outputs["durationMs"] == "" {
		t.Errorf("%q", r.Outputs)
	}
	if _, found := r.Outputs["none"]; found {
		t.Errorf("%q", r.Outputs)
	}
	for _, want := range []string{"> POST /v1/2026-12-01 HTTP/1.1\n", "> Content-Type: application/json\n",
		"< HTTP/1.1 201 Created\n", "< X-Answer: yes\n"} {
		if !strings.Contains(out.exchange.String(), want) {
			t.Errorf("the exchange lacks %q:\n%s", want, &out.exchange)
		}
	}
	if !strings.HasPrefix(out.body.String(), `{"id": 1234`) {
		t.Errorf("%s", &out.body)
	}
}

func TestRun_HeadersOfTheJobComeFirst(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header.Get("Idempotency-Key"), r.Header["Carillon-Fence"])
	})
	r, out := send(t, local(), Task{Key: "k", Fence: 1},
		`{"url": "%s", "headers": {"idempotency-key": "own", "Carillon-Fence": "2"}}`, url)
	if r.Code != "" || out.body.String() != "own[2]" {
		t.Errorf("%+v %s", r, &out.body)
	}
}

func TestRun_ExitCodes(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/broken":
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
				_ = c.Close()
			}
		case "/garbage":
			c, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				fmt.Fprint(c, "\x16\x03\x01 what\r\n\r\n")
				_ = c.Close()
			}
		case "/headers":
			w.Header().Set("X-Long", strings.Repeat("a", maxHeader))
		case "/503":
			w.WriteHeader(http.StatusServiceUnavailable)
		case "/endless":
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 4096))
			}
		default:
			fmt.Fprint(w, `{"ok": true}`)
		}
	})
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String()
	_ = closed.Close()
	for name, c := range map[string]struct {
		with string
		exit int
		code string
	}{
		"as expected":         {`{"url": "` + url + `", "expect": {"contains": "\"ok\""}}`, 0, ""},
		"other body":          {`{"url": "` + url + `", "expect": {"contains": "fail"}}`, 1, "http_body"},
		"unexpected status":   {`{"url": "` + url + `/503"}`, 22, "http_status"},
		"expected status":     {`{"url": "` + url + `/503", "expect": {"status": [503]}}`, 0, ""},
		"no connection":       {`{"url": "` + nobody + `"}`, 7, "http_connect"},
		"endless body":        {`{"url": "` + url + `/endless", "expect": {"maxBody": "64KiB"}}`, 63, "http_too_large"},
		"endless, default":    {`{"url": "` + url + `/endless"}`, 63, "http_too_large"},
		"half a body":         {`{"url": "` + url + `/broken"}`, 56, "http_receive"},
		"not HTTP":            {`{"url": "` + url + `/garbage"}`, 56, "http_receive"},
		"endless headers":     {`{"url": "` + url + `/headers"}`, 56, "http_receive"},
		"TLS to plain":        {`{"url": "` + strings.Replace(url, "http:", "https:", 1) + `"}`, 35, "http_tls"},
		"invalid settings":    {`{"url": "` + url + `", "x": 1}`, 0, "with_refused"},
		"secret not there":    {`{"url": "` + url + `", "headers": {"A": "secret:missing"}}`, 0, "with_refused"},
		"invalid certificate": {`{"url": "` + url + `", "tls": {"ca": "no PEM"}}`, 0, "with_refused"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, _ := send(t, local(), Task{}, "%s", c.with)
			if r.ExitCode != c.exit || r.Code != c.code || r.Refused != (c.code == "with_refused") {
				t.Errorf("%+v, want %d %s", r, c.exit, c.code)
			}
		})
	}
}

func TestRun_Certificates(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(s.Close)
	if r, _ := send(t, local(), Task{}, `{"url": "%s"}`, s.URL); r.ExitCode != ExitCertificate ||
		r.Code != "http_certificate" {
		t.Errorf("unknown authority: %+v", r)
	}
	ca := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}))
	task := Task{Values: request.Values{Secrets: map[string]string{"tls.ca": ca}}}
	if r, _ := send(t, local(), task, `{"url": "%s", "tls": {"ca": "secret:internal-ca"}}`, s.URL); r.Code != "" {
		t.Errorf("its own authority: %+v", r)
	}
	old := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	old.TLS = &tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}
	old.StartTLS()
	t.Cleanup(old.Close)
	outdated := `{"url": "%s", "tls": {"ca": "secret:internal-ca"}}`
	if r, _ := send(t, local(), task, outdated, old.URL); r.ExitCode != ExitTLS {
		t.Errorf("TLS 1.1: %+v", r)
	}
}

func TestRun_NoProxyOfTheEnvironment(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	url := serve(t, func(http.ResponseWriter, *http.Request) {})
	if r, _ := send(t, local(), Task{}, `{"url": "%s"}`, url); r.Code != "" {
		t.Errorf("%+v", r)
	}
}

func TestRun_PrivateAddressesAreRefused(t *testing.T) {
	var calls atomic.Int32
	url := serve(t, func(http.ResponseWriter, *http.Request) { calls.Add(1) })
	for _, u := range []string{url, strings.Replace(url, "127.0.0.1", "localhost", 1),
		strings.Replace(url, "127.0.0.1", "[::ffff:127.0.0.1]", 1)} {
		r, _ := send(t, Config{}, Task{}, `{"url": "%s"}`, u)
		if r.ExitCode != ExitConnect || r.Code != "http_address" {
			t.Errorf("%s: %+v", u, r)
		}
	}
	if calls.Load() > 0 {
		t.Errorf("%d requests arrived", calls.Load())
	}
}

// resolver answers each query for an IPv4 address with the next address, and the last one again.
func resolver(t *testing.T, addresses ...string) *net.Resolver {
	t.Helper()
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		buf := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(buf)
			if err != nil {
				return
			}
			end := 12
			for end < n && buf[end] != 0 {
				end += int(buf[end]) + 1
			}
			question := buf[12 : end+5]
			answer := append([]byte{buf[0], buf[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
			if question[len(question)-3] == 1 && len(addresses) > 0 { // A
				answer[7] = 1
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				answer = append(answer, netip.MustParseAddr(addresses[0]).AsSlice()...)
				if len(addresses) > 1 {
					addresses = addresses[1:]
				}
			}
			if len(addresses) == 0 {
				answer[3] = 0x83 // no such name
			}
			_, _ = server.WriteTo(answer, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}

func TestRun_NameThatChangesItsAddress(t *testing.T) {
	var calls atomic.Int32
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		http.Redirect(w, r, "/again", http.StatusFound)
	})
	_, port, _ := strings.Cut(strings.TrimPrefix(url, "http://"), ":")
	// The first lookup leads to an address that is allowed, the next ones to the same server at one that is not.
	cfg := Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Resolver: resolver(t, "127.0.0.1", "127.0.0.2")}
	r, _ := send(t, cfg, Task{}, `{"url": "http://rebind.example.:%s/", "redirects": 1, "method": "POST"}`, port)
	if r.ExitCode != ExitConnect || r.Code != "http_address" || calls.Load() != 1 {
		t.Errorf("%+v after %d requests", r, calls.Load())
	}
}

func TestRun_NoSuchHost(t *testing.T) {
	r, _ := send(t, Config{Allow: loopback, Resolver: resolver(t)}, Task{}, `{"url": "http://none.example./"}`)
	if r.ExitCode != ExitHost || r.Code != "http_host" {
		t.Errorf("%+v", r)
	}
}

func TestRun_Redirects(t *testing.T) {
	type seen struct{ method, path, host, auth, private, cookie, body string }
	var mu sync.Mutex
	var all []seen
	note := func(r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, seen{r.Method, r.URL.Path, r.Host, r.Header.Get("Authorization"), r.Header.Get("X-Key"),
			r.Header.Get("Cookie"), string(data)})
	}
	other := serve(t, func(w http.ResponseWriter, r *http.Request) { note(r) })
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		note(r)
		to, status := r.URL.Query().Get("to"), http.StatusFound
		if r.URL.Query().Get("keep") != "" {
			status = http.StatusTemporaryRedirect
		}
		switch {
		case to == "loop":
			http.Redirect(w, r, r.URL.String(), status)
		case to != "":
			http.Redirect(w, r, to, status)
		}
	})
	secret := func() Task {
		secrets := map[string]string{"headers.Authorization": "a", "headers.X-Key": "k", "body": "sealed"}
		return Task{Values: request.Values{Secrets: secrets}}
	}
	headers := `"headers": {"Authorization": "secret:a", "X-Key": "secret:k", "Cookie": "c"}`
	for name, c := range map[string]struct {
		with     string
		exit     int
		requests int
		last     seen
	}{
		"none by default": {`"url": "` + url + `/?to=/x"`, 22, 1, seen{"GET", "/", "", "a", "k", "c", ""}},
		"same host": {`"url": "` + url + `/?to=/x", "redirects": 1`, 0, 2,
			seen{"GET", "/x", "", "a", "k", "c", ""}},
		"other host": {`"url": "` + url + `/?to=` + other + `/y", "redirects": 1`, 0, 2,
			seen{"GET", "/y", "", "", "", "", ""}},
		"other scheme": {`"url": "` + url + `/?to=https://127.0.0.1:1/", "redirects": 1`, 22, 1,
			seen{"GET", "/", "", "a", "k", "c", ""}},
		"file": {`"url": "` + url + `/?to=file:///etc/passwd", "redirects": 1`, 22, 1,
			seen{"GET", "/", "", "a", "k", "c", ""}},
		"loop": {`"url": "` + url + `/?to=loop", "redirects": 3`, 22, 4,
			seen{"GET", "/", "", "a", "k", "c", ""}},
		"POST becomes GET": {`"url": "` + url + `/?to=/x", "redirects": 1, "method": "POST", "body": "b"`, 0, 2,
			seen{"GET", "/x", "", "a", "k", "c", ""}},
		"POST is kept": {`"url": "` + url + `/?keep=1&to=/x", "redirects": 1, "method": "POST", "body": "b"`, 0, 2,
			seen{"POST", "/x", "", "a", "k", "c", "b"}},
		"secret body, other host": {`"url": "` + url + `/?keep=1&to=` + other + `/y", "redirects": 1, ` +
			`"method": "POST", "body": "secret:b"`, 22, 1, seen{"POST", "/", "", "a", "k", "c", "sealed"}},
	} {
		all = nil
		task := secret()
		if !strings.Contains(c.with, `"secret:b"`) {
			delete(task.Values.Secrets, "body")
		}
		r, _ := send(t, local(), task, "{%s, %s}", c.with, headers)
		if r.ExitCode != c.exit || len(all) != c.requests {
			t.Errorf("%s: %+v after %d requests, want %d after %d", name, r, len(all), c.exit, c.requests)
			continue
		}
		last := all[len(all)-1]
		last.host = ""
		if last != c.last {
			t.Errorf("%s: %+v, want %+v", name, last, c.last)
		}
	}
}

// A server that closes a connection must not make a request with an effect be sent twice.
func TestRun_SendsAnEffectOnce(t *testing.T) {
	var calls atomic.Int32
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		if c, _, err := w.(http.Hijacker).Hijack(); err == nil {
			_ = c.Close()
		}
	})
	client := New(local())
	t.Cleanup(client.Close)
	for n := range 3 {
		task := Task{With: common.With{"url": url, "method": "POST"}, Key: "k"}
		r := client.Run(t.Context(), task, func(common.Stream, []byte) {})
		if r.ExitCode != ExitReceive || int(calls.Load()) != n+1 {
			t.Errorf("%+v after %d requests, want %d", r, calls.Load(), n+1)
		}
	}
}

// Requests that get no response, and those whose body never ends, end with their context.
func TestRun_EndsWithItsContext(t *testing.T) {
	release, begun := make(chan struct{}), make(chan struct{}, 2)
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			fmt.Fprint(w, "first")
			w.(http.Flusher).Flush()
		}
		begun <- struct{}{}
		<-release
	})
	t.Cleanup(func() { close(release) })
	client := New(local())
	t.Cleanup(client.Close)
	for _, path := range []string{"/headers", "/body"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		out := &printed{bodyHasBegun: make(chan struct{})}
		ended := make(chan Result, 1)
		go func() {
			ended <- client.Run(ctx, Task{With: common.With{"url": url + path}}, out.print)
		}()
		<-begun
		if path == "/body" {
			<-out.bodyHasBegun
		}
		cancel(errors.New("killed"))
		select {
		case r := <-ended:
			if r.ExitCode != ExitTimeout {
				t.Errorf("%s: %+v", path, r)
			}
		case <-time.After(20 * time.Second):
			t.Fatalf("%s: the request did not end", path)
		}
	}
}
