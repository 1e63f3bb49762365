package executor_test

import (
	"flag"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"carillon/internal/common"
	"carillon/internal/executor"
)

var update = flag.Bool("update", false, "write the golden files anew")

// All that a command finds when it starts: its environment, descriptors, limits, masks, capabilities and folder. What
// depends on the machine or on the run is named.
func TestCommandStartState(t *testing.T) {
	t.Setenv("ETCD_PASSWORD", "canary")
	t.Setenv("LD_PRELOAD", "")
	inherited, err := syscall.Dup(int(os.Stdout.Fd())) // as if this process was started with it
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(inherited)
	if err := executor.Prepare(); err != nil {
		t.Fatal(err)
	}
	const look = `echo '[environment]'; env | grep -v '^_=\|^PWD=\|^OLDPWD=\|^SHLVL=' | sort
echo '[descriptors]'; ls /proc/$$/fd; readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2
echo '[limits]'; cat /proc/self/limits
echo '[process]'; echo "umask $(umask)"; grep -E '^(NoNewPrivs|Cap(Inh|Amb)|Sig(Blk|Ign)):' /proc/self/status | tr '\t' ' '
echo "group $(ps -o pgid= -p $$ | tr -d ' ')" terminal "$(ps -o tty= -p $$)"
echo '[folder]'; pwd -P; stat -c '%a %U' .; ls -A`
	x := newExecutor(t, withSecrets(vault{"reports/db": canary}))
	task := newTask(common.Job{
		Name:    "backup",
		Group:   "reports",
		Command: look + "; echo pid $$",
		Env:     map[string]string{"GREETING": "a b=c", "PGPASSWORD": "secret:db"},
		Params:  map[string]common.Param{"DAY": {Default: "2026-01-01"}},
	})
	out := record(t, task)
	expect(t, x.Run(t.Context(), task, out), common.StatusSucceeded, "")
	text, pid, _ := strings.Cut(out.text(), "pid ")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"RUN": task.Record.Run, "HOME": me.HomeDir} {
		text = strings.ReplaceAll(text, "="+value+"\n", "=<"+name+">\n")
	}
	text = strings.ReplaceAll(text, "="+me.Username+"\n", "=<USER>\n")
	text = strings.Replace(text, "group "+strings.TrimSpace(pid), "group <ITS OWN>", 1)
	text = regexp.MustCompile(`pipe:\[\d+\]`).ReplaceAllString(text, "<PIPE>")
	text = regexp.MustCompile(`(?m)^/.*/work/\d+$`).ReplaceAllString(text, "<DATA>/work/<N>")
	text = strings.Replace(text, " "+me.Username+"\n", " <USER>\n", 1)
	// Who started this process may ignore signals, and so does what it starts.
	text = strings.Replace(text, "SigIgn: "+ignored(t)+"\n", "SigIgn: <THE WORKER'S>\n", 1)
	text = limits(t, text)
	golden := filepath.Join("testdata", "finds.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("a command finds\n%s\nwant\n%s", text, want)
	}
}

// ignored are the signals that this process ignores, as the kernel writes them.
func ignored(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	return string(regexp.MustCompile(`(?m)^SigIgn:\s+(\S+)$`).FindSubmatch(status)[1])
}

// limits names those that are this process's own.
func limits(t *testing.T, text string) string {
	t.Helper()
	file, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^(Max .{21}) (\S+) +(\S+) .*\n`)
	own := map[string]string{} // the hard ones: Go raises the soft one of open files for itself alone
	for _, m := range row.FindAllStringSubmatch(string(file), -1) {
		own[m[1]] = m[3]
	}
	text = strings.Replace(text, regexp.MustCompile(`Limit +Soft.*\n`).FindString(text), "", 1)
	return row.ReplaceAllStringFunc(text, func(line string) string {
		m := row.FindStringSubmatch(line)
		name, hard := strings.TrimSpace(m[1]), m[3]
		if name != "Max core file size" && hard == own[m[1]] {
			hard = "<THE WORKER'S>"
		}
		return name + ": " + hard + "\n"
	})
}
