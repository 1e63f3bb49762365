package executor

import "time"

const (
	// With more than crowd runs, the end of one waits for others to share its look: shareFor, or shareForEach for each
	// run if that is more, since a look takes the longer the more runs there are.
	crowd        = 16
	shareFor     = 10 * time.Millisecond
	shareForEach = 20 * time.Microsecond
	// registerFor is how long a look waits for the registration of commands that are being started.
	registerFor = time.Millisecond
)

// look is an examination of the lists of children that is shared by runs whose commands have ended: the lists are the
// longer the more runs are active.
type look struct {
	among map[*siblings]bool // guarded by mu of the tracker until the lists are read
	done  chan struct{}
	empty bool // there is no process but commands; written before done is closed
}

// nothingLeft reports whether a run whose command has ended left no process behind. It returns false if that is not
// known: a pass must tell then. With few runs it returns false at once.
func (k *tracker) nothingLeft(p *process, now <-chan struct{}) bool {
	k.mu.Lock()
	active := len(k.live)
	if active <= crowd {
		k.mu.Unlock()
		return false
	}
	l, first := k.next, k.next == nil
	if first {
		l = &look{among: make(map[*siblings]bool), done: make(chan struct{})}
		k.next = l
	}
	if p.siblings != nil {
		l.among[p.siblings] = true
	}
	k.mu.Unlock()
	began := time.Now()
	defer func() { p.waited = time.Since(began) }()
	if first {
		pause(max(shareFor, time.Duration(active)*shareForEach), now)
		k.examine(l, now)
	}
	select {
	case <-l.done:
		return l.empty
	case <-now:
		return false
	}
}

// examine executes a look. Runs that end after the lists were read need another one.
func (k *tracker) examine(l *look, now <-chan struct{}) {
	defer close(l.done)
	left := k.read(l)
	if len(left) > 0 { // some may be commands whose ids are not registered yet
		pause(registerFor, now)
		left = k.strangers(left)
	}
	l.empty = len(left) == 0
}

// read returns the listed processes that are not commands.
func (k *tracker) read(l *look) (pids []int) {
	k.passing.Lock()
	defer k.passing.Unlock()
	k.mu.Lock()
	k.next = nil
	k.mu.Unlock()
	pids = k.strangers(k.children(k.list))
	for s := range l.among {
		if s.list >= 0 { // else the thread has ended: its children are the first thread's
			pids = append(pids, k.strangers(k.children(s.list))...)
		}
	}
	return pids
}

// pause waits for a time, or until a channel is closed.
func pause(limit time.Duration, over <-chan struct{}) {
	most := time.NewTimer(limit)
	defer most.Stop()
	select {
	case <-most.C:
	case <-over:
	}
}
