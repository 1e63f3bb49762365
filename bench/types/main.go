// Command types measures what job types cost: requests beside a bare client, plug-ins beside the same program as a
// command, and many requests whose server never answers. It runs the executor of a worker in its own process, without
// etcd; the server is another process of the same program. It prints goals and results as a Markdown table.
// docs/benchmarks.md describes the rows.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == serveVerb {
		if err := serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "types:", err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "types:", err)
		stop()
		os.Exit(1)
	}
}

// line is a line of the table. A line without a goal has no verdict.
type line struct {
	what, goal, measured string
	met                  *bool
}

func judged(what, goal, measured string, met bool) line { return line{what, goal, measured, &met} }

func run(ctx context.Context, args []string, out, stderr io.Writer) error {
	flags := flag.NewFlagSet("types", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("quick", false, "fewer runs: to try it out, not to believe it")
	hung := flags.Int("hung", 10_000, "number of requests without an answer")
	if err := flags.Parse(args); err != nil {
		return err
	}
	at, load := time.Now(), loadAverage()
	dir, err := os.MkdirTemp("", "carillon-types-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := &bench{dir: dir, runs: 5000, hung: *hung}
	if *quick {
		b.runs = 500
	}
	if err := b.open(ctx); err != nil {
		return err
	}
	defer b.close()
	var lines []line
	for _, row := range []func(context.Context) ([]line, error){b.hang, b.requests, b.plugIn} {
		more, err := row(ctx)
		if err != nil {
			return err
		}
		lines = append(lines, more...)
	}
	fmt.Fprintf(out, "%s, %d cores, %s, load %s (%s at the end)\n\n", at.UTC().Format("2006-01-02 15:04 MST"),
		runtime.NumCPU(), runtime.Version(), load, loadAverage())
	fmt.Fprintln(out, "| What | Goal | Measured | |\n|---|---|---|---|")
	for _, l := range lines {
		verdict := ""
		if l.met != nil && *l.met {
			verdict = "met"
		} else if l.met != nil {
			verdict = "MISSED"
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", l.what, l.goal, l.measured, verdict)
	}
	return nil
}

// loadAverage returns the load average of a minute.
func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}
