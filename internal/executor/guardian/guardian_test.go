package guardian

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMain_ReturnsTheExitCodeOfTheWorker(t *testing.T) {
	for _, code := range []int{0, 1, 4, 78} {
		p := startProgram(t, fmt.Sprintf("exit %d", code))
		_ = p.cmd.Wait()
		if got := p.cmd.ProcessState.ExitCode(); got != code || p.stderr.Len() > 0 {
			t.Errorf("code %d, want %d: %s", got, code, p.stderr.String())
		}
	}
}

func TestWorkerDies_GuardianKillsItsDescendants(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGKILL, 137}, {syscall.SIGTERM, 7}, {syscall.SIGSEGV, 2}} {
		p := startFamily(t, 0)
		begin := time.Now()
		send(t, p.worker, c.signal)
		if code := p.allGone(begin); code != c.code {
			t.Errorf("%v: code %d, want %d", c.signal, code, c.code)
		}
	}
}

func TestGuardianDies_WorkerKillsItsDescendants(t *testing.T) {
	p := startFamily(t, 0)
	begin := time.Now()
	send(t, p.guardian(), syscall.SIGKILL)
	p.allGone(begin)
}

func TestSignalsArePassedOn(t *testing.T) {
	p := startFamily(t, 0)
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGUSR1, syscall.SIGINT} {
		send(t, p.guardian(), s)
		if line := p.line(); line != "caught "+s.String() {
			t.Errorf("%v: %q", s, line)
		}
	}
	p.answers("still alive")
	begin := time.Now()
	send(t, p.guardian(), syscall.SIGTERM)
	if code := p.allGone(begin); code != 7 {
		t.Errorf("code %d", code)
	}
}

// A worker that sends no heartbeat before its deadline is killed, with all its descendants.
func TestStoppedWorker_IsKilledAfterItsDeadline(t *testing.T) {
	const lead = 1500 * time.Millisecond
	p := startFamily(t, lead)
	send(t, p.worker, syscall.SIGSTOP)
	time.Sleep(lead / 3)
	send(t, p.worker, syscall.SIGCONT)
	p.answers("a short stop has no effect")

	begin := time.Now()
	send(t, p.worker, syscall.SIGSTOP)
	if code := p.allGone(begin); code != 137 || !strings.Contains(p.stderr.String(), "worker_silent") {
		t.Errorf("code %d: %s", code, p.stderr.String())
	}
	if took := time.Since(begin); took < lead-100*time.Millisecond {
		t.Errorf("killed after %v, want at least %v", took, lead)
	}
}

func TestStoppedWorkerWithoutDeadline_IsNotKilled(t *testing.T) {
	p := startFamily(t, 0)
	send(t, p.worker, syscall.SIGSTOP)
	time.Sleep(time.Second)
	send(t, p.worker, syscall.SIGCONT)
	p.answers("nothing happened")
}

func TestStoppedGuardian_WaitsForAHeartbeatBeforeItKills(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for longer than the permitted silence")
	}
	const lead = 700 * time.Millisecond
	p := startFamily(t, lead)
	send(t, p.guardian(), syscall.SIGSTOP)
	time.Sleep(3 * time.Second)
	send(t, p.guardian(), syscall.SIGCONT)
	time.Sleep(2 * patience)
	p.answers("nothing happened")

	// If the worker is stopped as well, the guardian kills it once it runs again.
	send(t, p.guardian(), syscall.SIGSTOP)
	send(t, p.worker, syscall.SIGSTOP)
	time.Sleep(3 * time.Second)
	begin := time.Now()
	send(t, p.guardian(), syscall.SIGCONT)
	if code := p.allGone(begin); code != 137 {
		t.Errorf("code %d", code)
	}
}

func following(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, asFollower+"=2s") }

// The worker continues a stopped guardian, so that no process outlives a worker that is killed then.
func TestStoppedGuardian_IsContinued(t *testing.T) {
	p := startFamily(t, 0, following)
	send(t, p.guardian(), syscall.SIGSTOP)
	var status syscall.WaitStatus
	for deadline := time.Now().Add(patienceOfTests); !status.Continued(); time.Sleep(time.Millisecond) {
		if _, err := syscall.Wait4(p.guardian(), &status, syscall.WNOHANG|syscall.WCONTINUED, nil); err != nil ||
			time.Now().After(deadline) {
			t.Fatalf("the guardian stays stopped: %v", err)
		}
	}
	p.answers("the worker continues")
	begin := time.Now()
	send(t, p.worker, syscall.SIGKILL)
	if code := p.allGone(begin); code != 137 {
		t.Errorf("code %d", code)
	}
	if !strings.Contains(p.stderr.String(), "guardian_continued") {
		t.Error("guardian_continued is not in the log")
	}
}

// A worker whose guardian stays silent ends its descendants, itself, and finally the guardian.
func TestSilentGuardian_EndsTheWorker(t *testing.T) {
	p := startFamily(t, 0, following, func(cmd *exec.Cmd) { cmd.Env = append(cmd.Env, asDeaf+"=1") })
	p.answers("a short silence has no effect")
	p.allGone(time.Now())
	if status, _ := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signal() != syscall.SIGKILL {
		t.Errorf("the guardian ended with %v, want SIGKILL", p.cmd.ProcessState)
	}
	if !strings.Contains(p.stderr.String(), ErrSilent.Error()) {
		t.Errorf("the worker logged %s", p.stderr.String())
	}
}

// A worker that was itself frozen, as on a suspended machine, does not count that time as silence.
func TestFrozenMachine_EndsNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for longer than the permitted silence")
	}
	p := startFamily(t, 0, following)
	for range 3 {
		send(t, p.guardian(), syscall.SIGSTOP)
		send(t, p.worker, syscall.SIGSTOP)
		time.Sleep(3 * time.Second) // longer than the permitted silence
		send(t, p.worker, syscall.SIGCONT)
		p.answers("it was only frozen")
	}
}

// nohup(1) and some supervisors start programs with ignored signals. The worker does not inherit them.
func TestIgnoredSignals_AreNotInheritedByTheWorker(t *testing.T) {
	nohup := func(cmd *exec.Cmd) {
		cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", `trap "" HUP; exec "$0"`, cmd.Path}
	}
	p := startFamily(t, 0, nohup)
	send(t, p.guardian(), syscall.SIGHUP) // not passed on
	send(t, p.guardian(), syscall.SIGUSR1)
	if line := p.line(); line != "caught "+syscall.SIGUSR1.String() {
		t.Errorf("the guardian passed on: %q", line)
	}
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.worker))
	// 32 and 33 are the C library's own, which its posix_spawn leaves ignored and no program uses.
	var ignored uint64
	if _, after, found := strings.Cut(string(status), "\nSigIgn:\t"); !found {
		t.Errorf("no SigIgn in %s", status)
	} else if _, err := fmt.Sscanf(after, "%x", &ignored); err != nil {
		t.Error(err)
	}
	if err != nil || ignored&^(3<<31) != 0 {
		t.Errorf("the worker ignores signals: %v\n%s", err, status)
	}
	begin := time.Now()
	send(t, p.guardian(), syscall.SIGTERM)
	if code := p.allGone(begin); code != 7 {
		t.Errorf("code %d", code)
	}
}

// A ^C in a terminal reaches only the guardian, which passes it on to the worker.
func TestTerminalInterrupt_ReachesTheWorkerOnce(t *testing.T) {
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	defer ours.Close()
	if err := unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer theirs.Close()
	p := startProgram(t, "wait", func(cmd *exec.Cmd) {
		cmd.Stdin = theirs
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	})
	p.awaitWorker()
	if _, err := ours.Write([]byte{3}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"caught interrupt", "caught terminated"} {
		if line := p.line(); line != want {
			t.Errorf("got %q, want %q", line, want)
		}
		send(t, p.guardian(), syscall.SIGTERM)
	}
	if code := p.allGone(time.Now()); code != 7 {
		t.Errorf("code %d", code)
	}
}

// The worker does not see the variables of the service manager and of the guardian.
func TestWorkerEnvironment_HasNoVariablesOfTheGuardian(t *testing.T) {
	for _, forged := range []string{"", variable + "=1", variable + "=99", variable + "=x"} {
		p := startProgram(t, "env", func(cmd *exec.Cmd) {
			cmd.Env = append(cmd.Env, "NOTIFY_SOCKET=/nowhere", "WATCHDOG_USEC=1000000", "WATCHDOG_PID=1",
				"CARILLON_SLOTS=3", forged)
		})
		var seen []string
		for line := range p.lines {
			seen = append(seen, line)
		}
		for _, line := range seen {
			name, _, _ := strings.Cut(line, "=")
			if slices.Contains(variables, name) || name == variable {
				t.Errorf("with %q: the worker sees %s", forged, line)
			}
		}
		if !slices.Contains(seen, "CARILLON_SLOTS=3") {
			t.Errorf("with %q: the worker sees %v", forged, seen)
		}
	}
}

func TestServiceManager_ReceivesNotifications(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	if err := socket.SetReadDeadline(time.Now().Add(patienceOfTests)); err != nil {
		t.Fatal(err)
	}
	p := startProgram(t, "notify", func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=600000")
	})
	p.awaitWorker()
	states := map[string]int{}
	for buf := make([]byte, 100); states["READY=1"] < 1 || states["WATCHDOG=1"] < 3; {
		n, err := socket.Read(buf)
		if err != nil {
			t.Fatal(err, states)
		}
		states[string(buf[:n])]++
	}
	if len(states) != 2 {
		t.Errorf("it received %v", states)
	}
}

func TestChildWithoutGuardian_DoesNothing(t *testing.T) {
	var c *Child
	c.Beat(time.Hour)
	if err := c.Notify("READY=1"); err != nil {
		t.Error(err)
	}
	if all := c.Conditions(); len(all) != 0 {
		t.Errorf("conditions %v", all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Follow(ctx, slog.New(slog.DiscardHandler)); err != nil {
		t.Error(err)
	}
}
