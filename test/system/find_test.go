package system

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// holding tells in which files below a folder a text stands.
func holding(t *testing.T, dir, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// runJob runs a job to its end and gives the run's id.
func (a *api) runJob(name string) string {
	a.t.Helper()
	var accepted struct{ Run string }
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+name+"/run", map[string]string{}, &accepted)
	eventually(a.t, "the run has ended", func() bool {
		var now run
		status, err := a.try(http.MethodGet, "/api/v1/runs/"+accepted.Run, nil, &now)
		return err == nil && status == http.StatusOK && (now.Status == "succeeded" || now.Status == "failed")
	})
	return accepted.Run
}

type found struct {
	Items []struct {
		Run     run
		Matches []struct{ Before, Text, After string }
	}
	Complete bool
	Scanned  struct{ Runs int }
}

// A secret that the settings name is nowhere but where it was: not in the answers, not in the
// folder of data, not in the log. One that is changed is masked from the next run on.
func TestSecretsStayOnTheWorker(t *testing.T) {
	t.Parallel()
	const first, second = "correct-horse-battery", "staple-staple-staple"
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "db")
	keep := func(secret string) {
		if err := os.WriteFile(file, []byte(secret+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	keep(first)
	p, a := standalone(t, dir, "--secrets", "db="+file, "--log-level", "debug")
	// It is printed whole, in two writes, and as what could not be found.
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "blabber",
		"command": `s=$(cat ` + file +
			`); echo "password: $s!"; printf %.7s "$s" >&2; sleep 0.3; printf '%s\n' "${s#???????}" >&2; cd "/$s"; exit 3`}, nil)
	for _, secret := range []string{first, second} {
		keep(secret)
		id := a.runJob("blabber")
		var output string
		eventually(t, "the output is stored", func() bool { // the outcome may come before it
			status, err := a.try(http.MethodGet, "/api/v1/runs/"+id+"/output", nil, &output)
			return err == nil && status == http.StatusOK && strings.Count(output, "\n") == 3
		})
		if !strings.Contains(output, "password: [secret:db]!\n") || strings.Count(output, "[secret:db]") < 3 ||
			strings.Contains(output, secret) {
			t.Errorf("printed: %q", output)
		}
		var hits found
		a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/search?q="+url.QueryEscape(secret), nil, &hits)
		if len(hits.Items) != 0 || !hits.Complete || hits.Scanned.Runs == 0 {
			t.Errorf("it is found: %+v", hits)
		}
		a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/search?q="+url.QueryEscape("password: [secret:db]!"),
			nil, &hits)
		if len(hits.Items) == 0 || hits.Items[0].Run.ID != id {
			t.Errorf("its replacement is not found: %+v", hits)
		}
	}
	if code := p.end(syscall.SIGTERM); code != 0 {
		t.Fatalf("stopped with %d", code)
	}
	for _, secret := range []string{first, second} {
		if files := holding(t, dir, secret); len(files) > 0 {
			t.Errorf("it stands in %q", files)
		}
		if strings.Contains(p.Text(), secret) {
			t.Error("it stands in the log")
		}
	}
	if files := holding(t, dir, "[secret:db]"); len(files) == 0 {
		t.Error("the folder was not looked at")
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	refused := start(t, "carillon-standalone", "--data-dir", dir, "--listen", freePort(t), "--secrets", "db="+file)
	if code := refused.exit(); code != 78 || !strings.Contains(refused.Text(), "secrets.db") ||
		strings.Contains(refused.Text(), second) {
		t.Errorf("with a file that all users may read it ended with %d: %s", code, refused.Text())
	}
}

// What a run prints is found while it goes on.
func TestSearch_ActiveRun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, a := standalone(t, dir)
	gate := filepath.Join(t.TempDir(), "gate")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "talker",
		"command": `printf '\033[31mstep\033[0m one\nstep two\n'; while [ ! -e ` + gate +
			` ]; do sleep 0.05; done; printf 'step three'`}, nil)
	var accepted struct{ Run string }
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/talker/run", map[string]string{}, &accepted)
	path := "/api/v1/runs/" + accepted.Run + "/output"
	var in struct {
		Matches []struct {
			Offset, Length int64
			Text           string
		}
		NextOffset int64
		Complete   bool
	}
	eventually(t, "what is printed is found", func() bool {
		status, err := a.try(http.MethodGet, path+"/search?q=step+(one|two)&regex=true", nil, &in)
		return err == nil && status == http.StatusOK && len(in.Matches) == 2
	})
	if in.Complete || in.NextOffset != 27 || in.Matches[0].Text != "step one" || in.Matches[0].Offset != 5 ||
		in.Matches[0].Length != 12 {
		t.Errorf("%+v", in)
	}
	var hits found
	a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/search?q=STEP+ONE&job=talker", nil, &hits)
	if len(hits.Items) != 1 || hits.Items[0].Run.Status != "running" || !hits.Complete {
		t.Errorf("%+v", hits)
	}
	if err := os.WriteFile(gate, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the end is found", func() bool {
		status, err := a.try(http.MethodGet, path+"/search?q=three&offset=27", nil, &in)
		return err == nil && status == http.StatusOK && len(in.Matches) == 1 && in.Complete
	})
	var text string
	a.do(http.StatusOK, http.MethodGet, path+"?offset=32&limit=5", nil, &text)
	if in.Matches[0].Offset != 32 || text != "three" {
		t.Errorf("%+v, at its offset stands %q", in.Matches[0], text)
	}
	cli := start(t, "cronctl", "--server", a.base, "--token-file", filepath.Join(dir, "admin.token"), "search", "-E",
		"^step t", "--job", "talker")
	if code := cli.exit(); code != 0 || !strings.Contains(cli.Text(), "step two") ||
		!strings.Contains(cli.Text(), "step three") {
		t.Errorf("cronctl ended with %d: %s", code, cli.Text())
	}
}
