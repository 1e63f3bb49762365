// Command cronctl speaks to Carillon's API: it defines, runs and watches jobs,
// and brings a crontab over.
//
// It promises the exit codes that its help lists; that nothing a command or a
// server printed can steer the terminal; and that a token never travels over
// plain HTTP to another machine unless it is told so. It keeps no state and
// starts no goroutine of its own.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.Environ())
	stop()
	os.Exit(code)
}
