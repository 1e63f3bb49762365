package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/test/harness"
)

// host starts processes, and ends them all. Orphans of its processes become its own children, so that none
// outlives the host.
type host struct {
	bin string

	mu  sync.Mutex
	own map[int]*process // owned under mu: started and not reaped yet
}

// newHost makes this process the parent of all orphans below it.
func newHost(bin string) (*host, error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return nil, fmt.Errorf("become a subreaper: %w", err)
	}
	return &host{bin: bin, own: map[int]*process{}}, nil
}

// process is a started program.
type process struct{ *harness.Process }

// command describes how to start a program.
type command struct {
	name, program, log string
	at                 *place
	env, args          []string
}

func (h *host) start(c command) (*process, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	started, err := harness.Start(harness.Command{
		Name:   c.name,
		Path:   filepath.Join(h.bin, c.program),
		Log:    c.log,
		Args:   c.args,
		Env:    c.env,
		Within: c.at.within,
	})
	if err != nil {
		return nil, err
	}
	p := &process{started}
	h.own[p.PID()] = p
	go func() {
		<-p.Done
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.own[p.PID()] == p { // ids are used again
			delete(h.own, p.PID())
		}
	}()
	return p, nil
}

// reap reaps orphans that have ended, until the context ends.
func (h *host) reap(ctx context.Context) {
	for harness.Sleep(ctx, 100*time.Millisecond) == nil {
		h.orphans(func(pid int) { _, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) })
	}
}

// orphans visits each child that was not started here.
func (h *host) orphans(visit func(pid int)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, pid := range children(os.Getpid()) {
		// A program that os/exec is just starting is reaped by it.
		if h.own[pid] == nil && !slices.Contains([]string{"ip", "tc"}, nameOf(pid)) {
			visit(pid)
		}
	}
}

// killAll ends all started processes, and their orphans.
func (h *host) killAll() {
	for range 100 {
		var left []*process
		h.mu.Lock()
		for _, p := range h.own {
			left = append(left, p)
		}
		h.mu.Unlock()
		for _, p := range left {
			p.Signal(syscall.SIGKILL)
			<-p.Done
		}
		orphans := 0
		h.orphans(func(pid int) {
			orphans++
			for _, d := range append(descendants(pid), pid) {
				_ = syscall.Kill(d, syscall.SIGKILL)
			}
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		})
		if len(left) == 0 && orphans == 0 {
			return
		}
	}
}

// proper returns the process that does the work: a worker's main process is a guardian that runs the same
// program once more.
func (p *process) proper() int {
	for _, child := range children(p.PID()) {
		// unreadable for an executable without read permission
		if name := nameOf(child); name != "" && name == nameOf(p.PID()) {
			return child
		}
	}
	return p.PID()
}

// children returns the processes with a parent.
func children(pid int) []int {
	lists, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	if err != nil {
		return nil
	}
	var all []int
	for _, list := range lists {
		data, err := os.ReadFile(list)
		if err != nil {
			continue // the thread has ended
		}
		for field := range strings.FieldsSeq(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// descendants returns the children, their children, and so on.
func descendants(pid int) []int {
	var all []int
	for _, child := range children(pid) {
		all = append(append(all, child), descendants(child)...)
	}
	return all
}

// nameOf returns the short name of a process.
func nameOf(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// runs reports whether a process exists and is no zombie.
func runs(pid int) bool {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, rest, found := strings.Cut(string(data), ") ")
	return found && !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

// startedAt distinguishes processes that had the same id at different times.
func startedAt(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	if fields := strings.Fields(rest); len(fields) > 19 {
		return fields[19]
	}
	return ""
}

// unit is a process that is restarted when it ends, as by systemd.
type unit struct {
	name   string
	launch func() (*process, error)

	mu      sync.Mutex
	current *process      // owned under mu, as is all below
	wanted  bool          // should run
	pause   time.Duration // before it is restarted
	starts  int
	changed chan struct{} // closed when wanted or pause change
}

func newUnit(name string, launch func() (*process, error)) *unit {
	return &unit{name: name, launch: launch, wanted: true, pause: time.Second, changed: make(chan struct{})}
}

// keep starts the process, and restarts it, until the context ends. The end of the context does not end the
// process.
func (u *unit) keep(ctx context.Context) error {
	for {
		u.mu.Lock()
		wanted, p, changed := u.wanted, u.current, u.changed
		if wanted && (p == nil || !p.Alive()) {
			next, err := u.launch()
			if err != nil {
				u.mu.Unlock()
				return err
			}
			u.current, p = next, next
			u.starts++
		}
		u.mu.Unlock()
		var done <-chan struct{}
		if p != nil && p.Alive() {
			done = p.Done
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
			continue
		case <-done:
		}
		u.mu.Lock()
		pause := u.pause
		u.mu.Unlock()
		if harness.Sleep(ctx, pause) != nil {
			return nil
		}
	}
}

// want sets whether the process should run, and after how long it is restarted.
func (u *unit) want(wanted bool, pause time.Duration) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.wanted, u.pause = wanted, pause
	close(u.changed)
	u.changed = make(chan struct{})
}

func (u *unit) process() *process {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.current
}

func (u *unit) alive() bool {
	p := u.process()
	return p != nil && p.Alive()
}
