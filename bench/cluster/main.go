// Command cluster measures Carillon as a whole: it starts its programs as real processes, loads jobs through
// the REST API, lets a small helper record when it was started, and compares that with the plan by a checker
// that computes the plan independently (package check). Each figure is printed with the machine's own limit.
//
// It ends by itself, kills the processes that it started by process id, and keeps everything in a temporary
// directory. docs/benchmarks.md describes the rows.
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
	"slices"
	"strings"
	"syscall"
	"time"

	"carillon/bench/check"
	"carillon/test/harness"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		stop()
		os.Exit(1)
	}
}

// row is a part of the bench that can be run alone.
type row struct {
	name  string
	run   func(context.Context, *bench) error
	apart bool // it is run only if it is named
}

// rows are in the order of execution: later ones use rates that the first one measures.
func rows() []row {
	return []row{
		{name: "sustained", run: sustained},
		{name: "steady", run: steady},
		{name: "burst", run: burst},
		{name: "among", run: among},
		{name: "lone", run: lone},
		{name: "raft", run: raft},
		{name: "cycles", run: cycles},
		{name: "idle100k", run: idle100k},
		{name: "overload", run: overload},
		{name: "million", run: million},
		{name: "kill", run: kill},
		{name: "backlog", run: backlog},
		{name: "outage", run: outage},
		{name: "peers", run: peers, apart: true},
		{name: "requests", run: requests, apart: true},
		{name: "functions", run: functions, apart: true},
		{name: "flow-chain", run: flowChain, apart: true},
		{name: "flow-layers", run: flowLayered, apart: true},
		{name: "flow-join", run: flowJoin, apart: true},
		{name: "flow-rerun", run: flowRerun, apart: true},
		{name: "flow-kill", run: flowKill, apart: true},
		{name: "flow-burst", run: flowBurst, apart: true},
		{name: "flow-wait", run: flowWait, apart: true},
		{name: "flow-backfill", run: flowBackfill, apart: true},
		{name: "flow-backfill-long", run: flowBackfillLong, apart: true},
		{name: "after-fan", run: afterFan, apart: true},
		{name: "flow-spread", run: flowSpread, apart: true},
		{name: "daemon-end", run: daemonEnd, apart: true},
		{name: "daemon-kill", run: daemonKill, apart: true},
		{name: "daemon-fleet", run: daemonFleet, apart: true},
		{name: "daemon-join", run: daemonJoin, apart: true},
		{name: "daemon-join-all", run: daemonJoinAll, apart: true},
	}
}

// bench is one run of the program.
type bench struct {
	bin, dir string
	duration time.Duration // of the measurement of a row; 0: the default of each row
	quick    bool
	log      io.Writer
	started  []*harness.Process
	sheet    sheet
	rate     float64      // runs/s of the standalone, once it is measured
	lone     check.Spread // lateness of a lone job, once it is measured
	peers    []string     // other schedulers to measure: name=adapter
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var names []string
	for _, r := range rows() {
		names = append(names, r.name)
	}
	flags := flag.NewFlagSet("cluster", flag.ContinueOnError)
	flags.SetOutput(stderr)
	bin := flags.String("bin", "bin/bench", "folder of the programs")
	only := flags.String("row", "all", "rows to run, separated by commas: "+strings.Join(names, " "))
	duration := flags.Duration("duration", 0, "how long a row measures (default: each as its goal says)")
	quick := flags.Bool("quick", false, "measure for a few seconds only, to try it out")
	keep := flags.Bool("keep", false, "keep the temporary folder, with the logs of all processes")
	rate := flags.Float64("rate", 0, "runs/s that the standalone sustains, where the row that finds out is not run")
	others := flags.String("peers", "", "other schedulers for the row peers: name=adapter, separated by commas")
	if err := flags.Parse(args); err != nil {
		return err
	}
	absolute, err := filepath.Abs(*bin)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "carillon-bench-")
	if err != nil {
		return err
	}
	if *keep {
		fmt.Fprintln(stderr, "everything is kept in", dir)
	} else {
		defer os.RemoveAll(dir)
	}
	b := &bench{bin: absolute, dir: dir, duration: *duration, quick: *quick, log: stderr, rate: *rate}
	if *others != "" {
		b.peers = strings.Split(*others, ",")
	}
	defer b.killAll()
	b.sheet.began(time.Now())
	var failed []error
	wanted := strings.Split(*only, ",")
	for _, name := range wanted {
		if name != "all" && !slices.Contains(names, name) {
			return fmt.Errorf("there is no row %q: %s", name, strings.Join(names, " "))
		}
	}
	for _, r := range rows() {
		if *only == "all" && r.apart || *only != "all" && !slices.Contains(wanted, r.name) {
			continue
		}
		began := time.Now()
		b.say("%s …", r.name)
		// No wait is unbounded, whatever hangs.
		rowCtx, cancel := context.WithTimeout(ctx, 25*time.Minute+2*b.duration)
		err := r.run(rowCtx, b)
		cancel()
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.name, err))
			b.sheet.add(r.name, "failed", err.Error(), "", missed)
		}
		b.say("%s took %v", r.name, time.Since(began).Round(time.Second))
		if ctx.Err() != nil {
			break
		}
	}
	b.sheet.print(stdout)
	return errors.Join(failed...)
}

// say prints progress.
func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.log, time.Now().Format(time.TimeOnly)+" "+format+"\n", args...)
}

// length returns the duration of a measurement whose goal defines this default.
func (b *bench) length(goal time.Duration) time.Duration {
	switch {
	case b.duration > 0:
		return b.duration
	case b.quick:
		return min(goal, 6*time.Second)
	}
	return goal
}

// start runs a program of the bench's directory. Its own directory is created below dir.
func (b *bench) start(dir, name, program string, env []string, args ...string) (*harness.Process, error) {
	p, err := harness.Start(harness.Command{
		Name: name,
		Path: filepath.Join(b.bin, program),
		Log:  filepath.Join(dir, name+".log"),
		Args: args,
		Env:  env,
	})
	if err == nil {
		b.started = append(b.started, p)
	}
	return p, err
}

// killAll kills the remaining processes of a row.
func (b *bench) killAll() {
	for _, p := range b.started {
		p.Kill()
	}
}
