package runas

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
}

// open reads a file with this test's own user in the place of root.
func open(t *testing.T, path string, change ...func(*Config)) (*File, *bytes.Buffer, error) {
	t.Helper()
	log := new(bytes.Buffer)
	cfg := Config{Path: path, Trusted: uint32(os.Getuid()), Log: slog.New(slog.NewTextHandler(log, nil))}
	for _, c := range change {
		c(&cfg)
	}
	f, err := Open(cfg)
	return f, log, err
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct{ text, wrong string }{
		"empty file": {"", ""},
		"all keys": {"default: bin\ngroups:\n  backup: {users: [postgres], shells: [/bin/sh], " +
			"commands: [/usr/bin/rsync]}\n  '*': {disabled: true}\n", ""},
		"byte-order mark":         {"\ufeffdefault: bin\n", ""},
		"unknown key":             {"group:\n  backup: {}\n", "group"},
		"unknown key of an entry": {"groups:\n  backup: {user: [root]}\n", "line 2"},
		"duplicate group":         {"groups:\n  backup: {}\n  backup: {users: [root]}\n", "line 3"},
		"invalid user":            {"groups:\n  backup: {users: [0]}\n", `"0" is not a user name`},
		"invalid default":         {"default: 'Mr:X'\n", "is not a user name"},
		"invalid group":           {"groups:\n  Backup: {}\n", `"Backup" is not a group`},
		"shell without a path":    {"groups:\n  backup: {shells: [bash]}\n", "is not an absolute path"},
		"shell path with ..":      {"groups:\n  backup: {shells: [/bin/../tmp/sh]}\n", "is not an absolute path"},
		"empty command":           {"groups:\n  backup: {commands: ['']}\n", "either command or args"},
		"valid commands": {"groups:\n  backup: {commands: [/usr/bin/id, {command: make report, env: " +
			"[DAY], workDirs: [/srv], stdin: true}, {args: [/bin/cat, -], anyArgs: true}]}\n", ""},
		"command and args": {"groups:\n  backup: {commands: [{command: id, args: [/usr/bin/id]}]}\n",
			"either command or args"},
		"unknown key of a command": {"groups:\n  backup: {commands: [{command: id, umask: 1}]}\n", "umask"},
		"program without a path": {"groups:\n  backup: {commands: [{args: [id]}]}\n",
			`"id" is not the absolute path`},
		"anyArgs without args": {"groups:\n  backup: {commands: [{command: id, anyArgs: true}]}\n",
			"anyArgs requires args"},
		"invalid variable": {"groups:\n  backup: {commands: [{command: id, env: [A=B]}]}\n",
			"not the name of a variable"},
		"dangerous variable": {"groups:\n  backup: {commands: [{command: id, env: [LD_PRELOAD]}]}\n",
			"LD_PRELOAD must not be allowed"},
		"relative folder":           {"groups:\n  backup: {commands: [{command: id, workDirs: [srv]}]}\n", "workDirs"},
		"text instead of a list":    {"groups:\n  backup: {users: root}\n", "line 2"},
		"list instead of a mapping": {"- backup\n", "line 1"},
	} {
		_, err := Parse([]byte(c.text))
		if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)) {
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		}
	}
}

func TestAs_AllowsTheUsersOfTheGroup(t *testing.T) {
	own := Own()
	path := filepath.Join(t.TempDir(), "run-as.yaml")
	write(t, path, `
groups:
  backup: {users: [bin, no-such-user], shells: [/bin/sh, /bin/bash]}
  frozen: {disabled: true}
`)
	f, _, err := open(t, path)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		job   common.Job
		shell string
		runs  string // the program, or the text
		as    string
		code  string
	}{
		"listed user":           {job: common.Job{Group: "backup", User: "bin"}, as: "bin"},
		"user of another group": {job: common.Job{Group: "reports", User: "bin"}, code: "user_not_allowed"},
		"job without a group":   {job: common.Job{User: "bin"}, code: "user_not_allowed"},
		"root, not listed":      {job: common.Job{Group: "backup", User: "root"}, code: "user_not_allowed"},
		"unknown user":          {job: common.Job{Group: "backup", User: "no-such-user"}, code: "user_missing"},
		"disabled group":        {job: common.Job{Group: "frozen"}, code: "group_disabled"},
		"listed shell":          {job: common.Job{Group: "backup", User: "bin"}, shell: "/bin/bash", as: "bin"},
		"shell not listed": {
			job:   common.Job{Group: "backup", User: "bin"},
			shell: "/bin/zsh",
			as:    "bin",
			code:  "shell_not_allowed",
		},
		"any shell without a list": {job: common.Job{Group: "other", User: own.Name}, shell: "/bin/zsh"},
	} {
		if own.UID == 0 && c.as == "" && c.code == "" {
			continue // root is never a default
		}
		as, why := f.As(&c.job, own.Name, Local)
		if why == nil && c.shell != "" {
			why = f.Shell(&c.job, c.shell)
		}
		got := ""
		if as != nil {
			got = as.Name
		}
		code := ""
		if why != nil {
			code = why.Code
		}
		if got != c.as || code != c.code {
			t.Errorf("%s: as %q, %+v", name, got, why)
		}
	}
}

// Commands of the worker's own user could read the worker's credentials and data.
func TestOwnUser_WithADefault_IsAllowedOnlyWhereListed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run-as.yaml")
	for text, allowed := range map[string]bool{
		"groups: {}\n":        true,
		"default: carillon\n": true,
		"default: bin\n":      false,
		"default: bin\ngroups: {reports: {users: [daemon]}}\n":      false,
		"default: bin\ngroups: {reports: {users: [carillon]}}\n":    true,
		"default: bin\ngroups: {other: {users: [carillon]}}\n":      false,
		"default: bin\ngroups: {'*': {users: [carillon]}}\n":        true,
		"groups: {reports: {users: [daemon], shells: [/bin/sh]}}\n": true,
	} {
		write(t, path, text)
		f, _, err := open(t, path)
		if err != nil {
			t.Fatal(err)
		}
		f.own = Account{Name: "carillon", UID: 4711}
		as, why := f.As(&common.Job{Group: "reports", User: "carillon"}, "carillon", Local)
		if got := why == nil; got != allowed || as != nil || why != nil && why.Code != "user_not_allowed" {
			t.Errorf("%q: account %+v, reason %+v, want allowed=%v", text, as, why, allowed)
		}
	}
}

// If a group's commands are restricted, a job can neither run others nor pass inputs that are not permitted.
func TestCommand_AllowsOnlyListedCommandsAndInputs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run-as.yaml")
	write(t, path, `
groups:
  reports:
    commands:
      - make report
      - /usr/bin/id
      - command: make day
        env: [DAY]
        workDirs: [/srv/reports]
        stdin: true
      - args: [/bin/tar, cf, /srv/a.tar]
        anyArgs: true
      - args: [/bin/tar, tf, /srv/a.tar]
      - command: make report
        env: [MONTH]
  bash:
    shells: [/bin/bash]
    commands: [make report, /usr/bin/id]
  open: {}
`)
	f, _, err := open(t, path)
	if err != nil {
		t.Fatal(err)
	}
	env := func(name string) map[string]string { return map[string]string{name: "x"} }
	param := func(name string) map[string]common.Param { return map[string]common.Param{name: {Default: "x"}} }
	args := func(args ...string) []string { return args }
	for name, c := range map[string]struct {
		job     common.Job
		program string // path at which the first argument is found; itself by default
		code    string
		text    string // part of the reason
	}{
		"a text": {job: common.Job{Command: "make report"}},
		"a longer text": {
			job:  common.Job{Command: "make report; id"},
			code: "command_not_allowed",
			text: "does not allow make report; id",
		},
		"another text": {job: common.Job{Command: "make"}, code: "command_not_allowed"},
		"a program":    {job: common.Job{Args: args("/usr/bin/id")}},
		"by its name":  {job: common.Job{Args: args("id")}, program: "/usr/bin/id"},
		"found elsewhere": {
			job:     common.Job{Args: args("id")},
			program: "/tmp/id",
			code:    "command_not_allowed",
		},
		"relative": {job: common.Job{Args: args("bin/id")}, code: "command_not_allowed"},
		"with an argument": {
			job:  common.Job{Args: args("/usr/bin/id", "-u")},
			code: "command_not_allowed",
			text: "does not allow /usr/bin/id -u",
		},
		"with a blank in an argument": {
			job:  common.Job{Args: args("/usr/bin/id", "a b")},
			code: "command_not_allowed",
			text: "does not allow /usr/bin/id 'a b'",
		},
		"its path as a text":  {job: common.Job{Command: "/usr/bin/id"}},
		"a text as a program": {job: common.Job{Args: args("make report")}, code: "command_not_allowed"},
		"all arguments":       {job: common.Job{Args: args("/bin/tar", "tf", "/srv/a.tar")}},
		"one too many": {
			job:  common.Job{Args: args("/bin/tar", "tf", "/srv/a.tar", "--checkpoint=1")},
			code: "command_not_allowed",
		},
		"one too few": {job: common.Job{Args: args("/bin/tar", "tf")}, code: "command_not_allowed"},
		"another": {
			job:  common.Job{Args: args("/bin/tar", "xf", "/srv/a.tar")},
			code: "command_not_allowed",
		},
		"more where they may": {job: common.Job{Args: args("/bin/tar", "cf", "/srv/a.tar",
			"/etc/hostname")}},
		"the variable that may":  {job: common.Job{Command: "make day", Env: env("DAY")}},
		"the parameter that may": {job: common.Job{Command: "make day", Params: param("DAY")}},
		"the folder that may":    {job: common.Job{Command: "make day", WorkDir: "/srv/reports"}},
		"input where it may":     {job: common.Job{Command: "make day", Stdin: "x"}},
		"one of several entries": {job: common.Job{Command: "make report", Env: env("MONTH")}},
		"a variable": {
			job:  common.Job{Command: "make report", Env: env("TAR_OPTIONS")},
			code: "command_not_allowed",
			text: "the variable TAR_OPTIONS",
		},
		"of another entry": {
			job:  common.Job{Command: "make report", Env: env("DAY")},
			code: "command_not_allowed",
		},
		"of no danger that is known": {
			job:  common.Job{Command: "make day", Env: env("NIGHT")},
			code: "command_not_allowed",
		},
		"a program's": {
			job:  common.Job{Args: args("/bin/tar", "tf", "/srv/a.tar"), Env: env("TAR_OPTIONS")},
			code: "command_not_allowed",
		},
		"a parameter": {
			job:  common.Job{Command: "make report", Params: param("MAKEFILES")},
			code: "command_not_allowed",
			text: "the parameter MAKEFILES",
		},
		"a folder": {
			job:  common.Job{Command: "make report", WorkDir: "/dev/shm/evil"},
			code: "command_not_allowed",
			text: "the working directory /dev/shm/evil",
		},
		"a folder below one that may": {
			job:  common.Job{Command: "make day", WorkDir: "/srv/reports/evil"},
			code: "command_not_allowed",
		},
		"input": {
			job:  common.Job{Command: "make report", Stdin: "x"},
			code: "command_not_allowed",
			text: "standard input",
		},
		"a shell of its own": {
			job:  common.Job{Command: "make report", Shell: "/dev/shm/evil"},
			code: "shell_not_allowed",
		},
		"another shell": {
			job:  common.Job{Command: "make report", Shell: "/bin/bash"},
			code: "shell_not_allowed",
		},
		"a shell for a program": {
			job:  common.Job{Args: args("/usr/bin/id"), Shell: "/dev/shm/evil"},
			code: "shell_not_allowed",
		},
		"the shell of the list": {job: common.Job{Group: "bash", Command: "make report", Shell: "/bin/bash"}},
		"not the usual one": {
			job:  common.Job{Group: "bash", Command: "make report"},
			code: "shell_not_allowed",
		},
		"no shell at all": {job: common.Job{Group: "bash", Args: args("/usr/bin/id")}},
		"a group that may run everything": {job: common.Job{
			Group:   "open",
			Command: "id",
			Env:     env("X"),
			WorkDir: "/tmp",
			Shell:   "/bin/zsh",
			Stdin:   "x",
		}},
	} {
		if c.job.Group == "" {
			c.job.Group = "reports"
		}
		if c.program == "" && len(c.job.Args) > 0 {
			c.program = c.job.Args[0]
		}
		why, code, text := f.Command(&c.job, c.program), "", ""
		if why != nil {
			code, text = why.Code, why.Text
		}
		if code != c.code || !strings.Contains(text, c.text) {
			t.Errorf("%s: %+v", name, why)
		}
	}
}

// A worker that runs as root runs no command as root unless its file permits it.
func TestAs_RootIsNeverADefault(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root")
	}
	path := filepath.Join(t.TempDir(), "run-as.yaml")
	for text, want := range map[string]string{
		"groups: {}\n":                          "user_not_allowed",
		"groups: {g: {users: [root]}}\n":        "",
		"default: bin\n":                        "bin",
		"default: root\n":                       "",
		"groups: {'*': {users: [root]}}\n":      "",
		"groups: {g: {}, '*': {users: [root]}}": "user_not_allowed", // the group's own entry replaces '*'
	} {
		write(t, path, text)
		f, _, err := open(t, path)
		if err != nil {
			t.Fatal(err)
		}
		as, why := f.As(&common.Job{Group: "g"}, "root", Local)
		got := ""
		switch {
		case why != nil:
			got = why.Code
		case as != nil:
			got = as.Name
		}
		if got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestWithoutAFile_OnlyTheWorkersUserIsAllowed(t *testing.T) {
	var f *File
	if as, why := f.As(&common.Job{User: "me"}, "me", Local); as != nil || why != nil {
		t.Errorf("%+v, %+v", as, why)
	}
	if _, why := f.As(&common.Job{User: "root"}, "me", Local); why == nil || why.Code != "user_not_allowed" ||
		why.Data["workerUser"] != "me" {
		t.Errorf("%+v", why)
	}
	if why := f.Shell(&common.Job{}, "/bin/zsh"); why != nil {
		t.Error(why)
	}
	if why := f.Command(&common.Job{}, "anything"); why != nil {
		t.Error(why)
	}
	if f.Conditions() != nil {
		t.Error("there is a condition")
	}
}

// A file that users other than root could have written is refused.
func TestOpen_ChecksOwnerAndPermissions(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, dir, path string)
		config func(*Config)
		wrong  string
	}{
		"valid": {},
		"writable by its group": {
			change: func(t *testing.T, _, path string) { chmod(t, path, 0o664) },
			wrong:  "may write it",
		},
		"writable by all users": {
			change: func(t *testing.T, _, path string) { chmod(t, path, 0o606) },
			wrong:  "may write it",
		},
		"writable folder": {
			change: func(t *testing.T, dir, _ string) { chmod(t, dir, 0o775) },
			wrong:  "may write it",
		},
		"other owner": {config: func(c *Config) { c.Trusted = 4711 }, wrong: "must belong to root"},
		"a folder": {change: func(t *testing.T, _, path string) {
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o755)); err != nil {
				t.Fatal(err)
			}
		}, wrong: "not a regular file"},
		"link to a writable folder": {change: func(t *testing.T, dir, path string) {
			open := filepath.Join(dir, "open")
			real := filepath.Join(open, "real")
			err := errors.Join(os.Mkdir(open, 0o700), os.Chmod(open, 0o777), os.Rename(path, real),
				os.Symlink(real, path))
			if err != nil {
				t.Fatal(err)
			}
		}, wrong: "may write it"},
		"no such file": {change: func(t *testing.T, _, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, wrong: "no such file"},
		"unknown key": {
			change: func(t *testing.T, _, path string) { write(t, path, "nonsense: 1\n") },
			wrong:  "nonsense",
		},
		"missing capability": {
			config: func(c *Config) { c.Capable = func() error { return errors.New("it lacks CAP_SETUID") } },
			wrong:  "it lacks CAP_SETUID",
		},
		"missing capability that is not needed": {
			change: func(t *testing.T, _, path string) { write(t, path, "groups: {g: {disabled: true}}\n") },
			config: func(c *Config) { c.Capable = func() error { return errors.New("no") } },
		},
		"too large": {
			change: func(t *testing.T, _, path string) { write(t, path, strings.Repeat("#\n", 1<<20)) },
			wrong:  "larger than",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "run-as.yaml")
			write(t, path, "groups: {backup: {users: [bin]}}\n")
			if c.change != nil {
				c.change(t, dir, path)
			}
			config := c.config
			if config == nil {
				config = func(*Config) {}
			}
			if name == "other owner" && os.Getuid() == 0 {
				if err := os.Chown(path, 4712, 0); err != nil {
					t.Fatal(err)
				}
			}
			_, _, err := open(t, path, config)
			if c.wrong == "" && err != nil || c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong) ||
				!strings.Contains(err.Error(), "runAs")) {
				t.Errorf("%v, want %q", err, c.wrong)
			}
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// A changed file applies at once; if it is invalid, the previous rules apply and there is a condition.
func TestChangedFile_AppliesAtOnceIfItIsValid(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run-as.yaml")
	n := int64(0)
	change := func(text string) {
		t.Helper()
		write(t, path, text)
		n++
		// so that each change is noticed
		if err := os.Chtimes(path, time.Time{}, time.Unix(1_000_000+n, 0)); err != nil {
			t.Fatal(err)
		}
	}
	change("groups: {backup: {users: [bin]}}\n")
	f, log, err := open(t, path)
	if err != nil {
		t.Fatal(err)
	}
	may := func(user string) bool {
		as, why := f.As(&common.Job{Group: "backup", User: user}, "carillon-worker", Local)
		return why == nil && as != nil && as.Name == user
	}
	expect := func(bin, daemon, wrong bool) {
		t.Helper()
		if may("bin") != bin || may("daemon") != daemon || (len(f.Conditions()) > 0) != wrong {
			t.Errorf("bin %v, daemon %v, %+v", may("bin"), may("daemon"), f.Conditions())
		}
	}
	expect(true, false, false)
	change("groups: {backup: {users: [daemon]}}\n")
	expect(false, true, false)
	change("groups: {backup: {users: [bin]\n")
	expect(false, true, true)
	change("groups: {backup: {users: [bin]}}\n")
	chmod(t, path, 0o666)
	expect(false, true, true)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expect(false, true, true)
	expect(false, true, true)
	change("groups: {backup: {users: [bin]}}\n")
	expect(true, false, false)
	if logged := strings.Count(log.String(), "run_as_not_read"); logged != 3 {
		t.Errorf("run_as_not_read was logged %d times, want once for each of 3 invalid states:\n%s", logged, log)
	}
	if c := f.Conditions(); len(c) != 0 {
		t.Errorf("%+v", c)
	}
}
