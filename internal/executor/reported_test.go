package executor_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"carillon/internal/common"
)

func TestOutputs_AreReadFromTheFilesOfTheRun(t *testing.T) {
	declared := map[string]common.Output{"day": {}, "rows": {Required: true}, "files": {List: true}, "none": {}}
	got, _ := run(t, newTask(common.Job{Outputs: declared, Command: `cd "$CARILLON_OUTPUT" && printf %s 2026-01-31 > day &&
echo 17 > rows && printf 'a b\nc\n' > files && echo x > undeclared`}))
	expect(t, got, common.StatusSucceeded, "")
	if want := map[string]string{"day": "2026-01-31", "rows": "17", "files": "a b\nc"}; !maps.Equal(got.Outputs, want) {
		t.Errorf("%q", got.Outputs)
	}
	failed, _ := run(t, newTask(common.Job{Outputs: declared, Command: `echo 1 > "$CARILLON_OUTPUT/day"; exit 3`}))
	expect(t, failed, common.StatusFailed, "exit_code")
	if failed.Outputs["day"] != "1" {
		t.Errorf("a failed run reports as well: %q", failed.Outputs)
	}
	_, out := run(t, shell(`env | grep CARILLON_OUTPUT || echo none`))
	if strings.TrimSpace(out.text()) != "none" {
		t.Errorf("a job without outputs has no folder: %s", out.text())
	}
}

func TestOutputs_Invalid_FailTheRun(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("canary"), 0o600); err != nil {
		t.Fatal(err)
	}
	big := `head -c 5000 /dev/zero | tr '\0' x > `
	for name, c := range map[string]struct {
		outputs        map[string]common.Output
		command, fault string
	}{
		"missing":     {map[string]common.Output{"a": {Required: true}}, `true`, "missing"},
		"too large":   {map[string]common.Output{"a": {}}, big + `a`, "too_large"},
		"endless":     {map[string]common.Output{"a": {}}, `ln -s /dev/zero a`, "not_a_file"},
		"a link":      {map[string]common.Output{"a": {}}, `ln -s ` + secret + ` a`, "not_a_file"},
		"a hard link": {map[string]common.Output{"a": {}}, `echo x > b && ln b a`, "not_a_file"},
		"a pipe":      {map[string]common.Output{"a": {}}, `mkfifo a`, "not_a_file"},
		"a folder":    {map[string]common.Output{"a": {}}, `mkdir a`, "not_a_file"},
		"no folder":   {map[string]common.Output{"a": {Required: true}}, `cd / && rm -r "$CARILLON_OUTPUT"`, "missing"},
		"a linked folder": {map[string]common.Output{"secret": {Required: true}},
			`cd / && rm -r "$CARILLON_OUTPUT" && ln -s ` + filepath.Dir(secret) + ` "$CARILLON_OUTPUT"`, "missing"},
		"not text":       {map[string]common.Output{"a": {}}, `printf '\377' > a`, "not_text"},
		"NUL":            {map[string]common.Output{"a": {}}, `printf 'a\0b' > a`, "not_text"},
		"too many items": {map[string]common.Output{"a": {List: true}}, `seq 10001 > a`, "too_many_items"},
		"a large list": {map[string]common.Output{"a": {List: true}},
			`head -c 140000 /dev/zero | tr '\0' x > a`, "too_large"},
		"together": {map[string]common.Output{"a": {}, "b": {}, "c": {}, "d": {}, "e": {}},
			`for f in a b c d e; do head -c 4096 /dev/zero | tr '\0' x > $f; done`, "too_large_together"},
	} {
		t.Run(name, func(t *testing.T) {
			got, _ := run(t, newTask(common.Job{Outputs: c.outputs, Command: `cd "$CARILLON_OUTPUT" && ` + c.command}))
			expect(t, got, common.StatusFailed, "outputs_invalid")
			if got.Reason.Data["fault"] != c.fault || strings.Contains(got.Outputs["a"], "canary") {
				t.Errorf("%+v, outputs %q", got.Reason, got.Outputs)
			}
		})
	}
	full, _ := run(t, newTask(common.Job{Outputs: map[string]common.Output{"a": {}, "l": {List: true}},
		Command: `cd "$CARILLON_OUTPUT" && head -c 4096 /dev/zero | tr '\0' x > a && echo >> a && seq 10000 > l`}))
	expect(t, full, common.StatusSucceeded, "")
	if len(full.Outputs["a"]) != common.MaxOutputValue || strings.Count(full.Outputs["l"], "\n") != 9999 {
		t.Errorf("the largest outputs: %d bytes, %d items", len(full.Outputs["a"]),
			strings.Count(full.Outputs["l"], "\n"))
	}
}
