// Command history measures a log store with a long history: by default 1,000,000 runs of 200 jobs in 10 days.
// It uses the store through the ports of package runlog, so that every store is measured by the same rows,
// and prints goals and results as a Markdown table.
//
// The store is created in a directory, unless the existing one was filled by this program with as many runs.
// docs/benchmarks.md describes the rows.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"carillon/internal/runlog"
	"carillon/internal/runlog/mongolog"
	"carillon/internal/runlog/sqlitelog"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "history:", err)
		stop()
		os.Exit(1)
	}
}

// row is a part of the bench that can be run alone. It may print several lines of the table.
type row struct {
	name string
	run  func(context.Context, *bench) ([]line, error)
}

// rows are in the order of execution: the first one fills the store, the last one deletes from it.
func rows() []row {
	return []row{
		{"ingest", ingest},
		{"lists", lists},
		{"filters", filters},
		{"rollups", rollups},
		{"pages", pages},
		{"live", live},
		{"backup", backup},
		{"expire", expire},
	}
}

// line is a line of the table. A line without a goal has no verdict.
type line struct {
	what, goal, measured string
	met                  *bool
}

func judged(what, goal, measured string, met bool) line {
	return line{what: what, goal: goal, measured: measured, met: &met}
}

// store is the measured store.
type store interface {
	runlog.Writer
	runlog.Reader
	runlog.Statistics
	runlog.Upkeep
	Close() error
}

// bench is one run of the program.
type bench struct {
	store store
	dir   string
	runs  int
	made  history
	note  io.Writer // for progress
}

func run(ctx context.Context, args []string, out, stderr io.Writer) (err error) {
	flags := flag.NewFlagSet("history", flag.ContinueOnError)
	flags.SetOutput(stderr)
	where := flags.String("store", "sqlite", "sqlite, or the URI of a MongoDB")
	runs := flags.Int("runs", 1_000_000, "how many runs the history has")
	only := flags.String("rows", "all", "the rows to run, with commas between them")
	flows := flags.Int("flows", 0, "fill the store with so many flow runs, and measure their lists only")
	dir := flags.String("dir", "", "a folder on a disk, for SQLite; one that is removed afterwards where none is named")
	if err := flags.Parse(args); err != nil {
		return err
	}
	chosen, err := choose(*only)
	if err != nil {
		return err
	}
	if *runs < 1000 {
		return errors.New("-runs must be 1000 at least")
	}
	b := &bench{dir: *dir, made: newHistory(*runs), note: stderr}
	b.runs = len(b.made.fires) // slightly fewer for small numbers
	if b.dir == "" {
		if b.dir, err = os.MkdirTemp(".", "history-*"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(b.dir)) }()
	}
	if b.store, err = open(ctx, *where, b.dir); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.store.Close()) }()

	at, load := time.Now(), loadAverage()
	var lines []line
	// Results are printed even if a later row fails.
	defer func() {
		print(out, lines)
		fmt.Fprintf(out, "\n%s, %d runs; %d cores, %s, %s; %s, load %s before, %s after\n", kind(*where), b.runs,
			runtime.NumCPU(), cpuModel(), runtime.Version(),
			at.UTC().Format("2006-01-02 15:04 MST"), load, loadAverage())
	}()
	if *flows > 0 {
		b.runs = *flows
		lines, err = b.flows(ctx, *flows)
		return err
	}
	filled, err := b.filled(ctx)
	if err != nil {
		return err
	}
	for _, r := range chosen {
		if r.name == "ingest" && filled {
			fmt.Fprintln(stderr, "the store is filled already")
			continue
		}
		if r.name != "ingest" && !filled {
			if _, err := ingest(ctx, b); err != nil {
				return fmt.Errorf("fill the store: %w", err)
			}
		}
		filled = true
		fmt.Fprintf(stderr, "%s …\n", r.name)
		more, err := r.run(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		lines = append(lines, more...)
	}
	return nil
}

func choose(names string) ([]row, error) {
	all := rows()
	if names == "all" {
		return all, nil
	}
	var chosen []row
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(all, func(r row) bool { return r.name == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no row %q", name)
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

func open(ctx context.Context, where, dir string) (store, error) {
	if where == "sqlite" {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, err
		}
		return sqlitelog.Open(ctx, filepath.Join(dir, "runs.sqlite"))
	}
	return mongolog.Open(ctx, mongolog.Config{URI: where, Database: "carillon_history"})
}

func kind(where string) string {
	if where == "sqlite" {
		return "SQLite"
	}
	return "MongoDB"
}

// filled reports whether the store holds the whole history.
func (b *bench) filled(ctx context.Context) (bool, error) {
	first, last := b.made.run(0), b.made.run(b.runs-1)
	for _, r := range []string{first.ID, last.ID} {
		found, err := has(ctx, b.store, r)
		if err != nil || !found {
			return false, err
		}
	}
	return true, nil
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
