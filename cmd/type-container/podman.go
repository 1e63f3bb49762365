package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Labels of the containers.
const (
	labelType = "carillon.type=container"
	labelFire = "carillon.fire"
)

// cleanLimit bounds the removal of containers.
const cleanLimit = time.Minute

// container is a run.
type container struct {
	podman         string
	input          *input
	stdout, stderr io.Writer
}

// run runs the container, and returns the exit code of this program.
func (c *container) run(ctx context.Context) int {
	if err := c.removeEarlier(ctx); err != nil {
		fmt.Fprintln(c.stderr, "remove containers of earlier attempts:", err)
		return exitFailed // two of one fire must not run at the same time
	}
	if ctx.Err() != nil {
		return exitFailed
	}
	variables, err := fileOf(c.input.variables(os.Environ()))
	if err != nil {
		fmt.Fprintln(c.stderr, "keep the variables:", err)
		return exitFailed
	}
	defer variables.Close()
	path := fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), variables.Fd())
	cmd := exec.Command(c.podman, c.input.arguments(path)...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environment(), c.stdout, c.stderr
	if c.input.With.Stdin != nil {
		cmd.Stdin = strings.NewReader(*c.input.With.Stdin)
	}
	err = cmd.Run()
	code := cmd.ProcessState.ExitCode() // -1 if it was not started, or ended by a signal
	if code < 0 || code == exitPodman || ctx.Err() != nil {
		c.remove(c.input.name())
	}
	ended, isExit := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0
	case !isExit && cmd.ProcessState != nil: // the container has ended without reading its standard input
		return code
	case !isExit:
		fmt.Fprintln(c.stderr, "start podman:", err)
		return exitUnavailable
	case code < 0:
		status, _ := ended.Sys().(syscall.WaitStatus)
		fmt.Fprintf(c.stderr, "podman was ended by signal %d\n", status.Signal())
		return 128 + int(status.Signal())
	case code == exitUsage: // which would mean that the settings are not valid
		fmt.Fprintf(c.stderr, "the container ended with exit code %d\n", code)
		return exitFailed
	}
	return code
}

// removeEarlier removes containers of earlier attempts of the same fire, which can be left if they were killed.
func (c *container) removeEarlier(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanLimit)
	defer cancel()
	list := c.command(ctx, "ps", "--all", "--quiet", "--no-trunc", "--filter=label="+labelFire+"="+c.input.Run.Fire)
	var problem bytes.Buffer
	list.Stderr = &problem
	found, err := list.Output()
	if err != nil {
		return fmt.Errorf("list them: %w: %s", err, strings.TrimSpace(problem.String()))
	}
	ids := strings.Fields(string(found))
	if len(ids) == 0 {
		return nil
	}
	said, err := c.command(ctx, append([]string{"rm", "--force", "--ignore", "--time=0"}, ids...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(said)))
	}
	return nil
}

// remove removes the container of this run, as far as it exists. The worker ends its processes in any case.
func (c *container) remove(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), cleanLimit)
	defer cancel()
	_ = c.command(ctx, "rm", "--force", "--ignore", "--time=0", name).Run() // what is left, the next attempt removes
}

func (c *container) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.podman, args...)
	cmd.Env = environment()
	return cmd
}

// environment returns the environment of podman. Variables of the job have no effect on it: they could lead it to a
// remote service, whose containers do not end with the run.
func environment() (env []string) {
	env = append(env, "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
	for _, name := range [...]string{"LANG", "TMPDIR", "CARILLON_RUN_ID", "CARILLON_WORKER", "CARILLON_LIFE"} {
		if value, given := os.LookupEnv(name); given {
			env = append(env, name+"="+value)
		}
	}
	home := os.Getenv("HOME")
	if u, err := user.Current(); err == nil && u.HomeDir != "" {
		home = u.HomeDir
	}
	if home != "" {
		env = append(env, "HOME="+home)
	}
	if folder := "/run/user/" + strconv.Itoa(os.Getuid()); isFolder(folder) {
		env = append(env, "XDG_RUNTIME_DIR="+folder)
	}
	return env
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// fileOf returns a file in memory, without a name: its content, which may be secret, is on no disk.
func fileOf(text string) (*os.File, error) {
	fd, err := unix.MemfdCreate("variables", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "variables")
	if _, err := file.WriteString(text); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
