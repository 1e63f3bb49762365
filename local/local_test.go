package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon"
	"carillon/local"
)

func open(t *testing.T, dir string) *local.Standalone {
	t.Helper()
	s, err := local.Open(dir, local.Log(slog.New(slog.NewTextHandler(t.Output(), nil))))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// ask sends a request to the API with the token of the apps, and decodes the answer.
func ask(t *testing.T, cfg carillon.Config, method, path, body string, answer any) (status int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, cfg.API.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if cfg.API.Token != "" {
		req.Header.Set("Authorization", "Bearer "+cfg.API.Token)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer != nil {
		if err := json.Unmarshal(text, answer); err != nil {
			t.Fatalf("%s: %s, %v", path, text, err)
		}
	}
	return resp.StatusCode
}

type run struct{ ID, Job, Status string }

// runs returns the runs of a job with a status, newest first.
func runs(t *testing.T, cfg carillon.Config, job, status string) []run {
	t.Helper()
	var page struct{ Items []run }
	path := "/api/v1/runs?status=" + status + "&job=" + job
	if code := ask(t, cfg, http.MethodGet, path, "", &page); code != http.StatusOK {
		t.Fatalf("runs of %s: status %d", job, code)
	}
	return page.Items
}

// await waits for a run of a job with a status, as long as the app runs.
func await(t *testing.T, cfg carillon.Config, job, status string, ended <-chan error) run {
	t.Helper()
	for {
		if found := runs(t, cfg, job, status); len(found) > 0 {
			return found[0]
		}
		select {
		case err := <-ended:
			t.Fatalf("no run of %s has the status %s, and the app has ended: %v", job, status, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// start runs an app with two functions, one after the other, and returns how to end it.
func start(t *testing.T, cfg carillon.Config) (ended <-chan error, stop func()) {
	t.Helper()
	app, err := carillon.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	fn := func(context.Context) error { return nil }
	app.Func("parent", "* * * * * * *", fn)
	app.Func("child", "", fn, carillon.After("demo.parent"))
	app.Handle("step", fn)
	app.Define(carillon.Job{Name: "demo.flow", CronExpr: "* * * * * * *",
		Steps: []carillon.Step{{Name: "only", Func: "step"}}})
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	go func() { result <- app.Run(ctx) }()
	return result, func() {
		t.Helper()
		cancel()
		if err := <-result; err != nil {
			t.Error(err)
		}
	}
}

func TestOpen_RunsAProgram_KeepsItsJobsAndHistory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	here := open(t, dir)
	cfg := here.Config("demo")
	ended, stop := start(t, cfg)
	child := await(t, cfg, "demo.child", "succeeded", ended)
	await(t, cfg, "demo.parent", "succeeded", ended)
	await(t, cfg, "demo.flow", "succeeded", ended)
	if _, err := local.Open(dir); !errors.Is(err, local.ErrInUse) {
		t.Errorf("a second Open: %v", err)
	}
	stop()
	if err := here.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-here.Done():
	default:
		t.Error("Done is open after Close")
	}

	again := open(t, dir)
	cfg = again.Config("demo")
	var job struct{ Job struct{ After []string } }
	if status := ask(t, cfg, http.MethodGet, "/api/v1/jobs/demo.child", "", &job); status != http.StatusOK {
		t.Errorf("the job: status %d", status)
	}
	found := false
	for _, r := range runs(t, cfg, "demo.child", "succeeded") {
		found = found || r == child
	}
	if !found {
		t.Errorf("the history does not contain %+v", child)
	}
	before := len(runs(t, cfg, "demo.parent", "succeeded"))
	ended, stop = start(t, cfg)
	for len(runs(t, cfg, "demo.parent", "succeeded")) == before {
		select {
		case err := <-ended:
			t.Fatalf("the app has ended: %v", err)
		case <-time.After(50 * time.Millisecond):
		}
	}
	stop()
}

// Apps are editors; people sign in as admins.
func TestOpen_CreatesTokens(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := open(t, dir)
	link, err := first.SignIn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	code, found := strings.CutPrefix(link, first.URL()+"/#login=")
	if !found {
		t.Fatal(link)
	}
	cfg := first.Config("demo")
	var program, session struct{ Role string }
	if ask(t, cfg, http.MethodGet, "/api/v1/auth/me", "", &program); program.Role != "editor" {
		t.Errorf("the token of apps has the role %q", program.Role)
	}
	if status := ask(t, carillon.Config{API: carillon.API{URL: first.URL()}}, http.MethodPost, "/api/v1/auth/login",
		`{"code":"`+code+`"}`, &session); status >= 300 || session.Role != "admin" {
		t.Errorf("the link: status %d, %+v", status, session)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := open(t, dir)
	old := cfg.API.Token
	cfg = second.Config("demo")
	if cfg.API.Token == old {
		t.Error("the token is that of the earlier process")
	}
	cfg.API.Token = old
	if status := ask(t, cfg, http.MethodGet, "/api/v1/jobs", "", nil); status != http.StatusUnauthorized {
		t.Errorf("the token of the earlier process: status %d", status)
	}
	if _, err := second.SignIn(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestOpen_InvalidOption_IsAnError(t *testing.T) {
	t.Parallel()
	for fault, option := range map[string]local.Option{
		"reachable from other machines": local.Listen("0.0.0.0:0"),
		"host:port":                     local.Listen("127.0.0.1"),
		"time zone":                     local.Timezone("Europe/Nowhere"),
	} {
		s, err := local.Open(t.TempDir(), option)
		if err == nil {
			_ = s.Close()
		}
		if err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v", fault, err)
		}
	}
}

// A failed Open leaves the folder unlocked.
func TestOpen_AddressInUse_CanBeRepeated(t *testing.T) {
	t.Parallel()
	first, dir := open(t, t.TempDir()), t.TempDir()
	if s, err := local.Open(dir, local.Listen(strings.TrimPrefix(first.URL(), "http://"))); err == nil {
		t.Error("two standalones have one address")
		_ = s.Close()
	}
	if err := open(t, dir).Close(); err != nil {
		t.Error(err)
	}
}
