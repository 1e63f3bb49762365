package webhook_test

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.uber.org/goleak"

	"carillon/internal/notify"
	"carillon/internal/notify/webhook"
	"carillon/internal/platform/netguard"
)

// proxy is an address without a listener, set in the environment. Go reads the environment once.
const proxy = "127.0.0.1:9"

func TestMain(m *testing.M) {
	_ = os.Setenv("HTTP_PROXY", "http://"+proxy)
	goleak.VerifyTestMain(m)
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

func sender(t *testing.T, allow []netip.Prefix, server *httptest.Server) *webhook.Sender {
	t.Helper()
	roots := x509.NewCertPool()
	if server != nil && server.Certificate() != nil {
		roots.AddCert(server.Certificate())
	}
	s := webhook.New(webhook.Config{Allow: allow, Roots: roots, Version: "test", Now: time.Now})
	t.Cleanup(s.Close)
	return s
}

func message() notify.Message {
	exit := 3
	return notify.Message{
		ID:      "msg_1",
		At:      time.Date(2026, 11, 21, 2, 30, 0, 0, time.UTC),
		Type:    "run.failed",
		Subject: "[Carillon] nightly failed (exit 3) on bell-1",
		Data: notify.Data{
			Event:    "failed",
			Job:      "nightly",
			Title:    "每晚报表",
			ExitCode: &exit,
			Output:   "no such <file>\n",
		},
	}
}

// The payload is verified with the specification's library.
func TestSigned(t *testing.T) {
	secret := notify.NewSecret()
	verify, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Type, Text string
		Timestamp  time.Time
		Data       notify.Data
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		if err := verify.Verify(data, r.Header); err != nil {
			t.Errorf("not verified: %v", err)
		}
		if err := json.Unmarshal(data, &got); err != nil {
			t.Error(err)
		}
		if r.Method != http.MethodPost || r.Header.Get("webhook-id") != "msg_1" ||
			r.Header.Get("Content-Type") != "application/json" || len(r.Cookies()) > 0 {
			t.Errorf("%s with %v", r.Method, r.Header)
		}
		http.SetCookie(w, &http.Cookie{Name: "track", Value: "1"})
		w.WriteHeader(http.StatusNoContent)
	}))
	defer server.Close()
	s := sender(t, loopback, server)
	for range 2 { // the cookie of the first answer does not come back
		if r := s.Send(t.Context(), notify.Channel{Kind: notify.KindWebhook}, notify.Target{
			URL:    server.URL + "/hook?token=canary",
			Secret: secret,
		}, message()); r.Err != nil || r.Answer != 204 {
			t.Fatalf("%+v", r)
		}
	}
	if got.Type != "run.failed" || got.Data.Job != "nightly" || *got.Data.ExitCode != 3 || got.Data.Title != "每晚报表" ||
		!got.Timestamp.Equal(message().At) || !strings.Contains(got.Text, "exit 3") {
		t.Errorf("arrived: %+v", got)
	}
}

func TestSend_StatusCodes_DecideTheRetry(t *testing.T) {
	var status atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(int(status.Load()))
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<20)) // as much as it likes
	}))
	defer server.Close()
	s := sender(t, loopback, nil)
	for _, c := range []struct {
		status int
		ok     bool
		gone   bool
	}{{200, true, false}, {202, true, false}, {301, false, false}, {400, false, false}, {404, false, false},
		{410, false, true}, {429, false, false}, {500, false, false}} {
		status.Store(int64(c.status))
		r := s.Send(t.Context(), notify.Channel{Kind: notify.KindWebhook},
			notify.Target{URL: server.URL, Secret: notify.NewSecret()}, message())
		if (r.Err == nil) != c.ok || r.Gone != c.gone || r.Final || r.Answer != c.status {
			t.Errorf("%d: %+v", c.status, r)
		}
		if !c.ok && r.RetryIn != 2*time.Minute {
			t.Errorf("%d: again in %v", c.status, r.RetryIn)
		}
	}
}

// Non-public addresses are not called, by any name or redirect.
func TestSend_NonPublicAddress_IsNotCalled(t *testing.T) {
	var called atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called.Add(1) }))
	defer server.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "http://"), ":")
	s := sender(t, nil, nil)
	for _, host := range []string{"127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0", "127.1",
		"169.254.169.254"} {
		r := s.Send(t.Context(), notify.Channel{Kind: notify.KindWebhook}, notify.Target{
			URL:    "http://" + host + ":" + port + "/",
			Secret: notify.NewSecret(),
		}, message())
		if r.Err == nil {
			t.Errorf("%s was called", host)
		}
		if host == "127.0.0.1" && (!errors.Is(r.Err, netguard.ErrAddress) || !r.Final) {
			t.Errorf("%s: %+v", host, r)
		}
	}
	if n := called.Load(); n > 0 {
		t.Errorf("it was called %d times", n)
	}
}

func TestRedirects(t *testing.T) {
	var other, landed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { other.Add(1) }))
	defer elsewhere.Close()
	var to atomic.Value
	var code atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/landed" {
			if r.Method != http.MethodPost || r.ContentLength <= 0 {
				t.Errorf("landed with %s and %d bytes", r.Method, r.ContentLength)
			}
			landed.Add(1)
			return
		}
		w.Header().Set("Location", to.Load().(string))
		w.WriteHeader(int(code.Load()))
	}))
	defer server.Close()
	s := sender(t, loopback, nil)
	_, port, _ := strings.Cut(strings.TrimPrefix(elsewhere.URL, "http://"), ":")
	for _, c := range []struct {
		name, to string
		code     int
		ok       bool
	}{
		{"same host, 308", "/landed", 308, true},
		{"same host, 307", "/landed", 307, true},
		{"302 would become a GET", "/landed", 302, false},
		{"another port", elsewhere.URL + "/", 307, false},
		{"another name", "http://localhost:" + port + "/", 307, false},
		{"for ever", "/again", 307, false},
		{"no http", "file:///etc/passwd", 307, false},
		{"nowhere", "http://%zz", 307, false},
	} {
		to.Store(c.to)
		code.Store(int64(c.code))
		r := s.Send(t.Context(), notify.Channel{Kind: notify.KindWebhook}, notify.Target{
			URL:    server.URL + "/first",
			Secret: notify.NewSecret(),
		}, message())
		if (r.Err == nil) != c.ok {
			t.Errorf("%s: %+v", c.name, r)
		}
	}
	if landed.Load() != 2 || other.Load() != 0 {
		t.Errorf("landed %d times, elsewhere %d times", landed.Load(), other.Load())
	}
}

// Errors are stored and logged: none contains the URL, which may hold a secret.
func TestErrorsKeepTheURL(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer server.Close()
	s := sender(t, loopback, nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		url  string
	}{{"an unknown certificate", t.Context(), server.URL + "/canary"},
		{"no listener", t.Context(), "http://127.0.0.1:1/canary"}, {"cancelled", ended, server.URL + "/canary"}} {
		r := s.Send(c.ctx, notify.Channel{Kind: notify.KindWebhook},
			notify.Target{URL: c.url, Secret: notify.NewSecret()}, message())
		if r.Err == nil || strings.Contains(r.Err.Error(), "canary") {
			t.Errorf("%s: %v", c.name, r.Err)
		}
	}
}

// The environment's proxy is not used.
func TestNoProxy(t *testing.T) {
	s := sender(t, loopback, nil)
	r := s.Send(t.Context(), notify.Channel{Kind: notify.KindWebhook}, notify.Target{
		URL:    "http://example.invalid/",
		Secret: notify.NewSecret(),
	}, message())
	if r.Err == nil || strings.Contains(r.Err.Error(), proxy) {
		t.Errorf("it went to the proxy: %+v", r)
	}
}
