package executor_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor"
)

// asStubborn makes the test binary a worker whose one command prints which signals it ignores, and which are blocked.
const asStubborn = "EXECUTOR_TEST_STUBBORN"

func runStubborn() error {
	if err := executor.Prepare(); err != nil {
		return err
	}
	x, err := executor.New(executor.Config{BaseDir: os.Getenv(asStubborn), Worker: worker, Life: life})
	if err != nil {
		return err
	}
	_, out := runIn(x, newTask(common.Job{Args: []string{"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"}}))
	// Signals 32 and 33 are the C library's own, which its posix_spawn leaves ignored and no program uses.
	for line := range strings.Lines(out) {
		name, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		set, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			return err
		}
		fmt.Printf("%s\t%016x\n", name, set&^(3<<31))
	}
	return x.Close()
}

// Whatever signals the worker was started with as ignored or blocked, its commands begin with none.
func TestCommandsStartWithDefaultDispositions(t *testing.T) {
	for name, prepare := range map[string]string{
		"as usual":            ``,
		"by nohup":            `trap '' HUP; `,
		"in the background":   `trap '' INT QUIT; `,
		"with all of them":    `trap '' HUP INT QUIT PIPE TERM USR1 USR2 ALRM TSTP TTIN TTOU CONT WINCH; `,
		"with real-time ones": `trap '' 40 64; `,
	} {
		cmd := exec.Command("/bin/bash", "-c", prepare+`exec "$0"`, os.Args[0])
		cmd.Env = append(os.Environ(), asStubborn+"="+t.TempDir())
		out, err := combinedBlocking(cmd, unix.SIGTERM, unix.SIGUSR1)
		if want := "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"; err != nil || out != want {
			t.Errorf("%s: %v, printed\n%s", name, err, out)
		}
	}
}

// combinedBlocking runs a command that begins with signals blocked.
func combinedBlocking(cmd *exec.Cmd, signals ...unix.Signal) (string, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var blocked, before unix.Sigset_t
	for _, s := range signals {
		blocked.Val[0] |= 1 << (s - 1)
	}
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, &before); err != nil {
		return "", err
	}
	out, err := cmd.CombinedOutput()
	if after := unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil); err == nil {
		err = after
	}
	return string(out), err
}
