//go:build linux && (amd64 || arm64)

package spawn

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func starter(t testing.TB) *Starter {
	t.Helper()
	limit, err := DescriptorLimit()
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(limit)
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

// inBothModes runs a test with clone3, and with clone as where a sandbox forbids clone3.
func inBothModes(t *testing.T, test func(t *testing.T, starter func() *Starter)) {
	for name, old := range map[string]bool{"clone3": false, "clone": true} {
		t.Run(name, func(t *testing.T) {
			test(t, func() *Starter {
				s := starter(t)
				s.old = old
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
	inBothModes(t, func(t *testing.T, starter func() *Starter) {
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
	inBothModes(t, func(t *testing.T, starter func() *Starter) {
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
	inBothModes(t, func(t *testing.T, starter func() *Starter) {
		script := `grep -e SigBlk -e SigCgt -e NoNewPrivs -e Umask /proc/self/status; ulimit -Sn; ulimit -Hn`
		s := starter()
		if !s.old { // which resets ignored signals as well
			script += "; grep SigIgn /proc/self/status"
		}
		got, _, err := start(t, s, shell(script), null(t))
		if err != nil {
			t.Fatal(err)
		}
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		p, err := os.StartProcess("/bin/sh", []string{"sh", "-c", script},
			&os.ProcAttr{Env: shell("").Env, Files: []*os.File{null(t), w, w},
				Sys: &syscall.SysProcAttr{Setpgid: true}})
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		want, err := io.ReadAll(r)
		if _, ended := p.Wait(); errors.Join(err, ended) != nil {
			t.Fatal(err, ended)
		}
		if got != string(want) {
			t.Fatalf("the command started with\n%s\nan ordinary one with\n%s", got, want)
		}
	})
}

func TestStart_CommandLeadsItsGroupAndEndsWithItsThread(t *testing.T) {
	inBothModes(t, func(t *testing.T, starter func() *Starter) {
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

// While a file system keeps a start waiting, Go can stop all goroutines: a garbage collection ends before the start.
func TestStart_Hangs_StopsNoOtherGoroutine(t *testing.T) {
	inBothModes(t, func(t *testing.T, starter func() *Starter) {
		program := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(program, nil, 0o755); err != nil {
			t.Fatal(err)
		}
		held, err := os.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		defer held.Close()
		broken := make(chan os.Signal, 1)
		signal.Notify(broken, syscall.SIGIO)
		defer signal.Stop(broken)
		if _, err := unix.FcntlInt(held.Fd(), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
			t.Skipf("this file system gives no leases: %v", err)
		}
		s, in := starter(), null(t)
		ended := make(chan error, 1)
		go func() {
			_, _, err := start(t, s, Command{Path: program, Args: []string{program}}, in)
			ended <- err
		}()
		<-broken // the child opens the program, and waits until the lease is given back or 45 s have passed
		runtime.GC()
		select {
		case err := <-ended:
			t.Fatalf("the collection lasted as long as the start: %v", err)
		default:
		}
		if _, err := unix.FcntlInt(held.Fd(), unix.F_SETLEASE, unix.F_UNLCK); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, syscall.ENOEXEC) {
			t.Errorf("an empty program: %v", err)
		}
	})
}

func TestStart_CommandCannotBeExecuted_ErrorOfExec(t *testing.T) {
	inBothModes(t, func(t *testing.T, starter func() *Starter) {
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
	inBothModes(t, func(t *testing.T, starter func() *Starter) {
		s := starter()
		s.parent++
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
	inBothModes(t, func(t *testing.T, starter func() *Starter) {
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
	inBothModes(t, func(t *testing.T, starter func() *Starter) {
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

// A file that is not cgroup.procs shows what the child writes, and that it does so before the command is executed.
func TestStart_MovesItself(t *testing.T) {
	inBothModes(t, func(t *testing.T, starter func() *Starter) {
		procs, err := os.Create(t.TempDir() + "/cgroup.procs")
		if err != nil {
			t.Fatal(err)
		}
		defer procs.Close()
		c := shell("cat " + procs.Name())
		c.Procs = int(procs.Fd())
		if out, _, err := start(t, starter(), c, null(t)); err != nil || out != "0" {
			t.Errorf("the command read %q, %v, want 0", out, err)
		}
		closed, err := os.Open(procs.Name()) // a file that cannot be written
		if err != nil {
			t.Fatal(err)
		}
		defer closed.Close()
		c.Procs = int(closed.Fd())
		_, _, err = start(t, starter(), c, null(t))
		if _, unusable := errors.AsType[Unusable](err); !unusable {
			t.Errorf("got %v, want that it must be started in another way", err)
		}
	})
}
