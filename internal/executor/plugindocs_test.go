package executor_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/common"
)

// page returns the code blocks of a language on the page about types.
func page(t *testing.T, language string) (blocks []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/types.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n```"+language+"\n")[1:] {
		block, _, _ := strings.Cut(part, "\n```")
		blocks = append(blocks, block+"\n")
	}
	return blocks
}

// The plug-ins of the page pass the checks, and do what the page says.
func TestPlugInsOfTheDocumentation(t *testing.T) {
	for name, c := range map[string]struct {
		language string
		needs    []string
		with     func(dir string) common.With
		output   string
		want     string
		fails    func(dir string) common.With
	}{
		"disk": {"sh", []string{"jq", "df", "awk"},
			func(dir string) common.With { return common.With{"path": dir} }, "free", "percent free",
			func(string) common.With { return common.With{"path": "/nonexistent"} }},
		"sqlite": {"python", []string{"python3"},
			func(dir string) common.With {
				return common.With{"database": filepath.Join(dir, "x.db"), "statement": "select 1, 'two'"}
			}, "rows", "1\ttwo\n",
			func(dir string) common.With {
				return common.With{"database": filepath.Join(dir, "x.db"), "statement": "select * from missing"}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, program := range c.needs {
				if _, err := exec.LookPath(filepath.Join("/usr/bin", program)); err != nil {
					t.Skipf("this machine has no /usr/bin/%s", program)
				}
			}
			text := page(t, c.language)[0]
			if !strings.Contains(text, "carillon-type-"+name+":") {
				t.Fatalf("the page has another plug-in:\n%s", text)
			}
			dir := install(t, typesDir(t), name, text)
			x := newExecutor(t, withPlugIns(dir))
			for _, check := range x.CheckPlugIn(t.Context(), filepath.Join(dir, "carillon-type-"+name)) {
				if check.Problem != "" {
					t.Errorf("%s: %s", check.Name, check.Problem)
				}
			}
			declared := map[string]common.Output{c.output: {Required: true}}
			task := newTask(common.Job{Type: name, With: c.with(t.TempDir()), Outputs: declared})
			rec := record(t, task)
			run := x.Run(t.Context(), task, rec)
			if run.Status != common.StatusSucceeded && !strings.Contains(rec.text(), "percent free") { // a full disk
				t.Errorf("%s %+v: %s", run.Status, run.Reason, rec.text())
			}
			if !strings.Contains(rec.text(common.Stdout), c.want) || run.Outputs[c.output] == "" {
				t.Errorf("%q, %v", rec.text(), run.Outputs)
			}
			task = newTask(common.Job{Type: name, With: c.fails(t.TempDir())})
			run = x.Run(t.Context(), task, record(t, task))
			expect(t, run, common.StatusFailed, "exit_code")
		})
	}
}
