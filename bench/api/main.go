// Command api measures the API of a standalone: a real process with its etcd and SQLite, used over HTTP on
// loopback, as an admin with a token. It prints goals and results as a Markdown table. docs/benchmarks.md
// describes the rows.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "api:", err)
		stop()
		os.Exit(1)
	}
}

// row is a part of the bench that can be run alone. It may print several lines of the table.
type row struct {
	name string
	run  func(context.Context, *bench) ([]line, error)
}

// rows are in the order of execution: the first one creates the jobs that the others use.
func rows() []row {
	return []row{{"register", register}, {"lists", lists}, {"put", put}, {"apply", apply}}
}

// line is a line of the table. A line without a goal has no verdict.
type line struct {
	what, goal, measured string
	met                  *bool
}

func judged(what, goal, measured string, met bool) line {
	return line{what: what, goal: goal, measured: measured, met: &met}
}

// bench is one run of the program.
type bench struct {
	server *server
	jobs   int // how many there are, or will be
	quick  bool
}

// seconds is the duration of a row that is measured over a period.
func (b *bench) seconds() time.Duration {
	if b.quick {
		return 4 * time.Second
	}
	return 30 * time.Second
}

func run(ctx context.Context, args []string, out, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("api", flag.ContinueOnError)
	flags.SetOutput(stderr)
	program := flags.String("standalone", "carillon-standalone", "the program that is measured")
	jobs := flags.Int("jobs", 100_000, "how many jobs are registered")
	only := flags.String("rows", "all", "the rows to run, with commas between them; the first one is always run")
	quick := flags.Bool("quick", false, "a few seconds for each row: to try it out, not to believe it")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *jobs < 5000 {
		return errors.New("-jobs must be 5000 at least")
	}
	at, load := time.Now(), loadAverage()
	b := &bench{jobs: *jobs, quick: *quick}
	if b.server, err = start(ctx, *program); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.server.end(stderr, err != nil)) }()
	var lines []line
	// Results are printed even if a later row fails.
	defer func() {
		print(out, lines)
		fmt.Fprintf(out, "\n%d jobs; %d cores, %s, %s; %s, load %s before, %s after\n", b.jobs, runtime.NumCPU(),
			cpuModel(), runtime.Version(),
			at.UTC().Format("2006-01-02 15:04 MST"), load, loadAverage())
	}()
	chosen := strings.Split(*only, ",")
	for i, r := range rows() {
		if i > 0 && *only != "all" && !slices.Contains(chosen, r.name) {
			continue
		}
		fmt.Fprintf(stderr, "%s …\n", r.name)
		more, err := r.run(ctx, b)
		lines = append(lines, more...)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

func print(out io.Writer, lines []line) {
	fmt.Fprint(out, "| What | Goal | Measured | |\n|---|---|---|---|\n")
	for _, l := range lines {
		verdict := ""
		if l.met != nil {
			if verdict = "met"; !*l.met {
				verdict = "missed"
			}
		}
		goal := l.goal
		if goal == "" {
			goal = "–"
		}
		fmt.Fprintf(out, "| %s | %s | %s | %s |\n", l.what, goal, l.measured, verdict)
	}
}

func loadAverage() string {
	data, _ := os.ReadFile("/proc/loadavg") // without it there is no figure
	one, _, _ := strings.Cut(string(data), " ")
	return one
}

func cpuModel() string {
	data, _ := os.ReadFile("/proc/cpuinfo") // without it there is no model
	for text := range strings.Lines(string(data)) {
		if name, value, ok := strings.Cut(text, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
