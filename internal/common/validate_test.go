package common

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func entries(n int) map[string]string {
	m := map[string]string{}
	for i := range n {
		m[fmt.Sprintf("K%d", i)] = "v"
	}
	return m
}

func TestJobFaults(t *testing.T) {
	good := func() *Job { return &Job{Name: "a", Command: "true"} }
	long := strings.Repeat("x", 63)
	for _, c := range []struct {
		name   string
		change func(*Job)
		want   []string // "location code"
	}{
		{"least", func(*Job) {}, nil},
		{"everything", func(j *Job) {
			*j = Job{
				Name:             "a",
				Title:            "Täglich 备份",
				Group:            "ops",
				Labels:           map[string]string{"team/x": "a.b-c_d", "empty": ""},
				Description:      "two\nlines\tand a tab",
				CronExpr:         "not looked at here",
				Timezone:         "nor/this",
				DST:              &DST{Gap: "skip", Overlap: "both"},
				Command:          "echo a\necho b",
				Stdin:            "in\n",
				Shell:            "/bin/bash",
				Env:              map[string]string{"A_1": "x", "_": ""},
				WorkDir:          "/var/tmp/",
				User:             "www-data",
				Timeout:          "1d",
				KillGrace:        "20s",
				SuccessExitCodes: []int{0, 255},
				Overlap:          OverlapSkip,
				Output:           &OutputPolicy{Max: "4KiB"},
			}
		}, nil},
		{"no name, no command", func(j *Job) { j.Name, j.Command = "", "" }, []string{"name name", "command required"}},
		{"group", func(j *Job) { j.Group = "A/b" }, []string{"group name"}},

		{"title at its bound", func(j *Job) { j.Title = strings.Repeat("é", MaxTitle) }, nil},
		{"title too long", func(j *Job) { j.Title = strings.Repeat("é", MaxTitle+1) }, []string{"title too_long"}},
		{"title of two lines", func(j *Job) { j.Title = "a\nb" }, []string{"title control"}},
		{"title with an escape", func(j *Job) { j.Title = "a\x1b[31m" }, []string{"title control"}},
		{"title not UTF-8", func(j *Job) { j.Title = "\xff" }, []string{"title utf8"}},
		{"title with NUL", func(j *Job) { j.Title = "a\x00" }, []string{"title nul"}},
		{"description not UTF-8", func(j *Job) { j.Description = "a\xc3(" }, []string{"description utf8"}},

		{"label at its bounds", func(j *Job) { j.Labels = map[string]string{long: long} }, nil},
		{"label name too long", func(j *Job) {
			j.Labels = map[string]string{long + "x": ""}
		}, []string{"labels label"}},
		{"label name empty", func(j *Job) { j.Labels = map[string]string{"": "x"} }, []string{"labels label"}},
		{"label with a space", func(j *Job) { j.Labels = map[string]string{"a": "b c"} }, []string{"labels.a label"}},
		{"label with a line break", func(j *Job) {
			j.Labels = map[string]string{"a": "b\n"}
		}, []string{"labels.a label"}},
		{"labels at their bound", func(j *Job) { j.Labels = entries(MaxLabels) }, nil},
		{"too many labels", func(j *Job) { j.Labels = entries(MaxLabels + 1) }, []string{"labels too_many"}},

		{"args", func(j *Job) { j.Command, j.Args = "", []string{"echo", "", "a b"} }, nil},
		{"args beside a command", func(j *Job) { j.Args = []string{"echo"} }, []string{"args exclusive"}},
		{"args without a program", func(j *Job) {
			j.Command, j.Args = "", []string{"", "x"}
		}, []string{"args[0] required"}},
		{"args with a shell", func(j *Job) {
			j.Command, j.Args, j.Shell = "", []string{"x"}, "/bin/sh"
		}, []string{"shell exclusive"}},
		{"args with NUL", func(j *Job) { j.Command, j.Args = "", []string{"x", "a\x00b"} }, []string{"args[1] nul"}},
		{"too many args", func(j *Job) {
			j.Command, j.Args = "", slices.Repeat([]string{"x"}, MaxArgs+1)
		}, []string{"args too_many"}},
		{"command with NUL", func(j *Job) { j.Command = "a\x00" }, []string{"command nul"}},
		{"command not UTF-8", func(j *Job) { j.Command = "\xed\xa0\x80" }, []string{"command utf8"}},
		{"stdin with NUL", func(j *Job) { j.Stdin = "\x00" }, []string{"stdin nul"}},

		{"shell without a path", func(j *Job) { j.Shell = "bash" }, []string{"shell path"}},
		{"shell going up", func(j *Job) { j.Shell = "/bin/../etc/x" }, []string{"shell path"}},
		{"workDir /", func(j *Job) { j.WorkDir = "/" }, nil},
		{"workDir not absolute", func(j *Job) { j.WorkDir = "tmp" }, []string{"workDir path"}},
		{"workDir going up", func(j *Job) { j.WorkDir = "/tmp/.." }, []string{"workDir path"}},
		{"workDir of two lines", func(j *Job) { j.WorkDir = "/tmp\n/x" }, []string{"workDir control"}},
		{"workDir too long", func(j *Job) {
			j.WorkDir = "/" + strings.Repeat("x", 4096)
		}, []string{"workDir too_long"}},
		{"title that turns", func(j *Job) { j.Title = "backup \u202egpj.exe" }, []string{"title control"}},
		{"title of two lines", func(j *Job) { j.Title = "a\u2028b" }, []string{"title control"}},
		{"title with marks", func(j *Job) { j.Title = "\u05d2\u05d9\u200f (DB) \U0001f468\u200d\U0001f4bb" }, nil},
		{"user", func(j *Job) { j.User = "root;id" }, []string{"user user"}},
		{"user with a line break", func(j *Job) { j.User = "root\n" }, []string{"user user"}},

		{"env at its bound", func(j *Job) { j.Env = entries(MaxEnv) }, nil},
		{"too much env", func(j *Job) { j.Env = entries(MaxEnv + 1) }, []string{"env too_many"}},
		{"env names", func(j *Job) { j.Env = map[string]string{"": "", "1A": "", "A=B": "", "A\x00": "", "Ä": ""} },
			[]string{"env env_name", "env env_name", "env env_name", "env env_name", "env env_name"}},
		{"reserved env", func(j *Job) {
			j.Env = map[string]string{"CARILLON_JOB": "x"}
		}, []string{"env.CARILLON_JOB env_reserved"}},
		{"env with NUL", func(j *Job) { j.Env = map[string]string{"A": "a\x00"} }, []string{"env.A nul"}},
		{"env not UTF-8", func(j *Job) { j.Env = map[string]string{"A": "\xff"} }, []string{"env.A utf8"}},
		{"an env name that forges", func(j *Job) {
			j.Env = map[string]string{"A\nB" + strings.Repeat("x", 200): "\xff"}
		},
			[]string{"env env_name", `env.A\nB` + strings.Repeat("x", 76) + "… utf8"}},

		{"timeout at its bounds", func(j *Job) { j.Timeout = "1ms" }, nil},
		{"timeout of a year", func(j *Job) { j.Timeout = "366d" }, nil},
		{"timeout too long", func(j *Job) { j.Timeout = "366d1s" }, []string{"timeout range"}},
		{"no timeout, whatever the group has", func(j *Job) { j.Timeout = "0s" }, nil},
		{"timeout without a unit", func(j *Job) { j.Timeout = "90" }, []string{"timeout duration"}},
		{"killGrace of nothing", func(j *Job) { j.KillGrace = "0s" }, nil},
		{"killGrace too long", func(j *Job) { j.KillGrace = "21s" }, []string{"killGrace range"}},
		{"exit codes", func(j *Job) {
			j.SuccessExitCodes = []int{0, -1, 256}
		}, []string{"successExitCodes[1] range", "successExitCodes[2] range"}},
		{"too many exit codes", func(j *Job) {
			j.SuccessExitCodes = make([]int, MaxExitCodes+1)
		}, []string{"successExitCodes too_many"}},
		{"overlap", func(j *Job) { j.Overlap = "forbid" }, []string{"overlap enum"}},
		{"dst", func(j *Job) { j.DST = &DST{Gap: "x", Overlap: "y"} }, []string{"dst.gap enum", "dst.overlap enum"}},
		{"output at its bound", func(j *Job) { j.Output = &OutputPolicy{Max: "1GiB"} }, nil},
		{"output too small", func(j *Job) { j.Output = &OutputPolicy{Max: "4095B"} }, []string{"output.max range"}},
		{"output too large", func(j *Job) { j.Output = &OutputPolicy{Max: "2GiB"} }, []string{"output.max range"}},
		{"output without a unit", func(j *Job) { j.Output = &OutputPolicy{Max: "16M"} }, []string{"output.max size"}},
		{"too large", func(j *Job) { j.Command = strings.Repeat("x", MaxJobBytes) }, []string{" too_large"}},
		{"all at once", func(j *Job) { *j = Job{Name: "A", Title: "\n", Timeout: "x", Overlap: "y"} },
			[]string{"name name", "title control", "command required", "timeout duration", "overlap enum"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := good()
			c.change(job)
			var got []string
			for _, f := range job.Faults() {
				got = append(got, f.Location+" "+f.Code)
				if f.Message == "" {
					t.Errorf("%s says nothing", f.Location)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("faults %q, want %q", got, c.want)
			}
		})
	}
}

// FuzzJobFaults checks that any job is validated without a panic, that its faults can be shown, and that a job without
// faults is the same after encoding and decoding.
func FuzzJobFaults(f *testing.F) {
	f.Add(
		[]byte(
			`{"name":"a","command":"true","env":{"A":"b"},"labels":{"a":"b"},"output":{"max":"1MiB"},"timeout":"1d"}`))
	f.Add(
		[]byte(
			`{"name":"a","command":"true","params":{"A":{"default":"1","pattern":"[0-9]+"}},"startAt":"2026-01-01T00:00:00Z","retry":{"max":2},"catchUp":{"policy":"all"},"placement":{"workers":["w"]},"paused":true,"pauseUntil":"2026-01-01T00:00:00Z"}`))
	f.Add(
		[]byte(
			`{"name":"..","args":["",""],"env":{"A\u0000":"\u0000"},"shell":"//","dst":{"gap":"x"},"successExitCodes":[-1]}`))
	f.Add([]byte(`{"name":"a","env":{"` + strings.Repeat(`\n`, 100) + `":"\u0000"},"labels":{"` +
		strings.Repeat(`\u202e`, 100) + `":"\n"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var job Job
		if json.Unmarshal(data, &job) != nil {
			return
		}
		faults := job.Faults()
		for _, fault := range faults {
			shown := fault.Location + fault.Message
			if value, ok := fault.Value.(string); ok {
				shown += value
			}
			if len(shown) > 1000 || strings.ContainsFunc(shown, func(r rune) bool {
				return unicode.IsControl(r) || r == 0x202e || r == utf8.RuneError
			}) {
				t.Fatalf("fault %q", shown)
			}
		}
		if len(faults) > 0 {
			return
		}
		text, err := json.Marshal(&job)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Decode[Job](text)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := json.Marshal(&again); err != nil || string(back) != string(text) {
			t.Fatalf("%s comes back as %s, %v", text, back, err)
		}
	})
}

func TestExcerpt(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"plain text":                   "plain text",
		"a\nb\tc\x00":                  `a\nb\tc\x00`,
		"\x1b[31mred":                  `\x1b[31mred`,
		"a\u202eb\u2028c":              `a\u202eb\u2028c`,
		"备份 🔔 é":                       "备份 🔔 é",
		"\xffa\xc3(":                   `\ufffda\ufffd(`,
		strings.Repeat("x", 80):        strings.Repeat("x", 80),
		strings.Repeat("x", 81):        strings.Repeat("x", 80) + "…",
		strings.Repeat("é", 50):        strings.Repeat("é", 40) + "…",
		strings.Repeat("x", 79) + "\n": strings.Repeat("x", 79) + "…", // an escape sequence is not cut
	} {
		if got := Excerpt(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

func TestShorten_QuotedText_IsEscapedOnce(t *testing.T) {
	for text, want := range map[string]string{
		"":                       `""`,
		"a\u00a0b":               `"a\u00a0b"`,
		"a\nb\\\"":               `"a\nb\\\""`,
		"\xff备份":                 `"\xff备份"`,
		strings.Repeat("x", 80):  `"` + strings.Repeat("x", 80) + `"`,
		strings.Repeat("x", 81):  `"` + strings.Repeat("x", 80) + `…"`,
		strings.Repeat("\n", 41): `"` + strings.Repeat(`\n`, 40) + `…"`,
	} {
		if got := fmt.Sprintf("%q", Shorten(text)); got != want {
			t.Errorf("%q is quoted as %s, want %s", text, got, want)
		}
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("a\x00b\xff\u202e" + strings.Repeat("é", 100))
	f.Fuzz(func(t *testing.T, s string) {
		got := Shorten(s)
		if quoted := fmt.Sprintf("%q", got); len(quoted) > 80+len(`"…"`) {
			t.Fatalf("%q is quoted as %s", s, quoted)
		}
		if got != s && !strings.HasPrefix(s, strings.TrimSuffix(got, "…")) {
			t.Fatalf("%q is cut to %q", s, got)
		}
	})
}

func FuzzExcerpt(f *testing.F) {
	f.Add("a\x00b\xff\u202e" + strings.Repeat("é", 100))
	f.Fuzz(func(t *testing.T, s string) {
		got := Excerpt(s)
		if len(got) > 80+len("…") || !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool {
			return !unicode.IsPrint(r)
		}) {
			t.Fatalf("%q is shown as %q", s, got)
		}
		if strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }) {
			return
		}
		if got != s && !(strings.HasSuffix(got, "…") && strings.HasPrefix(s, strings.TrimSuffix(got, "…"))) {
			t.Fatalf("%q is shown as %q", s, got)
		}
	})
}

func TestPolicyAndSuccess(t *testing.T) {
	if p := (&Job{}).Terms().Policy; p != (Policy{
		Overlap:   OverlapSkip,
		KillGrace: DefaultKillGrace,
		LostAfter: DefaultLostAfter,
		OnLost:    LostRerun,
	}) {
		t.Errorf("defaults %+v", p)
	}
	if p := (&Job{KillGrace: "0s"}).Terms(); p.KillGrace != 0 {
		t.Errorf("a grace of nothing becomes %v", p.KillGrace)
	}
	for _, c := range []struct {
		codes []int
		exit  int
		want  bool
	}{{nil, 0, true}, {nil, 1, false}, {[]int{3, 4}, 4, true}, {[]int{3, 4}, 0, true}, {[]int{3, 4}, 1, false}} {
		if got := (&Job{SuccessExitCodes: c.codes}).Succeeded(c.exit); got != c.want {
			t.Errorf("exit code %d of %v: %v", c.exit, c.codes, got)
		}
	}
}

func TestErrors(t *testing.T) {
	err := Invalid("the job is refused", Fault{Location: "name", Message: "is bad"},
		Fault{Location: "title", Message: "is long"})
	if got := err.Error(); got != "the job is refused: name: is bad; title: is long" {
		t.Errorf("reads %q", got)
	}
	cause := errors.New("cause")
	wrapped := fmt.Errorf("put job: %w", &Error{Code: CodeStale, Message: "changed", Err: cause})
	if CodeOf(wrapped) != CodeStale || !errors.Is(wrapped, cause) || wrapped.Error() != "put job: changed: cause" {
		t.Errorf("wrapped: %v, %s", wrapped, CodeOf(wrapped))
	}
	if CodeOf(cause) != CodeInternal || CodeOf(fmt.Errorf("finish: %w", ErrNotOurs)) != CodeConflict {
		t.Error("codes are lost")
	}
}

func TestTerminal(t *testing.T) {
	for _, s := range Statuses {
		if want := s != StatusWaiting && s != StatusRunning; s.Terminal() != want {
			t.Errorf("%s: %v", s, !want)
		}
	}
	if Status("").Terminal() {
		t.Error("no status is an outcome")
	}
}
