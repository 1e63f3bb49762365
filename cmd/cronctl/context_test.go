package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// home is a person without contexts: the environment, and where their file is.
func home(t *testing.T) (environ []string, file string) {
	dir := t.TempDir()
	return []string{"HOME=" + dir}, filepath.Join(dir, ".config", "carillon", "config.yaml")
}

func TestContexts(t *testing.T) {
	s := newStage(t)
	environ, path := home(t)
	s.stdin = goodToken + "\n"
	s.runWith(environ, "login", s.server.URL, "--token-file", "-", "--name", "first").want(t, exitOK, "signed in",
		"as ann", "first")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	s.runWith(environ, "create", "job", "hello", "--", "true").want(t, exitOK)
	s.runWith(environ, "get", "jobs").want(t, exitOK, "hello")
	s.runWith(environ, "login", s.server.URL, "--token", "viewer-token", "--name", "second").want(t, exitOK, "as vic")
	s.runWith(environ, "context", "list").want(t, exitOK, "first", "second", "*")
	s.runWith(environ, "delete", "job", "hello").want(t, exitDenied)
	s.runWith(environ, "context", "use", "first").want(t, exitOK)
	s.runWith(append(environ, "CARILLON_CONTEXT=second"), "delete", "job", "hello").want(t, exitDenied)
	s.runWith(environ, "--context", "second", "delete", "job", "hello").want(t, exitDenied)
	// A token in the environment is not meant by who names a context.
	s.runWith(append(environ, "CARILLON_TOKEN="+goodToken), "--context", "second", "delete", "job", "hello").want(t,
		exitDenied)
	s.runWith(environ, "--context", "third", "get", "jobs").want(t, exitNotFound, "third")
	s.runWith(environ, "--context", "first", "--server", s.server.URL, "get", "jobs").want(t, exitUsage)
	for _, format := range []string{"table", "json", "yaml"} {
		r := s.runWith(environ, "context", "show", "-o", format).want(t, exitOK, "first", s.server.URL)
		if strings.Contains(r.out, goodToken) {
			t.Errorf("%s shows the token: %s", format, r.out)
		}
	}
	s.runWith(environ, "delete", "job", "hello").want(t, exitOK)
	s.runWith(environ, "context", "delete", "first").want(t, exitOK)
	s.runWith(environ, "context", "show").want(t, exitNotFound)
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	s.runWith(environ, "get", "jobs").want(t, exitUsage, "other users can read", "chmod 600")
}

// A login that fails leaves nothing behind.
func TestLogin_Fails(t *testing.T) {
	s := newStage(t)
	environ, path := home(t)
	s.runWith(environ, "login", s.server.URL, "--token", "wrong").want(t, exitDenied)
	s.runWith(environ, "login", s.server.URL).want(t, exitUsage, "no terminal to ask")
	s.runWith(environ, "login", "127.0.0.1:7070", "--token", goodToken).want(t, exitUsage, "https://127.0.0.1:7070")
	s.runWith(environ, "login", "http://carillon.example.com", "--token", goodToken).want(t, exitDenied, "plain HTTP")
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("there is a file: %v", err)
	}
}

// A token goes to the server of its context, and the standalone's to this machine.
func TestTokensStayAtTheirServer(t *testing.T) {
	s := newStage(t)
	environ, _ := home(t)
	s.runWith(environ, "login", s.server.URL, "--token", goodToken).want(t, exitOK, "current context: local")
	var seen string
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Get("Authorization")
		w.WriteHeader(http.StatusTeapot)
	}))
	defer other.Close()
	s.runWith(environ, "--server", other.URL, "get", "jobs")
	if seen != "" {
		t.Errorf("another server saw %q", seen)
	}
	s.runWith(append(environ, "CARILLON_SERVER="+s.server.URL+"/"), "get", "jobs").want(t, exitOK)
	s.runWith(environ, "login", other.URL, "--token", "x").want(t, exitConflict, "another server", "--name")
	state := t.TempDir()
	if err := os.WriteFile(filepath.Join(state, "admin.token"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	environ = []string{"CARILLON_DATA_DIR=" + state}
	s.runWith(environ, "--server", other.URL, "get", "jobs")
	if seen != "Bearer secret" {
		t.Errorf("a server on this machine saw %q", seen)
	}
	c := &cli{env: environmentOf(environ), server: "https://carillon.example.com"}
	if to, err := c.destination(); err != nil || to.Token != "" {
		t.Errorf("another machine's server would see %q, %v", to.Token, err)
	}
}

func TestCompletion(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "hello", "--title", "每晚", "--", "true")
	s.run("create", "job", "help", "--", "true").want(t, exitOK)
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"run", "hel"}, []string{"hello\t每晚", "help"}},
		{[]string{"rollback", "hello", ""}, nil},
		{[]string{"delete", "jobs", "hello", ""}, []string{"help"}},
		{[]string{"get", "runs", "--job", ""}, []string{"hello", "help"}},
		{[]string{"drain", ""}, []string{"alpha\thost-a"}},
		{[]string{"get", "jobs", "-o", ""}, []string{"table", "yaml"}},
	} {
		r := s.run(append([]string{"__complete"}, c.args...)...).want(t, exitOK, c.want...)
		if strings.Contains(r.out, "\x1b") || len(c.want) == 0 && !strings.HasPrefix(r.out, ":") {
			t.Errorf("%q offers %q", c.args, r.out)
		}
	}
	s.server.Close()
	if r := s.run("__complete", "run", ""); !strings.HasPrefix(r.out, ":") {
		t.Errorf("a server that is away offers %q", r.out)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		s.run("completion", shell).want(t, exitOK, "cronctl")
	}
}
