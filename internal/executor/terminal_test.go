package executor_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor"
)

// asTerminalOwner makes the test binary a program that runs a command and prints what it says.
const asTerminalOwner = "EXECUTOR_TEST_TERMINAL"

type printer struct{}

func (printer) Chunk(c common.Chunk) { fmt.Print(string(c.Data)) }

func ownTerminal() {
	x, err := executor.New(executor.Config{BaseDir: os.Getenv(asTerminalOwner)})
	if err != nil {
		fmt.Print(err)
		os.Exit(1)
	}
	x.Run(context.Background(), shell("ps -o pgid=,tty= -p $$ | sed s/$$/self/g | xargs"), printer{})
	os.Exit(0)
}

// A worker that was started in a shell has a terminal; its commands have none.
func TestCommandsHaveNoTerminal(t *testing.T) {
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
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), asTerminalOwner+"="+t.TempDir())
	owner.Stdin = theirs
	owner.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	out, err := owner.Output()
	if err != nil || strings.TrimSpace(string(out)) != "self ?" {
		t.Errorf("under a terminal: %q, %v", out, err)
	}
}
