package diff_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"carillon/internal/common"
	"carillon/internal/jobmgr/diff"
)

func TestUnified(t *testing.T) {
	before := common.Job{
		Name:     "backup",
		Title:    "每晚",
		CronExpr: "0 2 * * *",
		Command:  "set -e\ncd /srv\nmake backup\n",
		Env:      map[string]string{"A": "1", "B": "yes"},
	}
	after := before
	after.CronExpr, after.Command, after.Env = "30 2 * * *", "set -e\ncd /srv\nmake all\n", map[string]string{"A": "1"}
	got, err := diff.Unified("backup@3", "backup@4", &before, &after)
	want := `--- backup@3
+++ backup@4
@@ -1,10 +1,9 @@
 name: backup
 title: 每晚
-cronExpr: "0 2 * * *"
+cronExpr: "30 2 * * *"
 command: |
   set -e
   cd /srv
-  make backup
+  make all
 env:
   A: "1"
-  B: "yes"
`
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	fields, err := diff.Fields(&before, &after)
	if err != nil || fmt.Sprint(fields) != "[command cronExpr env]" {
		t.Error(fields, err)
	}
	if same, err := diff.Unified("a", "b", &before, &before); err != nil || same != "" {
		t.Errorf("of one job: %v %q", err, same)
	}
	made, err := diff.Unified("/dev/null", "b", nil, &common.Job{Name: "b", Command: "true"})
	if err != nil || made != "--- /dev/null\n+++ b\n@@ -0,0 +1,2 @@\n+name: b\n+command: \"true\"\n" {
		t.Errorf("%v %q", err, made)
	}
}

// The output is YAML that decodes to the same job.
func TestLinesAreYAML(t *testing.T) {
	for _, text := range []string{"x", "true", "No", "1", "-1", "a: b", "# c", "- d", "a #b", " lead", "trail ", "",
		"a\nb", "a\nb\n", "a\n\n", "\na\nb", " a\nb",
		"a\n b\n\n  c", "tab\tx\ny", "a\r\nb", "\x1b[31m\nb", "é\u2028b\nc", "*x", "&y", "!z", "%p", "@q", "`r", "{s",
		"[t", "| u", "> v", "a\n---\nb", "<&>", "~", "null", "0x1f", "1e3", ".inf", "=", "a  b"} {
		job := common.Job{
			Name:      "j",
			Command:   text,
			Args:      []string{text, "y"},
			Env:       map[string]string{"K": text},
			Labels:    map[string]string{"on": "off"},
			Placement: &common.Placement{Workers: []string{}},
			Retry:     &common.Retry{Max: 3},
		}
		lines, err := diff.Lines(&job)
		if err != nil {
			t.Fatal(err)
		}
		var read struct {
			Command string
			Args    []string
			Env     map[string]string
			Labels  map[string]string
			Retry   map[string]int
		}
		if err := yaml.Unmarshal([]byte(strings.Join(lines, "\n")+"\n"), &read); err != nil {
			t.Errorf("%q: %v\n%s", text, err, strings.Join(lines, "\n"))
			continue
		}
		if read.Command != text || read.Args[0] != text || read.Env["K"] != text || read.Labels["on"] != "off" ||
			read.Retry["max"] != 3 {
			t.Errorf("%q reads as %+v from\n%s", text, read, strings.Join(lines, "\n"))
		}
	}
}

// patch(1) applies the difference.
func TestUnified_IsAcceptedByPatch(t *testing.T) {
	if _, err := exec.LookPath("patch"); err != nil {
		t.Skip("there is no patch(1)")
	}
	dice := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		lines := make([]string, 1+dice.IntN(40))
		for i := range lines {
			lines[i] = fmt.Sprint("line ", dice.IntN(12))
		}
		return strings.Join(lines, "\n")
	}
	file := filepath.Join(t.TempDir(), "job")
	for range 30 {
		from, to := common.Job{Name: "j", Command: text()}, common.Job{Name: "j", Command: text()}
		patch, err := diff.Unified("job", "job", &from, &to)
		if err != nil {
			t.Fatal(err)
		}
		before, _ := diff.Lines(&from)
		after, _ := diff.Lines(&to)
		if err := os.WriteFile(file, []byte(strings.Join(before, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "patch", "-s", file)
		cmd.Stdin = strings.NewReader(patch)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, patch)
		}
		if got, _ := os.ReadFile(file); string(got) != strings.Join(after, "\n")+"\n" {
			t.Fatalf("%s\ngives\n%s", patch, got)
		}
	}
}

// For long definitions that have nothing in common the output is no larger than both of them.
func TestUnified_NothingInCommon_IsBounded(t *testing.T) {
	from := common.Job{Name: "j", Command: strings.Repeat("a\n", 30_000) + "x"}
	to := common.Job{Name: "j", Command: strings.Repeat("b\n", 30_000) + "y"}
	text, err := diff.Unified("a", "b", &from, &to)
	if err != nil || strings.Count(text, "\n-") != 30_001 || strings.Count(text, "\n+") != 30_001+1 { // and the name
		t.Error(err, strings.Count(text, "\n-"), strings.Count(text, "\n+"))
	}
}
