package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// insideVariable tells the copy of the program that runs inside of the namespaces.
const insideVariable = "CARILLON_CHAOS_INSIDE"

// notContained is the exit code of a copy that could not settle in.
const notContained = 120

func inside() bool { return os.Getenv(insideVariable) != "" }

// contained runs the program again inside of namespaces of its own: of processes, so
// that all that was started ends with it, however it ends; of mounts, so that small
// disks can be made; and of the network, where no other process runs. No name of them is
// left anywhere. It says false where this machine does not permit it.
func contained(ctx context.Context, args []string) (code int, done bool) {
	self, err := os.Executable()
	if err != nil {
		return 0, false
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), insideVariable+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, os.Stdout, os.Stderr
	// A terminal's ^C reaches this process, which passes it on.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL,
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	if err := cmd.Start(); err != nil {
		return 0, false
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		_ = cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err = <-ended:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
			err = <-ended
		}
	}
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case failed && exit.ExitCode() == notContained:
		return 0, false
	case failed:
		return max(exit.ExitCode(), 1), true
	case err != nil:
		return 1, true
	}
	return 0, true
}

// settle makes the inside of the namespaces habitable.
func settle() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC,
		""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return ip("link", "set", "lo", "up")
}

func ip(args ...string) error { return tool("ip", args...) }
func tc(args ...string) error { return tool("tc", args...) }

// tool runs a program of the network, in the namespace of the calling thread.
func tool(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
