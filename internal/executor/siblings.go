package executor

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"

	"carillon/internal/executor/proctree"
	"carillon/internal/platform/bootclock"
)

// siblings are the children of a thread that starts commands: the commands, and processes that a command created as its
// siblings (CLONE_PARENT). A nil siblings is valid: the executor adopts no processes.
type siblings struct {
	list int // descriptor of the list of children

	mu    sync.Mutex
	state forkState
}

// forkState identifies the command that the thread started last.
type forkState struct {
	count uint64
	since uint64 // in ticks of the boot clock
	going bool   // its process id is not registered yet
}

// openChildren opens the list of a thread's children.
func openChildren(thread int) (int, error) {
	list, err := unix.Open("/proc/self/task/"+strconv.Itoa(thread)+"/children", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("list adopted processes: %w", err)
	}
	return list, nil
}

// join registers the calling thread, which will start commands. part removes it.
func (k *tracker) join() (*siblings, error) {
	if k == nil {
		return nil, nil
	}
	list, err := openChildren(unix.Gettid())
	if err != nil {
		return nil, err
	}
	s := &siblings{list: list}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.forkers[s] = true
	return s, nil
}

func (k *tracker) part(s *siblings) {
	if k == nil {
		return
	}
	k.passing.Lock() // so that no pass reads the list
	defer k.passing.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.forkers, s)
	_ = unix.Close(s.list) // only read
	s.list = -1
}

// begin is called before a command is started, end when its process id is registered.
func (s *siblings) begin() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state = forkState{count: s.state.count + 1, since: ticks(), going: true}
}

func (s *siblings) end() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.going = false
}

func (s *siblings) now() forkState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state
}

// ticks returns the boot clock in the unit of /proc.
func ticks() uint64 { return uint64(bootclock.Now() / clockTick) }

// listed returns the processes that a run may have left behind: the first thread's children and the siblings of its
// command; without a run, the siblings of all commands. unsure reports that some were left out because they may be
// commands that are being started.
func (k *tracker) listed(p *process) (pids []int, unsure bool) {
	pids = k.strangers(k.children(k.list))
	if p != nil && p.siblings != nil {
		more, unsure := k.beside(p.siblings)
		return append(pids, more...), unsure
	}
	k.mu.Lock()
	var forkers []*siblings
	if p == nil {
		for s := range k.forkers {
			forkers = append(forkers, s)
		}
	}
	k.mu.Unlock()
	for _, s := range forkers {
		more, open := k.beside(s)
		pids, unsure = append(pids, more...), unsure || open
	}
	return pids, unsure
}

// beside returns the siblings of commands.
func (k *tracker) beside(s *siblings) (pids []int, unsure bool) {
	if s.list < 0 { // the thread has ended: its children are the first thread's
		return nil, false
	}
	began, before := ticks(), s.now()
	pids = k.strangers(k.children(s.list))
	if len(pids) == 0 {
		return nil, false
	}
	if after := s.now(); before == after && !after.going {
		return pids, false
	}
	if before.going {
		began = before.since
	}
	own := slices.DeleteFunc(slices.Clone(pids), func(pid int) bool {
		q, found := proctree.Look(pid)
		return !found || q.Start >= began // it may be the command that is being started
	})
	return own, len(own) < len(pids)
}

// children reads a list of children. The kernel returns a page at a time. Entries leave the first thread's list only
// during a pass, so none is missed between two pages.
func (k *tracker) children(list int) []int {
	k.text = k.text[:0]
	for {
		k.text = slices.Grow(k.text, 4096)
		n, err := unix.Pread(list, k.text[len(k.text):cap(k.text)], int64(len(k.text)))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || n == 0:
			return proctree.Parse(k.text)
		default:
			k.text = k.text[:len(k.text)+n]
		}
	}
}

// strangers returns the ids without those of commands.
func (k *tracker) strangers(pids []int) []int {
	if len(pids) == 0 {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.DeleteFunc(pids, func(pid int) bool {
		p := k.byPID[pid]
		return p != nil && !p.ending
	})
}
