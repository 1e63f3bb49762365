package proctree

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// family starts a shell with a child and a grandchild of its own session.
func family(t *testing.T) (*exec.Cmd, []int) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", `mkfifo f; sleep 300 & echo $!
setsid sh -c 'echo $$; sleep 300 & echo $!; echo >f; wait' & read x <f; echo ready; wait`)
	cmd.Dir, cmd.SysProcAttr = t.TempDir(), &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, p := range Below(cmd.Process.Pid) {
			_ = p.Kill()
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	var pids []int
	for lines := bufio.NewScanner(out); lines.Scan() && lines.Text() != "ready"; {
		pid, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return cmd, pids
}

func ids(list []Process) (pids []int) {
	for _, p := range list {
		pids = append(pids, p.PID)
	}
	slices.Sort(pids)
	return pids
}

func TestBelow_ReturnsAllDescendants_ParentsFirst(t *testing.T) {
	cmd, want := family(t)
	slices.Sort(want)
	below := Below(cmd.Process.Pid)
	if got := ids(below); !slices.Equal(got, want) || len(want) != 3 {
		t.Errorf("below: %v, want %v", got, want)
	}
	for i, p := range below {
		isParent := func(q Process) bool { return q.PID == p.Parent }
		if p.Parent != cmd.Process.Pid && !slices.ContainsFunc(below[:i], isParent) {
			t.Errorf("%d comes before its parent %d", p.PID, p.Parent)
		}
	}
	if mine := Below(os.Getpid()); !slices.Contains(ids(mine), want[0]) {
		t.Errorf("below this process: %v", ids(mine))
	}
	// The scan for kernels that do not list children returns the same.
	children := scanned()
	for _, p := range append(below, Process{PID: cmd.Process.Pid}) {
		a, b := listed(p.PID), children(p.PID)
		slices.Sort(a)
		slices.Sort(b)
		if !slices.Equal(a, b) {
			t.Errorf("children of %d: %v listed, %v scanned", p.PID, a, b)
		}
	}
}

func TestKill_SparesAProcessThatReusesTheID(t *testing.T) {
	cmd, _ := family(t)
	other, found := Look(cmd.Process.Pid)
	if !found || other.Group != cmd.Process.Pid || other.Parent != os.Getpid() {
		t.Fatalf("%+v", other)
	}
	other.Start++ // another process that had this id
	if err := other.Kill(); err != nil {
		t.Error(err)
	}
	for _, p := range Below(cmd.Process.Pid) {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	}
	// The shell waits for its children, and exits by itself after them.
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() < 0 {
		t.Errorf("the shell was killed: %v", err)
	}
	if err := other.Kill(); err != nil {
		t.Error(err)
	}
	if p, found := Look(cmd.Process.Pid); found {
		t.Errorf("still there: %+v", p)
	}
}

func TestLiving_IgnoresZombies(t *testing.T) {
	cmd, pids := family(t)
	own := cmd.Process.Pid
	var other int // the group of the processes in a session of their own
	for _, pid := range pids {
		if p, _ := Look(pid); p.Group != own {
			other = p.Group
		}
	}
	asked := map[int]bool{own: true, other: true, 1 << 30: true}
	if got, err := Living(asked); err != nil || len(got) != 2 || !got[own] || !got[other] {
		t.Errorf("%v, %v", got, err)
	}
	// A group whose only member is its dead, unreaped leader has no live member.
	for _, p := range append(Below(own), Process{PID: own}) {
		if p, found := Look(p.PID); found && p.Group == own {
			if err := p.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	for got := asked; got[own]; {
		var err error
		if got, err = Living(asked); err != nil || !got[other] {
			t.Fatalf("%v, %v", got, err)
		}
	}
	if p, found := Look(own); !found || !p.Dead {
		t.Errorf("%+v", p)
	}
	for _, pid := range pids { // without their parent, the clean-up does not find them
		if p, found := Look(pid); found && p.Group == other && p.Kill() != nil {
			t.Errorf("%+v", p)
		}
	}
}

func TestLook_ParsesNamesWithParentheses(t *testing.T) {
	name := t.TempDir() + "/a) Z 1 (b"
	data, err := os.ReadFile("/bin/sleep")
	if err == nil {
		err = os.WriteFile(name, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(name, "300")
	if err := cmd.Start(); err != nil {
		t.Skip(err) // the temporary folder is mounted noexec
	}
	if p, found := Look(cmd.Process.Pid); !found || p.Parent != os.Getpid() || p.Dead {
		t.Errorf("%+v", p)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if got := Parse([]byte("12 345 \n")); !slices.Equal(got, []int{12, 345}) {
		t.Errorf("%v", got)
	}
	_ = cmd.Wait() // it was killed
}

// A process that executes a program, such as this one, is more than the copy of another.
func TestForked(t *testing.T) {
	if Forked(os.Getpid()) {
		t.Error("this process has executed no program")
	}
	if Forked(1 << 30) {
		t.Error("a process that does not exist")
	}
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	if pid == 0 { // nothing but system calls from here on
		for {
			_, _, _ = syscall.RawSyscall(syscall.SYS_EXIT, 0, 0, 0)
		}
	}
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, int(pid), &info, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	if !Forked(int(pid)) {
		t.Error("a copy of this process, which has ended")
	}
	if _, err := syscall.Wait4(int(pid), nil, 0, nil); err != nil {
		t.Error(err)
	}
}
