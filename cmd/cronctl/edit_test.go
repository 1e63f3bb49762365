package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"carillon/internal/common"
)

// editing calls edit with an editor that is a shell script; "$1" is the file.
func (s *stage) editing(script string, environ ...string) result {
	s.t.Helper()
	editor := file(s.t, "editor", "#!/bin/sh\n"+script+"\n")
	if err := os.Chmod(editor, 0o700); err != nil {
		s.t.Fatal(err)
	}
	environ = append([]string{"CARILLON_SERVER=" + s.server.URL, "CARILLON_TOKEN=" + goodToken, "EDITOR=" + editor},
		environ...)
	return s.runWith(environ, "edit", "job", "hello")
}

func TestEdit(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	left := func() string {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(os.TempDir(), "cronctl-*", "*"))
		if err != nil || len(files) > 1 {
			t.Fatal(files, err)
		}
		if len(files) == 0 {
			return ""
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Dir(files[0])); err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	s := newStage(t)
	s.run("create", "job", "hello", "--cron", "@daily", "--", "echo one").want(t, exitOK)
	writes := s.writes
	s.editing(`grep -q 'name: hello' "$1"`).want(t, exitOK, "nothing was changed")
	s.editing(`: > "$1"`).want(t, exitOK, "nothing was changed")
	s.editing(`sed -i s/one/two/ "$1"; exit 1`).want(t, exitUsage, "failed")
	if s.writes != writes {
		t.Error("it was written")
	}
	s.editing(`sed -i 's/echo one/echo two/' "$1"`).want(t, exitOK, "saved hello")
	if got := s.jobs["hello"].Command; got != "echo two" {
		t.Errorf("stored %q", got)
	}
	// The faults stand at the top when it opens again.
	s.editing(
		`if grep -q '^# .*cronExpr' "$1"; then sed -i 's/@often/@hourly/' "$1"; else sed -i 's/@daily/@often/' "$1"; fi`).want(t, exitOK, "saved hello")
	if got := s.jobs["hello"].CronExpr; got != "@hourly" {
		t.Errorf("stored %q", got)
	}
	if text := left(); text != "" {
		t.Errorf("there is left: %s", text)
	}
	s.editing(`sed -i 's/@hourly/@often/' "$1"`).want(t, exitUsage, "cronExpr", "your text is in")
	if text := left(); !strings.Contains(text, "@often") {
		t.Errorf("there is left: %s", text)
	}
	s.editing(`sed -i 's/name: hello/name: other/' "$1"`).want(t, exitUsage, "cannot be changed")
	left()
	// Another user was faster.
	raced := s.between(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			if _, err := s.edit(r.Context(), "hello", func(j *common.Job) { j.Title = "x" }); err != nil {
				t.Error(err)
			}
		}
		next.ServeHTTP(w, r)
	})
	s.editing(`sed -i 's/echo two/echo three/' "$1"`, raced...).want(t, exitConflict, "conflict: hello was changed",
		"your text is in")
	if text := left(); !strings.Contains(text, "echo three") {
		t.Errorf("there is left: %s", text)
	}
	if got := s.jobs["hello"].Command; got != "echo two" {
		t.Errorf("stored %q", got)
	}
}

func TestSaves_SendTheReason(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := newStage(t)
	var mu sync.Mutex
	var notes []string
	environ := s.between(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if note := r.URL.Query().Get("note"); note != "" {
			mu.Lock()
			notes = append(notes, r.Method+" "+note)
			mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
	file := filepath.Join(t.TempDir(), "job.json")
	if err := os.WriteFile(file, []byte(`{"name":"hello","command":"echo three"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	environ = append(environ, "EDITOR=sed -i s/three/four/")
	for _, args := range [][]string{
		{"create", "job", "hello", "--note", "created", "--", "echo one"},
		{"create", "job", "hello", "--replace", "--note", "replaced", "--", "echo two"},
		{"apply", "-f", file, "--note", "applied"},
		{"edit", "job", "hello", "--note", "edited"},
	} {
		s.runWith(environ, args...).want(t, exitOK)
	}
	if want := []string{"POST created", "PUT replaced", "POST applied", "PUT edited"}; !slices.Equal(notes, want) {
		t.Errorf("%v", notes)
	}
}
