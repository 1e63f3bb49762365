//go:build linux && (amd64 || arm64)

package spawn

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	for fd := streams; fd < 1024; fd++ { // those that this process has inherited
		unix.CloseOnExec(fd)
	}
	os.Exit(m.Run())
}

func starter(t testing.TB) *Starter {
	t.Helper()
	limit, err := DescriptorLimit()
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(limit, func(why error) { t.Errorf("the descriptors are copied: %v", why) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// inAllModes runs a test with clone3, and with clone as where a sandbox forbids clone3, and with both as where a kernel
// or a sandbox does not let a child leave a shared table.
func inAllModes(t *testing.T, test func(t *testing.T, starter func() *Starter)) {
	for _, m := range modes {
		t.Run(m.String(), func(t *testing.T) {
			test(t, func() *Starter {
				s := starter(t)
				if s.mode = m; m.copies {
					if err := s.release(); err != nil {
						t.Fatal(err)
					}
				}
				return s
			})
		})
	}
}

// start runs a command to its end, and returns its output.
func start(t testing.TB, s *Starter, c Command, stdin *os.File) (string, syscall.WaitStatus, error) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c.Files = [streams]int{int(stdin.Fd()), int(w.Fd()), int(w.Fd())}
	runtime.LockOSThread()
	pid, pidfd, err := s.Start(&c)
	runtime.UnlockOSThread()
	if closed := w.Close(); closed != nil {
		t.Error(closed)
	}
	if err != nil {
		return "", 0, err
	}
	defer unix.Close(pidfd)
	out, err := io.ReadAll(r) // returns only if no other process has the pipe open
	if err != nil {
		t.Error(err)
	}
	var status syscall.WaitStatus
	if got, err := syscall.Wait4(pid, &status, 0, nil); err != nil || got != pid {
		t.Errorf("wait for %d: %d, %v", pid, got, err)
	}
	return string(out), status, nil
}

func shell(script string) Command {
	return Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin", "A=b c"}}
}

func null(t testing.TB) *os.File {
	t.Helper()
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// What each of several threads reserves at the same time is its own, although they and others open and close
// descriptors in any order; and what the others have opened stays theirs.
func TestReserve_AtTheSameTime_ReservesItsOwn(t *testing.T) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	want := rdev(t, int(null(t).Fd()))
	var reserving, opening sync.WaitGroup
	stop := make(chan struct{})
	for range 8 {
		opening.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				var held []int
				for range 5 {
					fd, err := unix.Open("/dev/zero", unix.O_RDONLY|unix.O_CLOEXEC, 0)
					if err != nil {
						t.Error(err)
						return
					}
					held = append(held, fd)
				}
				rand.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
				for _, fd := range held {
					if got := rdev(t, fd); got == want {
						t.Errorf("descriptor %d of /dev/zero is %s", fd, os.DevNull)
					}
					if err := unix.Close(fd); err != nil {
						t.Error(err)
					}
				}
			}
		})
		reserving.Go(func() {
			for range 1000 {
				s := &Starter{}
				if err := s.reserve(); err != nil {
					t.Error(err)
					return
				}
				if last := s.null + kept; last > int(limit.Cur)/2 {
					t.Errorf("reserved up to number %d of %d", last, limit.Cur)
				}
				for i := range 1 + kept {
					if got := rdev(t, s.null+i); got != want {
						t.Errorf("descriptor %d is device %d, want %d", s.null+i, got, want)
					}
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	reserving.Wait()
	close(stop)
	opening.Wait()
}

// A reservation begins behind a number that is in use, and holds no other descriptors.
func TestReserve_NumbersInUse_AreSkipped(t *testing.T) {
	f := null(t)
	const base = 300
	for _, used := range []int{base + 2, base + 6} {
		if err := unix.Dup3(int(f.Fd()), used, unix.O_CLOEXEC); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unix.Close(used) })
	}
	var below []int // all lower numbers
	for {
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, streams)
		if err != nil {
			t.Fatal(err)
		}
		below = append(below, fd)
		if fd >= base {
			break
		}
	}
	s := &Starter{}
	if err := s.reserve(); err != nil {
		t.Fatal(err)
	}
	if s.null <= base+6 {
		t.Errorf("reserved %d to %d, of which one was in use", s.null, s.null+kept)
	}
	if err := errors.Join(s.Close(), closeAll(below...)); err != nil {
		t.Fatal(err)
	}
}

// rdev returns the device of a descriptor; 0 if it is none.
func rdev(t *testing.T, fd int) uint64 {
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		t.Error(err)
	}
	return stat.Rdev
}

func TestStart_CommandGetsWhatItIsGiven(t *testing.T) {
	inAllModes(t, func(t *testing.T, starter func() *Starter) {
		in, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if _, err := in.WriteString("from stdin"); err != nil {
			t.Fatal(err)
		}
		if _, err := in.Seek(0, io.SeekStart); err != nil {
			t.Fatal(err)
		}
		c := shell(`cat; echo; echo "$A"; pwd; echo oops >&2; exit 3`)
		c.Dir = "/usr"
		out, status, err := start(t, starter(), c, in)
		if want := "from stdin\nb c\n/usr\noops\n"; err != nil || out != want || status.ExitStatus() != 3 {
			t.Fatalf("got %q, %v, %v, want %q and exit code 3", out, status, err, want)
		}
	})
}

func TestStart_RealTime_IsTheLimitOfTheCommandOnly(t *testing.T) {
	inAllModes(t, func(t *testing.T, starter func() *Starter) {
		var own, after unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &own); err != nil {
			t.Fatal(err)
		}
		c := shell(`grep "realtime timeout" /proc/self/limits`)
		c.RealTime = &unix.Rlimit{Cur: 123456789, Max: 987654321}
		out, _, err := start(t, starter(), c, null(t))
		if f := strings.Fields(out); err != nil || len(f) < 5 || f[3] != "123456789" || f[4] != "987654321" {
			t.Errorf("printed %q: %v", out, err)
		}
		if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &after); err != nil || after != own {
			t.Errorf("this process has %v: %v, want %v", after, err, own)
		}
	})
}

func TestStart_ProcessStateIsOfAnOrdinaryStart(t *testing.T) {
	const identity = `; id -u; id -g; id -G; sed 's/.*) //' /proc/$$/stat | cut -d ' ' -f 3,4 | sed s/$$/own/g
		grep -e CapEff -e CapPrm -e CapInh /proc/self/status`
	for name, c := range map[string]struct {
		session bool
		user    *User
		attr    syscall.SysProcAttr
	}{
		"a group":          {attr: syscall.SysProcAttr{Setpgid: true}},
		"a session":        {session: true, attr: syscall.SysProcAttr{Setsid: true}},
		"a user":           {user: &User{UID: 65534, GID: 65533, Groups: []uint32{65532, 65531}}},
		"without groups":   {user: &User{UID: 65534, GID: 65533}},
		"a user's session": {session: true, user: &User{UID: 65534, GID: 65533}},
	} {
		c.attr.Setpgid, c.attr.Setsid = !c.session, c.session
		if c.user != nil {
			c.attr.Credential = &syscall.Credential{Uid: c.user.UID, Gid: c.user.GID, Groups: c.user.Groups}
		}
		t.Run(name, func(t *testing.T) {
			if c.user != nil && os.Getuid() != 0 {
				t.Skip("only root can change the user")
			}
			inAllModes(t, func(t *testing.T, starter func() *Starter) {
				script := `grep -e SigBlk -e SigCgt -e NoNewPrivs -e Umask /proc/self/status; ulimit -Sn; ulimit -Hn`
				s := starter()
				if !s.mode.old { // which resets ignored signals as well
					script += "; grep SigIgn /proc/self/status"
				}
				own := shell(script + identity)
				own.Session, own.User = c.session, c.user
				got, _, err := start(t, s, own, null(t))
				if err != nil {
					t.Fatal(err)
				}
				if want := ordinary(t, script+identity, &c.attr); got != want {
					t.Fatalf("the command started with\n%s\nan ordinary one with\n%s", got, want)
				}
			})
		})
	}
}

// ordinary returns the output of a script that the standard library starts.
func ordinary(t *testing.T, script string, attr *syscall.SysProcAttr) string {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", script},
		&os.ProcAttr{Env: shell("").Env, Files: []*os.File{null(t), w, w}, Sys: attr})
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if _, ended := p.Wait(); errors.Join(err, ended) != nil {
		t.Fatal(err, ended)
	}
	return string(out)
}

// Once the child is another user's, it must not get signals, and its memory, which is that of this process, must not be
// read or dumped, before it is closed.
func TestWrite_User_MemoryIsClosedBeforeSignalsArrive(t *testing.T) {
	inAllModes(t, func(t *testing.T, starter func() *Starter) {
		s := starter()
		c := shell(":")
		c.Dir, c.User = "/", &User{UID: 1, GID: 2, Groups: []uint32{3}}
		if err := s.write(&c, 0); err != nil {
			t.Fatal(err)
		}
		var got []uintptr
		for i := range s.count {
			switch call := &s.calls[i]; call.number {
			case unix.SYS_SETGROUPS, unix.SYS_SETGID, unix.SYS_SETUID, unix.SYS_RT_SIGPROCMASK, unix.SYS_CHDIR,
				unix.SYS_EXECVE:
				got = append(got, call.number)
			case unix.SYS_PRCTL:
				got = append(got, call.number, call.args[0])
			}
		}
		want := []uintptr{unix.SYS_SETGROUPS, unix.SYS_SETGID, unix.SYS_SETUID, unix.SYS_PRCTL, unix.PR_SET_DUMPABLE,
			unix.SYS_RT_SIGPROCMASK, unix.SYS_CHDIR, unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, unix.SYS_EXECVE}
		if !slices.Equal(got, want) {
			t.Errorf("system calls %v, want %v", got, want)
		}
	})
}

// A machine that does not let a user be changed to is not asked again in another way.
func TestStart_UserCannotBeChanged_ErrorOfTheCall(t *testing.T) {
	inAllModes(t, func(t *testing.T, starter func() *Starter) {
		c := shell(":")
		c.User = &User{UID: 1<<32 - 1} // no user has this number
		if _, _, err := start(t, starter(), c, null(t)); !errors.Is(err, syscall.EINVAL) &&
			!errors.Is(err, syscall.EPERM) {
			t.Errorf("got %v", err)
		}
	})
}

// Without enough descriptors to reserve, which may pass, there is no starter.
func TestNew_TooFewDescriptors_Fails(t *testing.T) {
	in := null(t)
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	var held []int
	for { // until no number below is free
		fd, err := unix.FcntlInt(in.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if held = append(held, fd); fd > int(in.Fd()) {
			break
		}
	}
	few := before
	few.Cur = uint64(held[len(held)-1]) + 4 // enough for a start
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &few); err != nil {
		t.Fatal(err)
	}
	_, err := New(nil, func(why error) { t.Errorf("the descriptors are copied: %v", why) })
	if err := errors.Join(unix.Setrlimit(unix.RLIMIT_NOFILE, &before), closeAll(held...)); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, unix.EMFILE) {
		t.Errorf("got %v", err)
	}
}

// When the reserved descriptors turn out to be of no use, those of the process are copied from then on.
func TestStart_ReservedUnusable_DescriptorsAreCopied(t *testing.T) {
	told, in := 0, null(t)
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	s := starter(t)
	s.copied = func(error) { told++ }
	if err := s.release(); err != nil {
		t.Fatal(err)
	}
	s.null = int(before.Max) // no descriptor has this number
	for range 2 {
		if out, _, err := start(t, s, shell("echo b"), in); err != nil || out != "b\n" {
			t.Errorf("printed %q: %v", out, err)
		}
	}
	if told != 1 {
		t.Errorf("told %d times", told)
	}
}

// The limit of this process may have been lowered below the one that commands are to get.
func TestStart_LimitOfTheProcessIsLower_CommandGetsIt(t *testing.T) {
	s := starter(t)
	s.limit = &unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
	var own unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &own); err != nil {
		t.Fatal(err)
	}
	out, _, err := start(t, s, shell("ulimit -Sn; ulimit -Hn"), null(t))
	if want := fmt.Sprintf("%d\n%d\n", own.Max, own.Max); err != nil || out != want {
		t.Errorf("printed %q: %v, want %q", out, err, want)
	}
}

func TestStart_CommandLeadsItsGroupAndEndsWithItsThread(t *testing.T) {
	inAllModes(t, func(t *testing.T, starter func() *Starter) {
		s, in := starter(), null(t)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		defer w.Close()
		pids, done := make(chan int), make(chan struct{})
		defer close(done)
		var own func()
		own = func() {
			runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
			if unix.Gettid() == os.Getpid() {
				go own() // the first thread does not end
				<-done
				return
			}
			c := shell("sleep 100 & wait")
			c.Files = [streams]int{int(in.Fd()), int(w.Fd()), int(w.Fd())}
			pid, pidfd, err := s.Start(&c)
			if err != nil {
				t.Error(err)
			}
			_ = unix.Close(pidfd)
			pids <- pid
		}
		go own()
		pid := <-pids
		if group, err := syscall.Getpgid(pid); err != nil || group != pid {
			t.Errorf("process %d is in group %d, %v", pid, group, err)
		}
		defer syscall.Kill(-pid, syscall.SIGKILL)
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil || status.Signal() != syscall.SIGKILL {
			t.Errorf("the command ended with %v, %v, want killed", status, err)
		}
	})
}

// lease makes a program whose start waits until the lease is given back, or for 45 s.
func lease(t *testing.T) (program string, held *os.File) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, nil, 0o755); err != nil {
		t.Fatal(err)
	}
	held, err := os.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { held.Close() })
	if _, err := unix.FcntlInt(held.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		t.Skipf("this file system gives no leases: %v", err)
	}
	return program, held
}

// awaitOpen returns when a start waits for the lease.
func awaitOpen(t *testing.T, held *os.File) {
	t.Helper()
	for range 30_000 {
		kind, err := unix.FcntlInt(held.Fd(), unix.F_GETLEASE, 0)
		if err != nil {
			t.Fatal(err)
		}
		if kind != unix.F_WRLCK { // what it is to become
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal("the program is not opened")
}

// While a file system keeps as many starts waiting as there are processors for Go, all goroutines can be stopped: a
// garbage collection ends before the starts.
func TestStart_Hangs_StopsNoOtherGoroutine(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	inAllModes(t, func(t *testing.T, starter func() *Starter) {
		ended := make(chan error, 2)
		in := null(t)
		var leases []*os.File
		for range cap(ended) {
			program, held := lease(t)
			leases = append(leases, held)
			s := starter()
			go func() {
				_, _, err := start(t, s, Command{Path: program, Args: []string{program}}, in)
				ended <- err
			}()
			awaitOpen(t, held)
		}
		runtime.GC()
		select {
		case err := <-ended:
			t.Fatalf("the collection lasted as long as a start: %v", err)
		default:
		}
		for _, held := range leases {
			if _, err := unix.FcntlInt(held.Fd(), unix.F_SETLEASE, unix.F_UNLCK); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; !errors.Is(err, syscall.ENOEXEC) {
				t.Errorf("an empty program: %v", err)
			}
		}
	})
}

// A start that hangs can be ended, also by a process that may not look at its child; no other start is.
func TestKill_OfAHangingStart_EndsIt(t *testing.T) {
	inAllModes(t, func(t *testing.T, starter func() *Starter) {
		s, in := starter(), null(t)
		program, held := lease(t)
		hangs := Command{Path: program, Args: []string{program}, Files: [streams]int{int(in.Fd()), int(in.Fd()),
			int(in.Fd())}}
		if os.Getuid() == 0 {
			hangs.User = &User{UID: 65534, GID: 65534}
		}
		for dir := filepath.Dir(program); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			if err := os.Chmod(dir, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		kill := func(c *Command, want bool, when string) {
			t.Helper()
			if got := s.Kill(c); got != want {
				t.Errorf("killed a command that %s: %t", when, got)
			}
		}
		kill(&hangs, false, "has not begun")
		ended := make(chan syscall.WaitStatus, 1)
		go func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			pid, pidfd, err := s.Start(&hangs)
			if err != nil {
				t.Error(err)
			}
			_ = unix.Close(pidfd)
			var status syscall.WaitStatus
			if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
				t.Error(err)
			}
			ended <- status
		}()
		awaitOpen(t, held)
		other := hangs
		kill(&other, false, "is not being started")
		select {
		case status := <-ended:
			t.Errorf("ended with %v", status)
		default:
		}
		kill(&hangs, true, "hangs")
		if status := <-ended; status.Signal() != syscall.SIGKILL {
			t.Errorf("the child ended with %v", status)
		}
		kill(&hangs, false, "has ended")
		if out, _, err := start(t, s, shell("echo on"), in); err != nil || out != "on\n" {
			t.Errorf("the next command printed %q: %v", out, err)
		}
	})
}

func TestStart_CommandCannotBeExecuted_ErrorOfExec(t *testing.T) {
	inAllModes(t, func(t *testing.T, starter func() *Starter) {
		s := starter()
		file := t.TempDir() + "/text"
		if err := os.WriteFile(file, []byte("no program"), 0o700); err != nil {
			t.Fatal(err)
		}
		for want, c := range map[syscall.Errno]Command{
			syscall.ENOENT:  {Path: "/none"},
			syscall.EACCES:  {Path: "/etc/passwd"},
			syscall.ENOEXEC: {Path: file},
			syscall.ENOTDIR: {Path: "/bin/sh", Dir: "/etc/passwd"},
			syscall.EINVAL:  {Path: "/bin/sh", Env: []string{"A=\x00"}},
			syscall.E2BIG:   {Path: "/bin/sh", Args: []string{strings.Repeat("x", 1<<20)}},
		} {
			if _, _, err := start(t, s, c, null(t)); !errors.Is(err, want) {
				t.Errorf("%+.40v: got %v, want %v", c, err, want)
			}
		}
		if _, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
			t.Errorf("a child was left: %v", err)
		}
	})
}

// A child whose parent has ended before it asked to be killed with it sees another parent.
func TestStart_ParentHasEnded_NothingExecuted(t *testing.T) {
	inAllModes(t, func(t *testing.T, starter func() *Starter) {
		s := starter()
		s.parent++
		s.copied = func(error) {}
		file := t.TempDir() + "/executed"
		_, _, err := start(t, s, shell("touch "+file), null(t))
		if _, unusable := errors.AsType[Unusable](err); !unusable {
			t.Errorf("got %v, want that it must be started in another way", err)
		}
		if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("the command was executed: %v", err)
		}
	})
}

func TestStart_ManyDescriptors_NoneChangesAndNoneIsInherited(t *testing.T) {
	inAllModes(t, func(t *testing.T, starter func() *Starter) {
		var limit unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
			t.Fatal(err)
		}
		in := null(t)
		for range min(4000, int(limit.Cur)-200) {
			fd, err := unix.FcntlInt(in.Fd(), unix.F_DUPFD_CLOEXEC, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(fd)
		}
		starters := make([]*Starter, 4)
		for i := range starters {
			starters[i] = starter()
		}
		before := descriptors(t)
		stop := make(chan struct{})
		var collector, runs sync.WaitGroup
		collector.Go(func() { // moves stacks, and frees what a child might still read
			for {
				select {
				case <-stop:
					return
				default:
					runtime.GC()
				}
			}
		})
		for _, s := range starters {
			runs.Go(func() {
				for range 16 {
					out, _, err := start(t, s, Command{Path: "/bin/ls", Args: []string{"ls", "/proc/self/fd"}}, in)
					if err != nil || out != "0\n1\n2\n3\n" { // the last one is of the listed folder
						t.Errorf("the command has the descriptors %q, %v", out, err)
					}
				}
			})
		}
		runs.Wait()
		close(stop)
		collector.Wait()
		if after := descriptors(t); after != before {
			t.Errorf("%d descriptors are open, before %d", after, before)
		}
	})
}

// descriptors returns the number of open descriptors.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// Locks of a process on a file end when the process closes any descriptor of the file.
func TestStart_RecordLocksSurvive(t *testing.T) {
	inAllModes(t, func(t *testing.T, starter func() *Starter) {
		f, err := os.Create(t.TempDir() + "/locked")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		lock := unix.Flock_t{Type: unix.F_WRLCK}
		if err := unix.FcntlFlock(f.Fd(), unix.F_SETLK, &lock); err != nil {
			t.Fatal(err)
		}
		if _, _, err := start(t, starter(), shell(":"), null(t)); err != nil {
			t.Fatal(err)
		}
		out, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Skipf("this machine lists no locks: %v", err)
		}
		var stat unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &stat); err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(out, []byte(":"+strconv.FormatUint(stat.Ino, 10)+" ")) {
			t.Errorf("the lock is gone:\n%s", out)
		}
	})
}

// A folder that is not a cgroup shows what a child writes to cgroup.procs, and that it does so before the command is
// executed; clone3 starts a child in a real cgroup only.
func TestStart_Cgroup_CommandBeginsInIt(t *testing.T) {
	inAllModes(t, func(t *testing.T, starter func() *Starter) {
		s := starter()
		dir, err := os.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer dir.Close()
		procs := filepath.Join(dir.Name(), "cgroup.procs")
		c := shell("cat " + procs)
		c.Cgroup = int(dir.Fd())
		if _, _, err := start(t, s, c, null(t)); err == nil {
			t.Error("started in a cgroup that does not exist")
		}
		if !s.mode.old {
			return
		}
		if err := os.WriteFile(procs, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, _, err := start(t, s, c, null(t)); err != nil || out != "0" {
			t.Errorf("the command read %q, %v, want 0", out, err)
		}
		if err := os.Remove(procs); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("/dev/full", procs); err != nil {
			t.Fatal(err)
		}
		_, _, err = start(t, s, c, null(t))
		if _, unmoved := errors.AsType[Unmoved](err); !unmoved || !errors.Is(err, unix.ENOSPC) {
			t.Errorf("got %v, want that it could not be moved", err)
		}
	})
}
