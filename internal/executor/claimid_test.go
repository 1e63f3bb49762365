package executor

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"carillon/internal/common"
)

// AsHolder makes the test binary a program that holds the name of an abstract socket.
const AsHolder = "EXECUTOR_TEST_HOLD"

// HoldName holds the name until its input ends. With the mode full nothing takes connections, and the queue of them is
// full.
func HoldName() error {
	name := os.Getenv(AsHolder)
	if os.Getenv(AsHolder+"_MODE") != "full" {
		l, err := net.Listen("unix", name)
		if err != nil {
			return err
		}
		defer l.Close()
	} else {
		fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
		if err != nil {
			return err
		}
		if err := errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: name}), syscall.Listen(fd, 0)); err != nil {
			return err
		}
		conn, err := net.Dial("unix", name)
		if err != nil {
			return err
		}
		defer conn.Close()
	}
	fmt.Println("held")
	_, err := os.Stdin.Read(make([]byte, 1))
	return err
}

// held starts a process that holds the name of a worker's id, as another user if uid is not 0, and in another network
// namespace if apart.
func held(t *testing.T, id, mode string, uid int, apart bool) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{AsHolder + "=" + socketOf(id), AsHolder + "_MODE=" + mode}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	if apart {
		cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWNET
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "held\n" {
		t.Fatalf("%q, %v", line, err)
	}
}

// Any process may take the name of an abstract socket; only one of the worker's own user, or of root, is a worker with
// a copy of the data folder.
func TestClaimID_NameHeldByAnotherUser_IsNoTwin(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	for _, c := range []struct {
		what  string
		mode  string
		uid   int
		apart bool
		user  int // of the worker
		twin  bool
		name  bool // it holds the name
	}{
		{"root", "", 0, false, 0, true, false},
		{"root, beside a worker of a user", "", 0, false, 1, true, false},
		{"the worker's user", "", 1, false, 1, true, false},
		{"another user", "", 2, false, 1, false, false},
		{"another user, beside a worker of root", "", 2, false, 0, false, false},
		{"another user with a full queue", "full", 2, false, 1, false, false},
		{"root in another network namespace", "", 0, true, 1, true, false},
		{"the worker's user in another network namespace", "", 1, true, 1, true, false},
		{"another user in another network namespace", "", 2, true, 1, false, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			id := common.NewID()
			held(t, id, c.mode, c.uid, c.apart)
			claimed, err := claimID(id, c.user)
			if c.twin {
				if !errors.Is(err, ErrHomeInUse) {
					t.Fatalf("no twin: %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := claimed.listener != nil; got != c.name {
				t.Errorf("it holds the name: %t", got)
			}
			if err := claimed.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A worker whose name is taken works, and says so.
func TestOpenHome_NameHeldByAnotherUser_IsSquatted(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir := t.TempDir()
	id, err := WorkerID(dir)
	if err != nil {
		t.Fatal(err)
	}
	held(t, id, "", 2, false)
	home, err := OpenHome(dir, "east")
	if err != nil {
		t.Fatal(err)
	}
	if !home.Squatted || home.Life.Worker != id {
		t.Errorf("%+v", home)
	}
	if _, err := OpenHome(dir, "east"); !errors.Is(err, ErrHomeInUse) {
		t.Errorf("the folder is open twice: %v", err)
	}
	if err := home.Close(); err != nil {
		t.Error(err)
	}
}

// Connections of other users, which are never closed, do not fill the queue.
func TestClaimID_ManyConnections_StillShowItsUser(t *testing.T) {
	id := common.NewID()
	claimed, err := claimID(id, os.Geteuid())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := claimed.close(); err != nil {
			t.Error(err)
		}
	}()
	for range 3 {
		conn, err := net.Dial("unix", socketOf(id))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Fatal("something was sent")
		}
	}
	if _, err := claimID(id, os.Geteuid()); !errors.Is(err, ErrHomeInUse) || !strings.Contains(err.Error(), id) {
		t.Errorf("%v", err)
	}
}
