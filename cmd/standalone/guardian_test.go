package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"carillon/internal/executor/proctree"
	"carillon/test/harness"
)

// asStandalone makes the test binary the program itself.
const asStandalone = "STANDALONE_TEST"

// patience is how long a test waits for what must happen; it is no measure.
const patience = time.Minute

func TestMain(m *testing.M) {
	if os.Getenv(asStandalone) != "" {
		main()
	}
	if signal.Ignored(syscall.SIGHUP) { // under nohup(1), which the programs under test must not inherit
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	os.Exit(m.Run())
}

// family is a command with six descendants, some of which hide. They print their ids.
const family = `
sleep 600 >/dev/null 2>&1 & echo $!
setsid sh -c 'echo $$; exec sleep 600 >/dev/null 2>&1' &
sh -c 'setsid sh -c "echo \$\$; exec sleep 600 >/dev/null 2>&1" & exit' &
env -i setsid sh -c 'cd /; echo $$; exec sleep 600 >/dev/null 2>&1' &
sh -c 'echo $$; exec sleep 600' &
sh -c 'trap "" TERM HUP INT; echo $$; while :; do sleep 1; done' &
wait`

// house is a standalone with a job that runs the family.
type house struct {
	t                *testing.T
	guardian, worker int
	six              []int
	stderr           bytes.Buffer
	cmd              *exec.Cmd
	address          string
	dir, token       string
}

func (h *house) ready() bool {
	resp, err := http.Get("http://" + h.address + "/readyz")
	if err != nil {
		return false
	}
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// openHouse starts a standalone, and waits until it is ready.
func openHouse(t *testing.T, change ...func(*exec.Cmd)) *house {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	h := &house{
		t:   t,
		cmd: exec.Command(os.Args[0], "--data-dir", t.TempDir(), "--listen", address, "--drain-timeout", "1s"),
	}
	h.cmd.Env = append(os.Environ(), asStandalone+"=1")
	h.cmd.Stderr = &h.stderr
	for _, c := range change {
		c(h.cmd)
	}
	h.dir = h.cmd.Args[2] // one of them may have changed it
	welcome := filepath.Join(h.dir, "welcome")
	stdout, err := os.Create(welcome)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	h.cmd.Stdout = stdout
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	h.guardian = h.cmd.Process.Pid
	t.Cleanup(func() {
		for _, pid := range append(h.six, h.worker) {
			if pid > 0 && !gone(pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		_ = h.cmd.Process.Kill()
		_ = h.cmd.Wait()
	})
	h.address = address
	h.await("it is ready", func() bool {
		said, _ := os.ReadFile(welcome)
		return h.ready() && strings.Contains(string(said), "admin.token")
	})
	token, err := os.ReadFile(filepath.Join(h.dir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	h.token = strings.TrimSpace(string(token))
	for _, p := range proctree.Below(h.guardian) {
		if p.Parent == h.guardian {
			h.worker = p.PID
		}
	}
	return h
}

// post sends a request to the API.
func (h *house) post(path string, body any) {
	h.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		h.t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, "http://"+h.address+path,
		bytes.NewReader(data))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+h.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		h.t.Fatalf("%s answers %s", path, resp.Status)
	}
}

// startHouse starts a standalone, and the family in it.
func startHouse(t *testing.T) *house {
	t.Helper()
	h := openHouse(t)
	out := filepath.Join(h.dir, "pids")
	h.post("/api/v1/jobs", map[string]any{
		"name":      "family",
		"cronExpr":  "0 0 1 1 *",
		"command":   "exec >" + out + family,
		"killGrace": "1s",
	})
	h.post("/api/v1/jobs/family/run", map[string]any{})
	h.await("the family is there", func() bool {
		text, _ := os.ReadFile(out)
		h.six = nil
		for field := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(field); err == nil {
				h.six = append(h.six, pid)
			}
		}
		return len(h.six) == 6
	})
	if h.worker == 0 || gone(h.six[3]) {
		t.Fatal("the worker is no child of the guardian")
	}
	return h
}

func (h *house) await(what string, done func() bool) {
	h.t.Helper()
	for deadline := time.Now().Add(patience); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			h.t.Fatalf("it does not happen that %s\n%s", what, h.stderr.String())
		}
	}
}

func (h *house) signal(pid int, s syscall.Signal) {
	h.t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		h.t.Fatal(err)
	}
}

func gone(pid int) bool {
	p, found := proctree.Look(pid)
	return !found || p.Dead
}

// However a standalone ends, its commands end with it, and all that they started.
func TestNothingOutlivesTheWorker(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(h *house)
		code int
	}{
		"the worker is killed":   {func(h *house) { h.signal(h.worker, syscall.SIGKILL) }, 128 + 9},
		"the guardian is killed": {func(h *house) { h.signal(h.guardian, syscall.SIGKILL) }, -1},
		"it is told to stop":     {func(h *house) { h.signal(h.guardian, syscall.SIGTERM) }, 0},
		"its terminal closes":    {func(h *house) { h.signal(h.guardian, syscall.SIGHUP) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := startHouse(t)
			begin := time.Now()
			c.end(h)
			for _, pid := range h.six {
				h.await(fmt.Sprintf("%d ends", pid), func() bool { return gone(pid) })
			}
			commands := time.Since(begin)
			h.await("the worker ends", func() bool { return gone(h.worker) })
			worker := time.Since(begin)
			_ = h.cmd.Wait()
			t.Logf("six descendants gone after %v, the worker after %v", commands, worker)
			if code := h.cmd.ProcessState.ExitCode(); code != c.code {
				t.Errorf("code %d, want %d\n%s", code, c.code, h.stderr.String())
			}
		})
	}
}

// What hid from the kernel's and the guardian's end is found by the next start, before it claims anything, and
// its run is recovered at once.
func TestNextStartEndsHiddenProcesses(t *testing.T) {
	h := startHouse(t)
	h.signal(h.guardian, syscall.SIGSTOP) // both at once
	h.signal(h.worker, syscall.SIGKILL)
	h.signal(h.guardian, syscall.SIGKILL)
	_ = h.cmd.Wait()
	h.await("the worker ends", func() bool { return gone(h.worker) })
	left := 0
	for _, pid := range h.six {
		if !gone(pid) {
			left++
		}
	}
	if left == 0 {
		t.Fatal("nothing outlived them")
	}
	said := &printed{}
	next := exec.Command(h.cmd.Args[0], h.cmd.Args[1:]...)
	next.Env, next.Stderr = h.cmd.Env, said
	if err := next.Start(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	for _, pid := range h.six {
		h.await(fmt.Sprintf("%d ends", pid), func() bool { return gone(pid) })
	}
	t.Logf("%d descendants gone %v after the next start", left, time.Since(begin))
	h.await("it is ready", h.ready)
	h.await("the run is resolved", func() bool { return strings.Contains(said.String(), "run_lost") })
	if err := next.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = next.Wait()
	if text := said.String(); !strings.Contains(text, "leftovers_killed") {
		t.Errorf("it said\n%s", text)
	}
}

// printed collects what a process prints.
type printed struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *printed) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *printed) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// A job's command runs as the same user as worker and guardian, in whose environment passwords and keys may be.
func TestCommandsCannotReadWorkerOrGuardian(t *testing.T) {
	h := openHouse(t, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "ETCD_PASSWORD=canary")
		if os.Getuid() == 0 { // who may read everything
			runAsNobody(t, cmd)
		}
	})
	out := filepath.Join(h.dir, "spied")
	h.post("/api/v1/jobs", map[string]any{"name": "spy", "cronExpr": "0 0 1 1 *", "command": `exec >` + out + `.new
for p in ` + fmt.Sprintf("%d %d", h.guardian, h.worker) + ` $$; do
	for file in environ maps auxv; do head -c1 /proc/$p/$file | grep -q . && echo "$file of $p"; done
	ls /proc/$p/fd | grep -q . && echo "fd of $p"
	grep -aq ETCD_PASSW[O]RD /proc/$p/cmdline && echo "cmdline of $p"
	dd if=/proc/$p/mem of=/dev/null count=0 && echo "mem of $p"
done 2>/dev/null
ulimit -c; mv ` + out + `.new ` + out})
	h.post("/api/v1/jobs/spy/run", map[string]any{})
	var text []byte
	h.await("the command has looked around", func() bool {
		var err error
		text, err = os.ReadFile(out)
		return err == nil
	})
	self := regexp.MustCompile(`^environ of (\d+)\nmaps of (\d+)\nauxv of (\d+)\nfd of (\d+)\nmem of (\d+)\n0\n$`).
		FindStringSubmatch(string(text))
	if self == nil || self[1] == strconv.Itoa(h.guardian) || self[1] == strconv.Itoa(h.worker) {
		t.Errorf("guardian %d, worker %d, and the command reads\n%s", h.guardian, h.worker, text)
	}
}

// Commands of other users can reach each socket on which the processes listen, and an abstract name has no
// permissions.
func TestListensForTheAPIOnly(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the descriptors of the worker can be read by root only")
	}
	h := openHouse(t)
	for _, pid := range []int{h.guardian, h.worker} {
		found, err := harness.Listening(pid)
		if err != nil {
			t.Fatal(err)
		}
		for _, address := range found {
			if address != h.address && !strings.HasPrefix(address, "@carillon-worker-") {
				t.Errorf("process %d (guardian %d, worker %d) listens on %s", pid, h.guardian, h.worker, address)
			}
		}
		if pid == h.worker && !slices.Contains(found, h.address) {
			t.Errorf("the worker listens on %q, want %s among them", found, h.address)
		}
	}
}

// runAsNobody changes the user of a program that was not started yet, and gives it what it needs.
func runAsNobody(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	binary, err := os.ReadFile(cmd.Path)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "nobody-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	self, data := filepath.Join(dir, "self"), filepath.Join(dir, "data")
	const nobody = 65534
	if err := errors.Join(os.WriteFile(self, binary, 0o700), os.Chmod(self, 0o755), os.Chmod(dir, 0o755),
		os.Mkdir(data, 0o700), os.Chown(data, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	cmd.Path = self
	cmd.Args[2], cmd.Dir = data, data
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

func TestWhatIsPrintedComesThrough(t *testing.T) {
	for _, c := range []struct {
		args, says string
		code       int
	}{
		{"--version", "carillon-standalone version", 0},
		{"--help", "--drain-timeout", 0},
		{"--no-such-flag", "no-such-flag", 78},
	} {
		cmd := exec.Command(os.Args[0], c.args)
		cmd.Env = append(os.Environ(), asStandalone+"=1")
		out, _ := cmd.CombinedOutput()
		if code := cmd.ProcessState.ExitCode(); code != c.code || !strings.Contains(string(out), c.says) {
			t.Errorf("%s: code %d, want %d, and %q in\n%s", c.args, code, c.code, c.says, out)
		}
	}
}
