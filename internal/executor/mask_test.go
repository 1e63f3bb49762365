package executor_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/redact"
)

func masking(values ...string) func(*executor.Config) {
	var secrets []redact.Secret
	for i, v := range values {
		secrets = append(secrets, redact.Secret{Name: fmt.Sprint("s", i), Value: []byte(v)})
	}
	m := redact.New(secrets)
	return func(c *executor.Config) { c.Masks = func(string, bool) *redact.Masker { return m } }
}

func TestSecretsAreMasked(t *testing.T) {
	x := newExecutor(t, masking("swordfish", "correct horse\nbattery staple"))
	for name, c := range map[string]struct{ command, stdout, stderr string }{
		"both streams": {"echo a swordfish; echo b swordfish >&2", "a [secret:s0]\n", "b [secret:s0]\n"},
		// Each write is read by itself: the next one waits for it to have been.
		"in pieces": {"printf sword; sleep 0.05; printf fi; sleep 0.05; echo sh.", "[secret:s0].\n", ""},
		"between streams": {"printf sword; sleep 0.05; printf sword >&2; sleep 0.05; echo fish; echo fish >&2",
			"[secret:s0]\n", "[secret:s0]\n"},
		"held back": {"printf 'no swordfis'", "no swordfis", ""},
		"killed":    {"printf 'x swordf'; kill -9 $$", "x swordf", ""},
		"lines":     {"printf 'correct horse\\nbattery staple\\n'", "[secret:s1]\n", ""},
		"not quite": {"echo Swordfish sword fish", "Swordfish sword fish\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			task := shell(c.command)
			out := record(t, task)
			got := x.Run(t.Context(), task, out)
			if out.text(common.Stdout) != c.stdout || out.text(common.Stderr) != c.stderr {
				t.Errorf("stdout %q, stderr %q", out.text(common.Stdout), out.text(common.Stderr))
			}
			if got.OutputBytes != int64(len(c.stdout)+len(c.stderr)) {
				t.Errorf("%d bytes are counted", got.OutputBytes)
			}
		})
	}
}

// The reason of a failed command has its last line, masked.
func TestFailure_ReasonHasTheLastLine(t *testing.T) {
	x := newExecutor(t, masking("swordfish"))
	task := shell("echo working; echo 'no login with swordfish' >&2; exit 3")
	got := x.Run(t.Context(), task, record(t, task))
	expect(t, got, common.StatusFailed, "exit_code")
	if line := got.Reason.Data[common.LastLine]; line != "no login with [secret:s0]" {
		t.Errorf("%q", line)
	}
}

// An output with a secret would be stored, and a masked one would be another value for the steps that use it.
func TestSecretsInOutputs_FailTheRun(t *testing.T) {
	for what, output := range map[string]common.Output{"value": {}, "list": {List: true}} {
		t.Run(what, func(t *testing.T) {
			x := newExecutor(t, masking("swordfish"))
			task := newTask(common.Job{Outputs: map[string]common.Output{"a": output, "b": {}},
				Command: `echo "the swordfish" > "$CARILLON_OUTPUT/a"; echo 7 > "$CARILLON_OUTPUT/b"`})
			got := x.Run(t.Context(), task, record(t, task))
			expect(t, got, common.StatusFailed, "outputs_invalid")
			if got.Reason.Data["output"] != "a" || got.Reason.Data["fault"] != "secret" || got.Outputs["b"] != "7" ||
				len(got.Outputs) != 1 || strings.Contains(fmt.Sprint(got), "sword") {
				t.Errorf("%+v, %q", got.Reason, got.Outputs)
			}
		})
	}
}

// A name may be longer than its secret: chunks keep their maximum size, and the limit counts the masked output.
func TestMaskedFlood(t *testing.T) {
	x := newExecutor(t, masking("swordfish"))
	task := newTask(common.Job{Command: "yes swordfish | head -n 200000", Output: &common.OutputPolicy{Max: "1MiB"}})
	out := record(t, task)
	got := x.Run(t.Context(), task, out)
	line := "[secret:s0]\n"
	if got.OutputBytes != int64(200_000*len(line)) || !got.OutputTruncated {
		t.Errorf("%d bytes, truncated %v", got.OutputBytes, got.OutputTruncated)
	}
	if text := out.text(); len(text) != 1<<20 || strings.Contains(text, "sword") ||
		!strings.HasSuffix(text, line+line) {
		t.Errorf("%d bytes are kept, or others", len(text))
	}
}

func TestReasonsAreMasked(t *testing.T) {
	x := newExecutor(t, masking("swordfish"))
	task := newTask(common.Job{Args: []string{"swordfish-tool"}})
	got := x.Run(t.Context(), task, record(t, task))
	expect(t, got, common.StatusFailed, "program_missing")
	if text := got.Reason.Text + got.Reason.Data["program"]; strings.Contains(text, "swordfish") ||
		!strings.Contains(text, "[secret:s0]-tool") {
		t.Errorf("%+v", got.Reason)
	}
}

func TestEachRunAsksForItsSecrets(t *testing.T) {
	var now atomic.Pointer[redact.Masker]
	x := newExecutor(t, func(c *executor.Config) { c.Masks = func(string, bool) *redact.Masker { return now.Load() } })
	for _, want := range []string{"swordfish herring", "[secret:s] herring", "swordfish [secret:s]"} {
		task := shell("printf 'swordfish herring'")
		out := record(t, task)
		x.Run(t.Context(), task, out)
		if out.text() != want {
			t.Errorf("%q, want %q", out.text(), want)
		}
		value := "swordfish"
		if now.Load() != nil {
			value = "herring"
		}
		now.Store(redact.New([]redact.Secret{{Name: "s", Value: []byte(value)}}))
	}
}

// BenchmarkMaskedFlood has a command print 100 MB of log lines.
func BenchmarkMaskedFlood(b *testing.B) {
	for _, n := range []int{0, 1, 5} {
		b.Run(fmt.Sprintf("%d secrets", n), func(b *testing.B) {
			var values []string
			for i := range n {
				values = append(values, fmt.Sprintf("%c%x-%032d", "tsp2a"[i%5], 7919*i, 104729*i))
			}
			x := newExecutor(b, masking(values...))
			b.SetBytes(100_000_000)
			for b.Loop() {
				task :=
					shell(
						`yes '2026-11-21T21:04:03Z level=info msg="stored batch" table=orders rows=1382 took=12ms path=/srv/data/part-00017' | head -c 100000000`)
				if got := x.Run(b.Context(), task, discard{}); got.OutputBytes != 100_000_000 {
					b.Fatal(got)
				}
			}
		})
	}
}

// What is masked can be found by trying. So the files of secrets without groups are masked only in runs whose command
// can read them.
func TestFilesOfSecrets_AreMaskedWhereTheCommandCanReadThem(t *testing.T) {
	secret := redact.New([]redact.Secret{{Name: "db", Value: []byte("swordfish")}})
	x := newExecutor(t, runningAs(t, "groups: {own: {users: [root]}, other: {users: [nobody]}, web: {}, "+
		"partner: {users: [root], commands: [echo swordfish]}}\n"), withHTTP(func(_ context.Context, _ executor.Call,
		print func(common.Stream, []byte)) executor.Result {
		print(common.Stdout, []byte("swordfish"))
		return executor.Result{}
	}), func(c *executor.Config) {
		c.Masks = func(_ string, readable bool) *redact.Masker {
			if readable {
				return secret
			}
			return nil
		}
	})
	request := common.With{"url": "http://a.example/"}
	for name, c := range map[string]struct {
		job      common.Job
		readable bool
	}{
		"own user":                 {common.Job{Group: "own", User: "root", Command: "echo swordfish"}, true},
		"a reason":                 {common.Job{Group: "own", User: "root", Args: []string{"swordfish"}}, true},
		"another user":             {common.Job{Group: "other", User: "nobody", Command: "echo swordfish"}, false},
		"a reason of another user": {common.Job{Group: "other", User: "nobody", Args: []string{"swordfish"}}, false},
		"a refused user":           {common.Job{Group: "own", User: "swordfish", Command: "true"}, false},
		"a listed command":         {common.Job{Group: "partner", User: "root", Command: "echo swordfish"}, false},
		"a request":                {common.Job{Group: "web", Type: common.TypeHTTP, With: request}, false},
	} {
		task := newTask(c.job)
		out := record(t, task)
		run := x.Run(t.Context(), task, out)
		shown := out.text()
		if run.Reason != nil {
			shown += run.Reason.Text
		}
		if strings.Contains(shown, "[secret:db]") != c.readable || strings.Contains(shown, "swordfish") == c.readable {
			t.Errorf("%s: %q", name, shown)
		}
	}
}
