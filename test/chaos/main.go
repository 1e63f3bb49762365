// Command chaos injects faults around Carillon's real processes and checks whether its guarantees hold: three
// etcd servers, a log store, two masters and three workers, each worker in a network of its own where that is
// permitted. The command of the jobs writes a ledger that is independent of the system under test, and a
// checker that computes the plan independently (package check) evaluates it.
//
// All random choices derive from a seed, which it prints with the command that repeats a trial; the timing of
// the operating system does not. It ends by itself, also on ^C, and ends all processes that it started.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the flags of the program.
type options struct {
	bin, dir, fault, results string
	all, quick, list, keep   bool
	plain                    bool
	mixes, jobs, outputs     int
	seed                     uint64
	soak                     time.Duration
	table                    string
	share                    share
}

// share selects the trials of this program if several programs share them.
type share struct{ mine, of int }

func (s *share) String() string { return fmt.Sprintf("%d/%d", s.mine, s.of) }

// Set parses "1/2", the first of two.
func (s *share) Set(text string) error {
	if n, err := fmt.Sscanf(text, "%d/%d", &s.mine, &s.of); err != nil || n != 2 || s.mine < 1 || s.mine > s.of {
		return errors.New("must be like 1/2")
	}
	return nil
}

func parse(args []string, stderr io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&o.bin, "bin", "", "folder of the programs (default: make chaos-programs builds them into "+
		"bin/chaos)")
	flags.StringVar(&o.dir, "dir", "", "folder for what is kept of failed trials (default: a temporary one)")
	flags.StringVar(&o.fault, "fault", "", "make this fault, alone")
	flags.BoolVar(&o.all, "all", false, "make each fault once, alone")
	flags.BoolVar(&o.quick, "quick", false, "make a choice of faults within two minutes")
	flags.IntVar(&o.mixes, "mixes", 0, "make so many mixes of faults, of 90 seconds each")
	flags.DurationVar(&o.soak, "soak", 0, "make faults at random for so long, with many long jobs")
	flags.Uint64Var(&o.seed, "seed", 0, "what everything that is drawn by lot follows from (default: the time)")
	flags.IntVar(&o.jobs, "jobs", 0, "number of jobs (default 24; 200 for -soak)")
	flags.IntVar(&o.outputs, "outputs", 0, "read the output of so many runs of each trial (default 60; 15 for -quick)")
	flags.StringVar(&o.results, "results", "",
		"write the results to this file too, as JSON, beside those of other trials that it holds")
	flags.StringVar(&o.table, "table", "", "print the results of this file as a table in Markdown, and make nothing")
	o.share = share{1, 1}
	flags.Var(&o.share, "share", "make only every n-th of the trials, from this one on: 1/2 and 2/2 together make all")
	flags.BoolVar(&o.list, "list", false, "list the faults")
	flags.BoolVar(&o.keep, "keep", false, "keep the logs of all trials, not only of failed ones")
	flags.BoolVar(&o.plain, "plain", false,
		"make no namespaces, as where they are not permitted: workers behind proxies only")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q is too much", flags.Args())
	}
	if o.seed == 0 {
		o.seed = uint64(time.Now().Unix())
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		switch {
		case o.list:
			for _, f := range faults() {
				fmt.Fprintf(stdout, "%-26s %s\n", f.name, f.about)
			}
			return 0
		case o.table != "":
			err = printTable(stdout, o.table)
		case o.fault == "" && !o.all && !o.quick && o.mixes == 0 && o.soak == 0:
			err = errors.New("what is to be done? -fault NAME, -all, -mixes N, -soak D, -quick or -list")
		default:
			return start(ctx, o, args, stdout, stderr)
		}
	}
	if err != nil {
		fmt.Fprintln(stderr, "chaos:", err)
		return 2
	}
	return 0
}

// start builds the programs, enters namespaces, and executes the trials there.
func start(ctx context.Context, o options, args []string, stdout, stderr io.Writer) int {
	if !inside() {
		if o.bin == "" {
			build := exec.CommandContext(ctx, "make", "-s", "chaos-programs")
			build.Stdout, build.Stderr = stderr, stderr
			if err := build.Run(); err != nil {
				fmt.Fprintln(stderr, "chaos: build the programs:", err)
				return 2
			}
			o.bin = "bin/chaos"
			args = append(args, "-bin", o.bin)
		}
		args = append(args, "-seed", fmt.Sprint(o.seed))
		if !o.plain {
			if code, done := contained(ctx, args); done {
				return code
			}
			fmt.Fprintln(stderr, "chaos: namespaces are not permitted here: all live in one network, and links are "+
				"cut in proxies")
		}
	} else if err := settle(); err != nil {
		fmt.Fprintln(stderr, "chaos:", err)
		return notContained
	}
	l, err := newLab(o, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "chaos:", err)
		return 2
	}
	defer l.close()
	if err := l.run(ctx, o); err != nil {
		fmt.Fprintln(stderr, "chaos:", err)
		return 1
	}
	return 0
}

// lab executes trials.
type lab struct {
	host     *host
	dir      string
	results  string
	share    share
	turn     int // trials so far
	outputs  int // runs of each trial whose output is read
	plain    bool
	keep     bool
	own      bool // the directory was created here
	out, log io.Writer
	rows     []row
}

func newLab(o options, stdout, stderr io.Writer) (*lab, error) {
	bin, err := filepath.Abs(o.bin)
	if err != nil {
		return nil, err
	}
	h, err := newHost(bin)
	if err != nil {
		return nil, err
	}
	l := &lab{
		host:    h,
		dir:     o.dir,
		keep:    o.keep,
		plain:   o.plain,
		results: o.results,
		share:   o.share,
		outputs: manyOutputs,
		out:     stdout,
		log:     stderr,
	}
	if o.quick {
		l.outputs = fewOutputs
	}
	l.outputs = cmp.Or(o.outputs, l.outputs)
	if l.dir == "" {
		l.own = true
		l.dir, err = os.MkdirTemp("", "carillon-chaos-")
	} else {
		if l.dir, err = filepath.Abs(l.dir); err == nil { // sockets are named by it
			err = os.MkdirAll(l.dir, 0o700)
		}
	}
	return l, err
}

// close removes the directory if nothing in it is kept.
func (l *lab) close() {
	l.host.killAll()
	for _, r := range l.rows {
		if r.Kept != "" {
			return
		}
	}
	if l.own {
		_ = os.RemoveAll(l.dir)
	}
}

// say prints progress.
func (l *lab) say(format string, args ...any) {
	fmt.Fprintf(l.log, time.Now().Format("15:04:05.000")+" "+format+"\n", args...)
}
