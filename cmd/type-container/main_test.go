package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor"
	"carillon/internal/executor/inside"
)

// inContainer is the name under which the test binary is a program in a container.
const inContainer = "carillon-hello"

// TestMain makes the test binary the plug-in when it is called as such; its podman is in the same folder.
func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case "carillon-type-container":
		podman = filepath.Join(filepath.Dir(os.Args[0]), "podman")
		main()
	case inContainer:
		fmt.Println("hello", os.Getenv("NAME"), os.Getenv("CARILLON_JOB"))
		if err := os.WriteFile(filepath.Join(os.Getenv("CARILLON_OUTPUT"), "rows"), []byte("3"), 0o644); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// standIn is a podman that records its calls. Containers are named by their command: print, exit N, or leave.
const standIn = `#!/bin/sh
dir=$(dirname "$0")
printf '%s\n' "$*" >>"$dir/calls"
case $1 in
ps) cat "$dir/earlier" 2>/dev/null; exit 0 ;;
rm) exit 0 ;;
esac
env | sort >"$dir/environ"
tr '\0' '\n' <"/proc/$$/cmdline" >"$dir/arguments"
for option; do
	case $option in
	--env-file=*) cat "${option#--env-file=}" >"$dir/variables" ;;
	--volume=*:/run/carillon/outputs) outputs=${option#--volume=}; printf 7 >"${outputs%%:*}/rows" ;;
	--interactive) cat ;;
	esac
done
while [ "$1" != image ]; do shift; done
case ${2:-} in
exit) exit "$3" ;;
leave) setsid sleep 300 >/dev/null 2>&1 & echo $! >"$dir/left"; echo left; trap '' TERM; sleep 300 ;;
esac
`

// installed returns a folder with the plug-in and a podman.
func installed(t *testing.T, podman string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "types")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"carillon-type-container": self, "podman": []byte(podman)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

type printed struct {
	mu    sync.Mutex
	text  bytes.Buffer
	begun chan struct{}
	once  sync.Once
}

func (p *printed) Chunk(c common.Chunk) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.text.Write(c.Data)
	p.once.Do(func() { close(p.begun) })
}

func (p *printed) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func newPrinted() *printed { return &printed{begun: make(chan struct{})} }

func worker(t *testing.T, dir string) *executor.Executor {
	t.Helper()
	x, err := executor.New(executor.Config{BaseDir: t.TempDir(),
		PlugIns: executor.PlugIns{Dir: dir, Trusted: uint32(os.Getuid())}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

func taskOf(t *testing.T, with string, change ...func(*common.Job)) executor.Task {
	t.Helper()
	job := common.Job{Name: "report", Type: "container", KillGrace: "10ms"}
	if err := json.Unmarshal([]byte(with), &job.With); err != nil {
		t.Fatal(err)
	}
	for _, c := range change {
		c(&job)
	}
	uid, at := common.NewID(), time.Date(2031, 3, 4, 5, 6, 7, 0, time.UTC)
	fire := common.PlannedFire(uid, at)
	return executor.Task{Job: common.StoredJob{Job: job, UID: uid}, Fence: 4711, Record: common.Record{
		Run: common.RunID(fire, 1), Fire: fire, Job: job.Name, JobUID: uid, Attempt: 1, PlannedAt: at,
		Policy: job.Terms().Policy}}
}

func contentOf(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestPlugIn_PassesTheChecksOfTheProtocol(t *testing.T) {
	t.Parallel()
	dir := installed(t, standIn)
	x := worker(t, dir)
	if x.Types()["container"] != "1.0.0" {
		t.Errorf("%+v", x.TypeReports())
	}
	for _, check := range x.CheckPlugIn(t.Context(), filepath.Join(dir, "carillon-type-container")) {
		if check.Problem != "" {
			t.Errorf("%s: %s", check.Name, check.Problem)
		}
	}
}

func TestRun_CallsPodmanWithTheSettings(t *testing.T) {
	t.Parallel()
	dir := installed(t, standIn)
	if err := os.WriteFile(filepath.Join(dir, "earlier"), []byte("aaa\nbbb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	task := taskOf(t, `{"image": "image", "command": ["print", "--a b"], "entrypoint": "/bin/tool", "user": "1000:1000",
		"env": {"TOKEN": "s3cret canary", "EMPTY": ""}, "stdin": "from stdin", "mounts": ["/srv/data:/data:ro"],
		"network": "none", "pull": "never", "workDir": "/data", "init": true}`, func(j *common.Job) {
		j.Env = map[string]string{"CONTAINER_HOST": "tcp://elsewhere.example"}
		j.Outputs = map[string]common.Output{"rows": {Required: true}}
	})
	out := newPrinted()
	run := worker(t, dir).Run(t.Context(), task, out)
	if run.Status != common.StatusSucceeded || run.Outputs["rows"] != "7" || out.String() != "from stdin" {
		t.Fatalf("%s %+v %v: %q", run.Status, run.Reason, run.Outputs, out)
	}
	arguments := strings.Split(strings.TrimSuffix(contentOf(t, dir, "arguments"), "\n"), "\n")
	for _, want := range []string{"run", "--rm", "--name=carillon-" + task.Record.Run, "--cgroups=disabled",
		"--label=carillon.fire=" + task.Record.Fire, "--entrypoint=/bin/tool", "--user=1000:1000", "--network=none",
		"--pull=never", "--workdir=/data", "--volume=/srv/data:/data:ro", "--init", "--interactive",
		"--security-opt=no-new-privileges", "--log-driver=none"} {
		if !slices.Contains(arguments, want) {
			t.Errorf("podman lacks %s: %q", want, arguments)
		}
	}
	if last := arguments[len(arguments)-3:]; !slices.Equal(last, []string{"image", "print", "--a b"}) {
		t.Errorf("%q", last)
	}
	variables := contentOf(t, dir, "variables")
	for _, want := range []string{"TOKEN=s3cret canary\n", "EMPTY=\n", "CARILLON_JOB=report\n",
		"CARILLON_OUTPUT=/run/carillon/outputs\n", "CARILLON_FENCE=4711\n"} {
		if !strings.Contains("\n"+variables, "\n"+want) {
			t.Errorf("the variables lack %q:\n%s", want, variables)
		}
	}
	environ := contentOf(t, dir, "environ")
	for what, text := range map[string]string{"arguments": strings.Join(arguments, "\n"), "environment": environ} {
		if strings.Contains(text, "canary") || strings.Contains(text, "from stdin") {
			t.Errorf("the %s of podman contain a secret:\n%s", what, text)
		}
	}
	if strings.Contains(environ, "CONTAINER_HOST") {
		t.Errorf("a variable of the job reaches podman:\n%s", environ)
	}
	calls := contentOf(t, dir, "calls")
	if !strings.HasPrefix(calls, "ps --all --quiet --no-trunc --filter=label=carillon.fire="+task.Record.Fire+
		"\nrm --force --ignore --time=0 aaa bbb\nrun ") {
		t.Errorf("what an earlier attempt left is not removed first:\n%s", calls)
	}
}

func TestRun_ExitCodes(t *testing.T) {
	t.Parallel()
	for with, want := range map[string]struct {
		status common.Status
		code   string
		exit   string
	}{
		`{"image": "image", "command": ["exit", "0"]}`:   {common.StatusSucceeded, "", ""},
		`{"image": "image", "command": ["exit", "3"]}`:   {common.StatusFailed, "exit_code", "3"},
		`{"image": "image", "command": ["exit", "64"]}`:  {common.StatusFailed, "exit_code", "1"},
		`{"image": "image", "command": ["exit", "75"]}`:  {common.StatusFailed, "exit_code", "75"},
		`{"image": "image", "command": ["exit", "125"]}`: {common.StatusFailed, "exit_code", "125"},
		`{"image": "--privileged"}`:                      {common.StatusRefused, common.ReasonWithRefused, ""},
		`{"image": "image", "mounts": ["/a:/b:z"]}`:      {common.StatusRefused, common.ReasonWithRefused, ""},
		`{"image": "image", "env": {"A": "1\n2"}}`:       {common.StatusRefused, common.ReasonWithRefused, "64"},
		`{"image": "image", "env": {"CARILLON_A": "1"}}`: {common.StatusRefused, common.ReasonWithRefused, ""},
	} {
		t.Run(with, func(t *testing.T) {
			t.Parallel()
			run := worker(t, installed(t, standIn)).Run(t.Context(), taskOf(t, with), newPrinted())
			code, exit := "", ""
			if run.Reason != nil {
				code, exit = run.Reason.Code, run.Reason.Data["exitCode"]
			}
			if want.exit == "64" && run.ExitCode != nil {
				exit = strconv.Itoa(*run.ExitCode)
			}
			if run.Status != want.status || code != want.code || exit != want.exit {
				t.Errorf("%s %+v", run.Status, run.Reason)
			}
		})
	}
}

// A killed run ends with all processes of its container, also those that have left the process group.
func TestRun_KilledEndsTheContainer(t *testing.T) {
	t.Parallel()
	dir := installed(t, standIn)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	out := newPrinted()
	go func() {
		<-out.begun
		cancel(inside.Killed{By: "ada"})
	}()
	run := worker(t, dir).Run(ctx, taskOf(t, `{"image": "image", "command": ["leave"]}`), out)
	if run.Status != common.StatusKilled {
		t.Fatalf("%s %+v: %s", run.Status, run.Reason, out)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(contentOf(t, dir, "left")))
	if err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if syscall.Kill(pid, 0) == nil && err == nil && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("process %d of the container is left: %s", pid, stat)
	}
}

func TestDescribe_WithoutPodman_TheTypeIsNotOffered(t *testing.T) {
	t.Parallel()
	dir := installed(t, standIn)
	if err := os.Remove(filepath.Join(dir, "podman")); err != nil {
		t.Fatal(err)
	}
	x := worker(t, dir)
	if _, offered := x.Types()["container"]; offered {
		t.Error("it is offered")
	}
	reports := x.TypeReports()
	if last := reports[len(reports)-1]; !strings.Contains(last.Problem, "podman is not installed") {
		t.Errorf("%+v", reports)
	}
}

// With a real podman, if this machine has one that can run containers.
func TestPodman(t *testing.T) {
	t.Parallel()
	const program = "/usr/bin/podman"
	if _, err := os.Stat(program); err != nil {
		t.Skipf("this machine has no %s; the tests above use a stand-in", program)
	}
	image := "localhost/carillon-test:" + strings.ToLower(common.NewID())
	load := exec.CommandContext(t.Context(), program, "import", "-", image)
	load.Stdin = imageOf(t)
	if said, err := load.CombinedOutput(); err != nil {
		t.Skipf("podman cannot load images here: %v: %s", err, said)
	}
	t.Cleanup(func() { _ = exec.Command(program, "rmi", "--force", image).Run() })
	plain := exec.CommandContext(t.Context(), program, "run", "--rm", "--cgroups=disabled", "--network=none", image,
		"/"+inContainer)
	if said, err := plain.CombinedOutput(); !strings.Contains(string(said), "hello") {
		t.Skipf("podman cannot run containers here: %v: %s", err, said)
	}
	dir := installed(t, "#!/bin/sh\nexec "+program+` "$@"`+"\n")
	task := taskOf(t, `{"image": "`+image+`", "command": ["/`+inContainer+`"], "network": "none", "pull": "never",
		"env": {"NAME": "Ada"}}`, func(j *common.Job) { j.Outputs = map[string]common.Output{"rows": {Required: true}} })
	out := newPrinted()
	run := worker(t, dir).Run(t.Context(), task, out)
	if run.Status != common.StatusSucceeded || !strings.Contains(out.String(), "hello Ada report") ||
		run.Outputs["rows"] != "3" {
		t.Errorf("%s %+v %v: %s", run.Status, run.Reason, run.Outputs, out)
	}
}

// imageOf returns the file system of an image that contains this test binary only.
func imageOf(t *testing.T) *bytes.Buffer {
	t.Helper()
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	if err := w.WriteHeader(&tar.Header{Name: inContainer, Mode: 0o755, Size: int64(len(self))}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(self); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &out
}
