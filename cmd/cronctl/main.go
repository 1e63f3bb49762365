// Command cronctl is the command-line client of Carillon's API: it defines, runs
// and watches jobs, and imports crontabs.
//
// It guarantees the exit codes that its help lists; that the output of commands and
// servers cannot control the terminal; and that a token is never sent over plain
// HTTP to another machine without --insecure-http. It keeps no state but the saved
// contexts and starts no goroutine of its own.
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
