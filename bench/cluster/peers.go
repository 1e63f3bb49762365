package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"carillon/bench/check"
	"carillon/test/harness"
)

// peers measures bare fork and exec, Carillon, and other schedulers one after the other, with the same jobs, the same
// command and the same checker. All jobs fire each second.
//
// An adapter is a program that starts another scheduler: its arguments are an empty folder, and a file with a line of
// JSON for each job: {"name": …, "args": [program, arguments…]}. It creates the jobs, prints "ready", and runs until it
// gets SIGTERM.
func peers(ctx context.Context, b *bench) error {
	var failed []error
	for _, count := range []int{1, 100, 200, 400} {
		if err := b.peerBare(ctx, count); err != nil {
			return err
		}
		carillon := func(ctx context.Context, dir string, jobs []peerJob) (func() harness.Usage, func(), error) {
			return b.peerCarillon(ctx, dir, jobs)
		}
		if err := b.peer(ctx, "carillon", count, carillon); err != nil {
			failed = append(failed, err)
		}
		for _, p := range b.peers {
			name, adapter, found := strings.Cut(p, "=")
			if !found {
				return fmt.Errorf("-peers %q: must be name=adapter", p)
			}
			start := func(ctx context.Context, dir string, jobs []peerJob) (func() harness.Usage, func(), error) {
				return b.peerOther(ctx, name, adapter, dir, jobs)
			}
			if err := b.peer(ctx, name, count, start); err != nil {
				failed = append(failed, err)
			}
		}
	}
	return errors.Join(failed...)
}

// peerJob is a job as an adapter gets it.
type peerJob struct {
	Name string   `json:"name"`
	Args []string `json:"args"`
}

func (b *bench) peerBare(ctx context.Context, count int) error {
	ledger := filepath.Join(b.dir, fmt.Sprint("peers-bare-", count))
	late, err := b.bareBurst(ctx, ledger, count, b.helper(ledger))
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(b.bin, "bare"),
		append([]string{"burst", "4", strconv.Itoa(count)}, b.helper(ledger)...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("bare: %w: %s", err, out)
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	b.sheet.add("peers", fmt.Sprintf("%d each second, bare", count), fmt.Sprintf(
		"p50 %s, p99 %s; %d µs of a core for each", ms(late.P50), ms(late.P99),
		(used/time.Duration(count)).Microseconds()), "", noGoal)
	return nil
}

// peer measures one scheduler. start returns what reads its usage, and what ends it, once all its jobs exist.
func (b *bench) peer(ctx context.Context, name string, count int,
	start func(context.Context, string, []peerJob) (func() harness.Usage, func(), error)) error {
	what := fmt.Sprintf("%d each second, %s", count, name)
	dir := filepath.Join(b.dir, fmt.Sprintf("peers-%s-%d", name, count))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	ledger := filepath.Join(dir, "ledger")
	jobs := make([]peerJob, count)
	for i := range jobs {
		jobs[i].Name = fmt.Sprintf("peer-%05d", i)
		jobs[i].Args = append(b.helper(ledger), jobs[i].Name)
	}
	b.say("%s …", what)
	usage, end, err := start(ctx, dir, jobs)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	defer end()
	from := time.Now().Add(3 * time.Second).Truncate(time.Second)
	to := from.Add(b.length(15 * time.Second))
	if err := harness.SleepUntil(ctx, from.Add(-time.Millisecond)); err != nil {
		return err
	}
	before := usage()
	if err := harness.SleepUntil(ctx, to.Add(-time.Millisecond)); err != nil {
		return err
	}
	after := usage()
	if err := harness.Sleep(ctx, time.Second); err != nil {
		return err
	}
	lines, err := check.ReadLines(ledger)
	if err != nil {
		return err
	}
	ran, missed, doubled, late := eachSecond(lines, count, from, to)
	used := after.CPU + after.Reaped - before.CPU - before.Reaped
	b.sheet.add("peers", what, fmt.Sprintf(
		"p50 %s, p99 %s; %d missed, %d doubled of %d; %d µs of a core for each; %d MiB",
		ms(late.P50), ms(late.P99), missed, doubled, ran+missed,
		(used/time.Duration(max(1, ran+doubled))).Microseconds(), after.RSS>>20), "", noGoal)
	return nil
}

// eachSecond compares lines with a plan of jobs that are due each second. A start belongs to the second in which it
// was, so that one which is later than that counts as a missed and a doubled one.
func eachSecond(lines []check.Line, jobs int, from, to time.Time) (ran, missed, doubled int, late check.Spread) {
	type fire struct {
		job string
		at  int64
	}
	seen := map[fire]int{}
	var all []time.Duration
	for _, l := range lines {
		if l.Start.Before(from) || !l.Start.Before(to) {
			continue
		}
		at := l.Start.Truncate(time.Second)
		seen[fire{l.Job, at.Unix()}]++
		all = append(all, l.Start.Sub(at))
	}
	for _, n := range seen {
		doubled += n - 1
	}
	return len(seen), jobs*int(to.Sub(from)/time.Second) - len(seen), doubled, check.SpreadOf(all)
}

func (b *bench) peerCarillon(ctx context.Context, dir string, jobs []peerJob) (func() harness.Usage, func(), error) {
	s, err := b.newStandalone(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	load := make([]job, len(jobs))
	for i, j := range jobs {
		load[i] = job{Name: j.Name, Args: j.Args, CronExpr: everySecond}
	}
	if err := s.load(ctx, load); err != nil {
		s.Kill()
		return nil, nil, err
	}
	return s.TreeUsage, s.Kill, nil
}

// peerOther starts another scheduler by its adapter.
func (b *bench) peerOther(ctx context.Context, name, adapter, dir string,
	jobs []peerJob) (func() harness.Usage, func(), error) {
	path := filepath.Join(dir, "jobs")
	file, err := os.Create(path)
	if err != nil {
		return nil, nil, err
	}
	encoder := json.NewEncoder(file)
	for _, j := range jobs {
		err = errors.Join(err, encoder.Encode(j))
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, nil, err
	}
	data := filepath.Join(dir, "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		return nil, nil, err
	}
	if adapter, err = filepath.Abs(adapter); err != nil {
		return nil, nil, err
	}
	p, err := harness.Start(harness.Command{Name: name, Path: adapter, Log: filepath.Join(dir, name+".log"),
		Args: []string{data, path}})
	if err != nil {
		return nil, nil, err
	}
	b.started = append(b.started, p)
	end := func() {
		p.Signal(syscall.SIGTERM)
		// It is killed if it does not end by then.
		_ = harness.Until(context.WithoutCancel(ctx), 10*time.Second, name+" has ended",
			func() bool { return !p.Alive() })
		p.Kill()
	}
	err = harness.Until(ctx, 2*time.Minute, name+" is ready", func() bool { return !p.Alive() || p.Said("ready") })
	if err == nil && !p.Alive() {
		err = fmt.Errorf("the adapter ended: %s", p.Tail())
	}
	if err != nil {
		end()
		return nil, nil, err
	}
	return p.TreeUsage, end, nil
}
