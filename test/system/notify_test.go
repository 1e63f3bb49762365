package system

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/emersion/go-smtp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// ears receive notifications: an HTTP server that verifies webhooks, and an SMTP server.
type ears struct {
	t      *testing.T
	hook   *httptest.Server
	post   *smtp.Server
	port   int
	secret string

	mu      sync.Mutex
	deaf    bool                // the webhook is answered with 503
	refused []string            // ids that were
	calls   map[string][]string // ids of webhooks by their type
	output  string              // that the first told of
	mails   []string            // subjects
}

func listen(t *testing.T) *ears {
	t.Helper()
	e := &ears{
		t:      t,
		calls:  map[string][]string{},
		secret: "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 32)),
	}
	verify, err := standardwebhooks.NewWebhook(e.secret)
	if err != nil {
		t.Fatal(err)
	}
	e.hook = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := verify.Verify(body, r.Header); err != nil {
			t.Errorf("webhook: %v", err)
		}
		var told struct {
			Type string
			Data struct{ Output string }
		}
		if err := json.Unmarshal(body, &told); err != nil {
			t.Errorf("webhook: %v", err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.deaf {
			e.refused = append(e.refused, r.Header.Get("webhook-id"))
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if e.output == "" {
			e.output = told.Data.Output
		}
		e.calls[told.Type] = append(e.calls[told.Type], r.Header.Get("webhook-id"))
	}))
	t.Cleanup(e.hook.Close)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e.port = l.Addr().(*net.TCPAddr).Port
	e.post = smtp.NewServer(smtp.BackendFunc(func(*smtp.Conn) (smtp.Session, error) { return &letter{ears: e}, nil }))
	served := make(chan struct{})
	go func() { defer close(served); _ = e.post.Serve(l) }()
	t.Cleanup(func() { _ = e.post.Close(); <-served })
	return e
}

// letter is a session of SMTP.
type letter struct{ ears *ears }

func (l *letter) Mail(string, *smtp.MailOptions) error { return nil }
func (l *letter) Rcpt(string, *smtp.RcptOptions) error { return nil }
func (l *letter) Reset()                               {}
func (l *letter) Logout() error                        { return nil }
func (l *letter) Data(r io.Reader) error {
	got, err := mail.ReadMessage(r)
	if err != nil {
		return err
	}
	l.ears.mu.Lock()
	defer l.ears.mu.Unlock()
	subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
	if err != nil {
		return err
	}
	l.ears.mails = append(l.ears.mails, subject)
	return nil
}

// heard is what came in so far.
func (e *ears) heard() (calls map[string][]string, mails []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	calls = map[string][]string{}
	for kind, ids := range e.calls {
		calls[kind] = slices.Clone(ids)
	}
	return calls, slices.Clone(e.mails)
}

// exactly checks that each of the kinds came in once, by webhook and by mail, and nothing else.
func (e *ears) exactly(when string, kinds map[string]string) {
	e.t.Helper()
	eventually(e.t, when, func() bool {
		calls, mails := e.heard()
		return len(calls) >= len(kinds) && len(mails) >= len(kinds)
	})
	calls, mails := e.heard()
	for kind, subject := range kinds {
		if len(calls[kind]) != 1 {
			e.t.Errorf("%s: webhooks of %s: %v, want one", when, kind, calls[kind])
		}
		if n := len(slices.DeleteFunc(slices.Clone(mails), func(s string) bool { return s != subject })); n != 1 {
			e.t.Errorf("%s: mails %q, want one %q", when, mails, subject)
		}
	}
	if len(calls) != len(kinds) || len(mails) != len(kinds) {
		e.t.Errorf("%s: heard %v and %q, want %v", when, calls, mails, kinds)
	}
}

// channels makes a channel of each kind.
func (e *ears) channels(a *api) {
	e.t.Helper()
	a.do(http.StatusCreated, http.MethodPut, "/api/v1/channels/hook", map[string]any{
		"kind":   "webhook",
		"url":    e.hook.URL + "/T0/canary-url",
		"secret": e.secret,
	}, nil)
	a.do(http.StatusCreated, http.MethodPut, "/api/v1/channels/ops", map[string]any{
		"kind": "mail",
		"to":   []string{"ops@example.com"},
	}, nil)
}

func (e *ears) settings() []string {
	return []string{"CARILLON_SMTP_HOST=127.0.0.1", "CARILLON_SMTP_PORT=" + strconv.Itoa(e.port),
		"CARILLON_SMTP_FROM=carillon@example.com", "CARILLON_SMTP_TLS=none",
		"CARILLON_NOTIFY_ALLOW=127.0.0.0/8", "CARILLON_PUBLIC_URL=https://carillon.example.com"}
}

// frail is a job that fails until a file is there, and asks to tell of it.
func frail(a *api, name, gate string) {
	a.t.Helper()
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":    name,
		"title":   "每晚报表",
		"command": "echo no such gate; [ -e " + gate + " ]",
		"notify": map[string]any{
			"on": []string{"failed", "missed", "lost", "late", "recovered"},
			"to": []string{"hook", "ops"},
		},
	}, nil)
}

func runAndWait(a *api, job, want string) {
	a.t.Helper()
	before := a.count("job="+job, status(want))
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+job+"/run", map[string]any{}, nil)
	eventually(a.t, job+" has "+want, func() bool { return a.count("job="+job, status(want)) == before+1 })
}

// A job fails twice and recovers: each is notified once, by webhook and by
// mail, although the master that tells is killed on the way.
func TestNotifications(t *testing.T) {
	t.Parallel() // it mostly waits
	e := listen(t)
	c := newCluster(t)
	environ := append(e.settings(), "CARILLON_SECRETS_KEY="+
		base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("s"), 32)))
	master := func() (*process, *api) {
		address := freePort(t)
		p := launchWith(t, environ, "carillon-master", filepath.Join(bin, "carillon-master"),
			c.flags("--listen", address, "--log-level", "debug")...)
		return p, &api{t: t, base: "http://" + address}
	}
	first, a := master()
	a.token = c.bootstrap()
	eventually(t, "the master is ready", a.ready)
	c.worker("east")
	e.channels(a)
	gate := filepath.Join(c.dir, "gate")
	frail(a, "nightly", gate)
	eventually(t, "the first master is elected", func() bool { return strings.Contains(first.Text(), "elected") })
	second, b := master() // stands by
	b.token = a.token
	eventually(t, "the second master is ready", b.ready)

	runAndWait(a, "nightly", "failed")
	runAndWait(a, "nightly", "failed")
	failed := map[string]string{"run.failed": "[Carillon] 每晚报表 (nightly) failed (exit 1) on east"}
	e.exactly("it has failed", failed)
	if e.output != "no such gate\n" {
		t.Errorf("the end of the output is %q", e.output)
	}

	// The notifying master is killed while deliveries fail; the other one continues with the rest.
	e.mu.Lock()
	e.deaf = true
	e.mu.Unlock()
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	runAndWait(b, "nightly", "succeeded")
	eventually(t, "the webhook is tried", func() bool { e.mu.Lock(); defer e.mu.Unlock(); return len(e.refused) > 0 })
	// A mail whose sending was not noted yet would be sent again.
	eventually(t, "the mail is noted as sent", func() bool {
		var log struct {
			Items []struct{ Channel, Status, Event string }
		}
		b.do(http.StatusOK, http.MethodGet, "/api/v1/deliveries?job=nightly", nil, &log)
		return slices.ContainsFunc(log.Items, func(d struct{ Channel, Status, Event string }) bool {
			return d.Channel == "ops" && d.Event == "recovered" && d.Status == "sent"
		})
	})
	if code := first.end(syscall.SIGKILL); code != -1 {
		t.Fatalf("the master was killed, but ended with %d", code)
	}
	e.mu.Lock()
	e.deaf = false
	e.mu.Unlock()
	recovered := map[string]string{
		"run.failed":    failed["run.failed"],
		"run.recovered": "[Carillon] 每晚报表 (nightly) has recovered",
	}
	e.exactly("it has recovered", recovered)
	calls, _ := e.heard()
	if e.refused[0] != calls["run.recovered"][0] {
		t.Errorf("tried as %s, told as %s", e.refused[0], calls["run.recovered"][0])
	}

	// A run that ends while no master is elected is notified by the next one.
	if err := os.Remove(gate); err != nil {
		t.Fatal(err)
	}
	frail(b, "other", gate)
	second.end(syscall.SIGKILL)
	third, a := master()
	a.token = b.token
	eventually(t, "the third master is ready", a.ready)
	runAndWait(a, "other", "failed")
	_ = third
	eventually(t, "the other job's failure is notified", func() bool {
		calls, mails := e.heard()
		return len(calls["run.failed"]) == 2 && len(mails) == 3
	})

	// The log of deliveries has all of it, and a test goes out at once.
	var log struct {
		Items []struct{ Status, Event, Job string }
	}
	a.do(http.StatusOK, http.MethodGet, "/api/v1/deliveries?job=nightly", nil, &log)
	if len(log.Items) != 4 || slices.ContainsFunc(log.Items, func(d struct{ Status, Event, Job string }) bool {
		return d.Status != "sent"
	}) {
		t.Errorf("deliveries: %+v", log.Items)
	}
	a.do(http.StatusOK, http.MethodPost, "/api/v1/channels/hook/test", nil, nil)
	if calls, _ := e.heard(); len(calls["channel.test"]) != 1 {
		t.Errorf("the test was heard %d times", len(calls["channel.test"]))
	}
	// A channel that does not exist is reported in the log of deliveries.
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":    "astray",
		"command": "false",
		"notify":  map[string]any{"on": []string{"failed"}, "to": []string{"nowhere"}},
	}, nil)
	runAndWait(a, "astray", "failed")
	eventually(t, "the delivery says that the channel is not there", func() bool {
		var log struct {
			Items []struct{ Status, Code string }
		}
		a.do(http.StatusOK, http.MethodGet, "/api/v1/deliveries?job=astray", nil, &log)
		return len(log.Items) == 1 && log.Items[0].Status == "failed" && log.Items[0].Code == "channel_unknown"
	})
	// Secrets are in no log, no answer and not in etcd.
	for _, p := range []*process{first, second, third} {
		if text := p.Text(); strings.Contains(text, "canary-url") || strings.Contains(text, e.secret) {
			t.Error("a secret is in a log")
		}
	}
	var answers strings.Builder
	for _, path := range []string{"/api/v1/channels", "/api/v1/channels/hook", "/api/v1/deliveries"} {
		var text string
		a.do(http.StatusOK, http.MethodGet, path, nil, &text)
		answers.WriteString(text)
	}
	if strings.Contains(answers.String(), "canary-url") || strings.Contains(answers.String(), e.secret) {
		t.Errorf("a secret is in %s", answers.String())
	}
	files, err := filepath.Glob(filepath.Join(c.dir, "etcd", "member", "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of etcd: %v", err)
	}
	for _, file := range files {
		if data, err := os.ReadFile(file); err == nil &&
			(bytes.Contains(data, []byte("canary-url")) || bytes.Contains(data, []byte(e.secret))) {
			t.Errorf("a secret is in %s", file)
		}
	}
}

// The standalone makes its own key, and tells as well.
func TestNotificationsOfTheStandalone(t *testing.T) {
	t.Parallel() // it mostly waits
	e := listen(t)
	dir := t.TempDir()
	address := freePort(t)
	begin := func() (*process, *api) {
		p := launchWith(t, e.settings(), "carillon-standalone", filepath.Join(bin, "carillon-standalone"), "--data-dir",
			dir, "--listen", address, "--name", "bell-1")
		a := &api{t: t, base: "http://" + address}
		eventually(t, "the standalone is ready", func() bool {
			token, err := os.ReadFile(filepath.Join(dir, "admin.token"))
			a.token = strings.TrimSpace(string(token))
			return err == nil && a.token != "" && a.ready()
		})
		return p, a
	}
	p, a := begin()
	e.channels(a)
	if info, err := os.Stat(filepath.Join(dir, "secrets.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("secrets.key: %v, %v", info, err)
	}
	gate := filepath.Join(dir, "gate")
	frail(a, "nightly", gate)
	runAndWait(a, "nightly", "failed")
	runAndWait(a, "nightly", "failed")
	e.exactly("it has failed", map[string]string{"run.failed": "[Carillon] 每晚报表 (nightly) failed (exit 1) on bell-1"})
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("it stopped with %d", code)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, a = begin() // the key is the same, the trouble known
	runAndWait(a, "nightly", "succeeded")
	e.exactly("it has recovered", map[string]string{
		"run.failed":    "[Carillon] 每晚报表 (nightly) failed (exit 1) on bell-1",
		"run.recovered": "[Carillon] 每晚报表 (nightly) has recovered",
	})
}
