package executor_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"carillon/internal/executor"
)

// asMember makes the test binary a worker in the cgroup that it names.
const asMember = "EXECUTOR_TEST_CGROUP"

// withoutClone3 makes it a worker whose unit forbids clone3.
const withoutClone3 = "EXECUTOR_TEST_NO_CLONE3"

// forbidClone3 makes clone3 fail with ENOSYS for all threads of this process and all that they start, as systemd does.
func forbidClone3() {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}, // the number of the call
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.SYS_CLONE3, Jf: 1},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0x00050000 | uint32(unix.ENOSYS)},
		{Code: unix.BPF_RET | unix.BPF_K, K: 0x7fff0000},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	const setFilter, allThreads = 1, 1
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, setFilter, allThreads,
		uintptr(unsafe.Pointer(&program))); errno != 0 {
		panic(errno)
	}
}

// workInGroup prints what runs did, while another one goes on, and what is left of their groups.
func workInGroup() {
	group := os.Getenv(asMember)
	if os.Getenv(withoutClone3) != "" {
		forbidClone3()
	}
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	x, err := executor.New(executor.Config{BaseDir: dir, Worker: worker, Life: life, Adopt: true})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	other, ended := make(chan bool), make(chan bool)
	go func() {
		x.Run(ctx, shell("echo; exec sleep 300"), first(other))
		close(ended)
	}()
	<-other
	got := x.Run(ctx, shell("sed -n s/^0:://p /proc/self/cgroup; "+leaveHidden), printer{})
	fmt.Println(got.Status)
	missing := shell("true")
	missing.Job.Shell = "/no/such/shell"
	got = x.Run(ctx, missing, printer{})
	fmt.Println(got.Reason.Code)
	got = x.Run(ctx, shell("sed -n s/^0:://p /proc/self/cgroup"), printer{})
	got = x.Run(ctx, shell(burnApart), printer{})
	fmt.Println(got.CPUSeconds)
	cancel()
	<-ended
	left, _ := filepath.Glob(filepath.Join(group, "run-*"))
	fmt.Println("left", len(left))
	if err := x.Close(); err != nil {
		panic(err)
	}
	os.Exit(0)
}

// burnApart prints the CPU time, in ticks, of a process that the command does not wait for.
const burnApart = `out=$(mktemp -d)
(setsid sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; read stat </proc/$$/stat
set -- $stat; echo $((${14} + ${15})) >$0/new; mv $0/new $0/used' $out &)
until [ -e $out/used ]; do sleep 0.05; done; cat $out/used; rm -r $out`

// A run has a cgroup of its own where that can be had, and nothing leaves it; also where a filter forbids clone3.
func TestCgroupOfARun(t *testing.T) {
	t.Run("started in it", func(t *testing.T) { tryCgroup(t, "") })
	t.Run("moved to it", func(t *testing.T) { tryCgroup(t, "1") })
}

func tryCgroup(t *testing.T, withoutClone string) {
	var group string
	for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"} {
		if _, err := os.Stat(filepath.Join(root, "cgroup.procs")); err == nil {
			group = filepath.Join(root, "carillon-test-"+strconv.Itoa(os.Getpid()))
		}
	}
	if err := os.Mkdir(group, 0o755); err != nil {
		t.Skipf("no cgroup v2 may be made here: %v", err)
	}
	defer func() {
		if err := os.Remove(group); err != nil {
			t.Error(err)
		}
	}()
	dir, err := os.Open(group)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	if _, err := os.Stat(filepath.Join(group, "cgroup.kill")); err != nil {
		t.Skip("a kernel before 5.14")
	}
	member := exec.Command(os.Args[0])
	member.Env = append(os.Environ(), asMember+"="+group, withoutClone3+"="+withoutClone)
	member.Stderr = os.Stderr
	member.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
	out, err := member.Output()
	if err != nil {
		t.Fatalf("%v, printed %q", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if len(lines) != 8 {
		t.Fatalf("printed %q", out)
	}
	wantGone(t, pids(t, lines[1]))
	name := "/" + filepath.Base(group) + "/run-"
	if !strings.HasSuffix(lines[0], name+"3") || lines[2] != "succeeded" || lines[3] != "shell_missing" ||
		!strings.HasSuffix(lines[4], name+"5") || lines[7] != "left 0" {
		t.Errorf("printed %q", lines)
	}
	ticks, err1 := strconv.Atoi(lines[5])
	used, err2 := strconv.ParseFloat(lines[6], 64)
	if err1 != nil || err2 != nil || ticks == 0 || used < float64(ticks)/100 {
		t.Errorf("the run used %q s, a process of it %q ticks", lines[6], lines[5])
	}
}
