package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"carillon/test/chaos/check"
	"carillon/test/harness"
)

// starved is for how long a worker lacks what it needs to start commands.
const starved = 25 * time.Second

// starveFaults take away what a worker needs to start commands.
func starveFaults() []fault {
	starve := func(name, about string, run func(context.Context, *strike) error) fault {
		return fault{
			name:  name,
			about: fmt.Sprintf("%s for %v", about, starved),
			takes: starved + 5*time.Second,
			needs: []resource{aWorker},
			run:   run,
		}
	}
	return []fault{
		starve("no-descriptors", "a worker may open no more files", noDescriptors),
		starve("no-processes", "a worker may start no more processes and threads", noProcesses),
	}
}

// noDescriptors lowers the limit to about what the worker has open.
func noDescriptors(ctx context.Context, s *strike) error {
	p := s.w.process()
	if p == nil || !p.Alive() {
		return fmt.Errorf("%s is not there to be starved", s.w.name)
	}
	pid := p.proper()
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return err
	}
	var before unix.Rlimit
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, nil, &before); err != nil {
		return fmt.Errorf("read the limit of %s: %w", s.w.name, err)
	}
	limit := unix.Rlimit{Cur: uint64(len(open) + s.rng.IntN(6)), Max: before.Max}
	if err := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &limit, nil); err != nil {
		return fmt.Errorf("limit the descriptors of %s: %w", s.w.name, err)
	}
	s.say("it has %d open, and may have %d", len(open), limit.Cur)
	err = harness.Sleep(ctx, starved)
	if back := unix.Prlimit(pid, unix.RLIMIT_NOFILE, &before, nil); !errors.Is(back, unix.ESRCH) {
		err = errors.Join(err, back)
	}
	return err
}

// noProcesses moves the worker into a cgroup that has no room.
func noProcesses(ctx context.Context, s *strike) error {
	p := s.w.process()
	if p == nil || !p.Alive() {
		return fmt.Errorf("%s is not there to be starved", s.w.name)
	}
	root := "/sys/fs/cgroup/pids"
	if _, err := os.Stat(root); err != nil {
		root = "/sys/fs/cgroup" // of version 2
	}
	group := filepath.Join(root, fmt.Sprintf("carillon-chaos-%d-%s", time.Now().UnixNano(), s.w.name))
	if err := os.Mkdir(group, 0o755); err != nil {
		return fmt.Errorf("make a cgroup: %w", err)
	}
	defer os.Remove(group)
	write := func(at, name, text string) error { return os.WriteFile(filepath.Join(at, name), []byte(text), 0) }
	if err := write(group, "pids.max", "max"); err != nil {
		return fmt.Errorf("there is no limit on processes here: %w", err)
	}
	for _, pid := range append(descendants(p.PID()), p.PID()) {
		_ = write(group, "cgroup.procs", strconv.Itoa(pid)) // a command may have ended meanwhile
	}
	defer func() { // what lives goes back, so that the group can be removed
		for range 500 {
			left, _ := os.ReadFile(filepath.Join(group, "cgroup.procs"))
			if len(left) == 0 {
				return
			}
			for pid := range strings.FieldsSeq(string(left)) {
				_ = write(root, "cgroup.procs", pid)
			}
			if harness.Sleep(context.WithoutCancel(ctx), 10*time.Millisecond) != nil {
				return
			}
		}
	}()
	text, err := os.ReadFile(filepath.Join(group, "pids.current"))
	if err != nil {
		return err
	}
	current, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return err
	}
	limit := current + s.rng.IntN(4)
	if err := write(group, "pids.max", strconv.Itoa(limit)); err != nil {
		return fmt.Errorf("limit the processes of %s: %w", s.w.name, err)
	}
	s.say("it has %d processes and threads, and may have %d", current, limit)
	err = s.starve(ctx, p)
	return errors.Join(err, write(group, "pids.max", "max"))
}

// starve waits. A worker may die of it: where the Go runtime needs a thread and gets none, it ends the process.
func (s *strike) starve(ctx context.Context, p *process) error {
	wait := time.NewTimer(starved)
	defer wait.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return nil
	case <-p.Done:
	}
	s.add(check.Event{Kind: check.WorkerKilled, At: check.Now(), Worker: s.w.id, Text: string(theBoth)})
	s.say("it could start no thread, and has ended")
	return harness.Sleep(ctx, starved)
}
