package executor_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/inside"
)

// document describes the type echo, whose run prints its input, its arguments and its environment.
const document = `{"protocol": 1, "name": "echo", "version": "1.0", "with": {"type": "object", "required": ["text"],
 "additionalProperties": false, "properties": {"text": {"type": "string", "maxLength": 60, "x-secret": true},
 "verb": {"enum": ["later", "usage", "signal"]}}}, "outputs": ["size"]}`

const echo = `#!/bin/sh
case $1 in
describe) env | grep -v '^PWD=' | grep -v '^_=' | grep -v '^SHLVL=' >&2
	printf '%s' '` + document + `' ;;
run)
	input=$(cat)
	printf '%s\n' "$input"
	tr '\0' ' ' </proc/$$/cmdline; echo
	env | sort
	if [ -n "${CARILLON_OUTPUT:-}" ]; then printf %s "${#input}" >"$CARILLON_OUTPUT/size"; fi
	case $input in *'"later"'*) exit 75 ;; *'"usage"'*) exit 64 ;; *'"signal"'*) trap '' TERM; sleep 300 ;; esac ;;
*) exit 64 ;;
esac
`

// install writes a plug-in into a folder that only this user may write, and returns the folder.
func install(t *testing.T, dir, name, text string) string {
	t.Helper()
	file := filepath.Join(dir, "carillon-type-"+name)
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file+".new", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil { // a file that is executed cannot be written
		t.Fatal(err)
	}
	return dir
}

// typesDir returns an empty folder for plug-ins.
func typesDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "types")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

func withPlugIns(dir string, allow ...string) func(*executor.Config) {
	return func(c *executor.Config) {
		c.PlugIns = executor.PlugIns{Dir: dir, Allow: allow, Trusted: uint32(os.Getuid())}
	}
}

func echoTask(with common.With, change ...func(*common.Job)) executor.Task {
	job := common.Job{Type: "echo", Group: "reports", With: with}
	for _, c := range change {
		c(&job)
	}
	return newTask(job)
}

func TestPlugIn_GetsItsInput(t *testing.T) {
	x := newExecutor(t, withPlugIns(install(t, typesDir(t), "echo", echo)))
	if types := x.Types(); types["echo"] != "1.0" || len(types) != 2 {
		t.Fatalf("%v", types)
	}
	task := echoTask(common.With{"text": "the ${DAY} of $$5"}, func(j *common.Job) {
		j.Params = common.Params{"DAY": {Default: "first"}}
		j.Outputs = map[string]common.Output{"size": {Required: true}}
		j.Timeout = "1h"
	})
	task.Interval = &common.Interval{Start: task.Record.PlannedAt.Add(-time.Hour), End: task.Record.PlannedAt}
	rec := record(t, task)
	run := x.Run(t.Context(), task, rec)
	expect(t, run, common.StatusSucceeded, "")
	line, rest, _ := strings.Cut(rec.text(common.Stdout), "\n")
	var in struct {
		Protocol int
		Run      map[string]any
		With     map[string]string
		Deadline time.Time
	}
	if err := json.Unmarshal([]byte(line), &in); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	if in.Protocol != 1 || in.With["text"] != "the first of $5" || in.Run["id"] != task.Record.Run ||
		in.Run["fire"] != task.Record.Fire || in.Run["job"] != "backup" || in.Run["attempt"] != 2.0 ||
		in.Run["fence"] != 4711.0 || in.Run["plannedAt"] == nil || in.Run["intervalStart"] == nil ||
		in.Deadline.IsZero() || in.Run["params"].(map[string]any)["DAY"] != "first" {
		t.Errorf("%s", line)
	}
	if !strings.Contains(rest, "carillon-type-echo run \n") || !strings.Contains(rest, "\nCARILLON_TYPE=echo\n") ||
		!strings.Contains(rest, "\nCARILLON_RUN_ID="+task.Record.Run+"\n") {
		t.Errorf("%s", rest)
	}
	if run.Outputs["size"] == "" {
		t.Errorf("%v", run.Outputs)
	}
}

// Secrets reach a plug-in by its input only, and are masked where it prints them.
func TestPlugIn_SecretsAreInItsInputOnly(t *testing.T) {
	x := newExecutor(t, secretsOfReports(), withPlugIns(install(t, typesDir(t), "echo",
		strings.Replace(echo, `printf '%s\n' "$input"`,
			`case $input in *'"`+canary+`/`+canary+`"'*) echo received ;; esac; printf '%s\n' "$input"`, 1))))
	task := echoTask(common.With{"text": "${TOKEN}/" + canary}, func(j *common.Job) {
		j.Env = map[string]string{"TOKEN": "secret:db", "PLAIN": "yes"}
	})
	task.Job.With["text"] = "${TOKEN}/${TOKEN}"
	rec := record(t, task)
	expect(t, x.Run(t.Context(), task, rec), common.StatusSucceeded, "")
	text := rec.text()
	if !strings.HasPrefix(text, "received\n") || strings.Contains(text, canary) || strings.Contains(text, "TOKEN=") ||
		!strings.Contains(text, "PLAIN=yes\n") || strings.Count(text, "[secret:db]") != 2 {
		t.Errorf("%s", text)
	}
}

func TestPlugIn_ExitCodes(t *testing.T) {
	x := newExecutor(t, withPlugIns(install(t, typesDir(t), "echo", echo)))
	for verb, want := range map[string]struct {
		status common.Status
		reason string
		exit   int
	}{"later": {common.StatusFailed, "exit_code", 75}, "usage": {common.StatusRefused, "with_refused", 64}} {
		task := echoTask(common.With{"text": "x", "verb": verb})
		run := x.Run(t.Context(), task, record(t, task))
		expect(t, run, want.status, want.reason)
		if run.ExitCode == nil || *run.ExitCode != want.exit {
			t.Errorf("%s: exit code %v", verb, run.ExitCode)
		}
	}
}

// The worker judges the final values, which the master could not know.
func TestPlugIn_SettingsAreJudgedAgain(t *testing.T) {
	x := newExecutor(t, withPlugIns(install(t, typesDir(t), "echo", echo)))
	for name, with := range map[string]common.With{
		"missing":       {},
		"unknown field": {"text": "x", "more": "y"},
		"too long":      {"text": "${LONG}"},
		"no value":      {"text": "${NONE}"},
	} {
		task := echoTask(with, func(j *common.Job) { j.Env = map[string]string{"LONG": strings.Repeat("x", 61)} })
		rec := record(t, task)
		run := x.Run(t.Context(), task, rec)
		expect(t, run, common.StatusRefused, common.ReasonWithRefused)
		if rec.text() != "" || run.StartedAt != nil {
			t.Errorf("%s: it was started: %q", name, rec.text())
		}
	}
}

func TestPlugIn_IsKilledWithItsTree(t *testing.T) {
	x := newExecutor(t, withPlugIns(install(t, typesDir(t), "echo", echo)))
	task := echoTask(common.With{"text": "x", "verb": "signal"}, func(j *common.Job) { j.KillGrace = "10ms" })
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	rec, wait := background(t, ctx, x, task)
	rec.await()
	cancel(inside.Killed{By: "ada"})
	expect(t, wait(), common.StatusKilled, "killed_by_user")
}

func TestPlugIn_FilesThatAreNotOffered(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files to other users")
	}
	slow := "#!/bin/sh\nsleep 300\n"
	give := func(of string) func(string, string) error {
		return func(file, dir string) error {
			return os.Chown(map[string]string{"file": file, "dir": dir}[of], 65534, 0)
		}
	}
	chmod := func(of string, mode os.FileMode) func(string, string) error {
		return func(file, dir string) error { return os.Chmod(map[string]string{"file": file, "dir": dir}[of], mode) }
	}
	link := func(file, dir string) error { return relink(file, filepath.Join(dir, "program")) }
	changed := func(from, to string) string { return strings.Replace(echo, from, to, 1) }
	for name, c := range map[string]struct {
		type_, text string
		change      func(file, dir string) error
		problem     string
		broken      bool
	}{
		"owner":           {"echo", echo, give("file"), "must belong to root", false},
		"mode":            {"echo", echo, chmod("file", 0o775), "may write it", false},
		"owner of folder": {"echo", echo, give("dir"), "must belong to root", false},
		"mode of folder":  {"echo", echo, chmod("dir", 0o777), "may write it", false},
		"not executable":  {"echo", echo, chmod("file", 0o644), "not executable", false},
		"symbolic link":   {"echo", echo, link, "not a regular file", false},
		"reserved":        {"http", echo, nil, "reserved", false},
		"invalid name":    {"Echo", echo, nil, "not the name of a type", false},
		"not allowed":     {"other", echo, nil, "typesAllow", false},
		"another's name":  {"disk", echo, nil, `describes the type "echo"`, true},
		"no document":     {"echo", "#!/bin/sh\necho hello\n", nil, "not valid", true},
		"fails":           {"echo", "#!/bin/sh\necho needs jq >&2; exit 3\n", nil, "exit code 3: needs jq", true},
		"hangs":           {"echo", slow, nil, "timeout of 5s", true},
		"prints too much": {"echo", "#!/bin/sh\nhead -c 70000 /dev/zero\n", nil, "larger than 64 KiB", true},
		"invalid schema":  {"echo", changed(`"type": "object", "req`, `"type": "thing", "req`), nil, "with", true},
		"foreign $ref": {"echo", changed(`"maxLength": 60`, `"$ref": "https://a.example/s"`), nil, "leads out",
			true},
		"another protocol": {"echo", changed(`"protocol": 1`, `"protocol": 2`), nil, "protocol", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := install(t, typesDir(t), c.type_, c.text)
			if c.change != nil {
				if err := c.change(filepath.Join(dir, "carillon-type-"+c.type_), dir); err != nil {
					t.Fatal(err)
				}
			}
			x := newExecutor(t, func(cfg *executor.Config) {
				cfg.PlugIns = executor.PlugIns{Dir: dir, Allow: []string{"echo", "http", "Echo", "disk"}}
			})
			if _, offered := x.Types()[c.type_]; offered {
				t.Error("it is offered")
			}
			reports := x.TypeReports()
			if last := reports[len(reports)-1]; last.Name != c.type_ || !strings.Contains(last.Problem, c.problem) {
				t.Errorf("%+v, want %q", reports, c.problem)
			}
			found := false
			for _, condition := range x.Conditions() {
				found = found || condition.Code == common.ConditionTypeBroken
			}
			if found != c.broken {
				t.Errorf("condition type_broken: %v", found)
			}
		})
	}
}

// relink moves a file and leaves a symbolic link to it.
func relink(file, target string) error {
	if err := os.Rename(file, target); err != nil {
		return err
	}
	return os.Symlink(target, file)
}

// A file that others may change, or that is gone, is not executed, whatever was known of it.
func TestPlugIn_ChangesAfterItWasDescribed(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files to other users")
	}
	dir := install(t, typesDir(t), "echo", echo)
	x := newExecutor(t, func(c *executor.Config) { c.PlugIns = executor.PlugIns{Dir: dir} })
	file := filepath.Join(dir, "carillon-type-echo")
	try := func() common.Run {
		task := echoTask(common.With{"text": "x"})
		return x.Run(t.Context(), task, record(t, task))
	}
	expect(t, try(), common.StatusSucceeded, "")
	if err := os.Chown(file, 65534, 0); err != nil {
		t.Fatal(err)
	}
	expect(t, try(), common.StatusRefused, common.ReasonTypeUntrusted)
	install(t, dir, "echo", strings.Replace(echo, `"maxLength": 60`, `"minLength": 40`, 1))
	expect(t, try(), common.StatusRefused, common.ReasonWithRefused) // by its new schema
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	expect(t, try(), common.StatusRefused, common.ReasonTypeMissing)
}

func TestPlugIn_ThatEscapesIsNotRunAgain(t *testing.T) {
	x := newExecutor(t, withPlugIns(install(t, typesDir(t), "echo",
		strings.Replace(echo, `"outputs"`, `"escapes": true, "outputs"`, 1))))
	task := echoTask(common.With{"text": "x"})
	expect(t, x.Run(t.Context(), task, record(t, task)), common.StatusRefused, common.ReasonWithRefused)
	task = echoTask(common.With{"text": "x"}, func(j *common.Job) { j.OnLost = common.LostAbandon })
	expect(t, x.Run(t.Context(), task, record(t, task)), common.StatusSucceeded, "")
}

// CheckPlugIn finds what violates the protocol.
func TestCheckPlugIn(t *testing.T) {
	x := newExecutor(t)
	good := strings.Replace(echo, "	printf '%s\\n' \"$input\"\n",
		"	case $input in '{\"protocol\":1,'*'\"with\":{\"text\":\"'*) ;; *) exit 64 ;; esac\n", 1)
	for name, c := range map[string]struct{ text, fails string }{
		"valid":                   {good, ""},
		"accepts any settings":    {echo, "refused"},
		"no document":             {"#!/bin/sh\nexit 64\n", "describe prints a document"},
		"succeeds with any verb":  {strings.Replace(good, "\n*) exit 64", "\n*) exit 0", 1), "an unknown verb fails"},
		"another document always": {strings.Replace(good, `"version": "1.0"`, `"version": "'$$'"`, 1), "same document"},
	} {
		dir := install(t, typesDir(t), "echo", c.text)
		var failed []string
		for _, check := range x.CheckPlugIn(t.Context(), filepath.Join(dir, "carillon-type-echo")) {
			if check.Problem != "" {
				failed = append(failed, check.Name+": "+check.Problem)
			}
		}
		if got := strings.Join(failed, "\n"); (got == "") != (c.fails == "") || !strings.Contains(got, c.fails) {
			t.Errorf("%s: %q, want %q", name, got, c.fails)
		}
	}
	for _, file := range []string{"/nonexistent/carillon-type-x", "/bin/sh", "/tmp/carillon-type-http"} {
		if checks := x.CheckPlugIn(t.Context(), file); len(checks) != 1 || checks[0].Problem == "" {
			t.Errorf("%s: %+v", file, checks)
		}
	}
}
