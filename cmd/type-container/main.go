// Command carillon-type-container is a plug-in: it runs jobs of the type container, with podman.
//
// It guarantees that the container is a part of the process tree of the run, in its control group, so that it ends
// with the run; that secrets are neither in the arguments nor in the environment of podman;
// and that nothing of an earlier attempt of the same fire is left when a container starts.
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// podman is the path of the program, which a package may set by the linker.
var podman = "/usr/bin/podman"

//go:embed document.json
var document []byte

// Exit codes.
const (
	exitFailed      = 1
	exitUsage       = 64  // the settings are not valid
	exitUnavailable = 69  // podman cannot be executed
	exitPodman      = 125 // podman's own, if it could not run the container
)

func main() {
	// podman, which is in the same process group, gets these signals as well and passes them on to the container. This
	// process outlives it, and cleans up.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP,
		syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	code := run(ctx, podman, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run executes a verb, and returns the exit code. The end of ctx is a request to end.
func run(ctx context.Context, podman string, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) != 1 || args[0] != "describe" && args[0] != "run" {
		fmt.Fprintln(stderr, "usage: carillon-type-container describe|run")
		return exitUsage
	}
	if info, err := os.Stat(podman); err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		fmt.Fprintf(stderr, "podman is not installed: %s is not a program\n", podman)
		return exitUnavailable
	}
	if args[0] == "describe" {
		if _, err := stdout.Write(document); err != nil {
			return exitFailed
		}
		return 0
	}
	in, err := read(stdin)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	c := &container{podman: podman, input: in, stdout: stdout, stderr: stderr}
	return c.run(ctx)
}
