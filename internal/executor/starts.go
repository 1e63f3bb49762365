package executor

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
)

const (
	// probeFirst and probeMost bound the pause before the next probe, while no command can be started.
	probeFirst = time.Second
	probeMost  = 30 * time.Second
	// probeCalm is how long starts must have succeeded for the pause to begin anew.
	probeCalm = time.Minute
	// mostHeadroom is how many descriptors are left to the process itself, its connections and its looks
	// into /proc, or an eighth where it may have few.
	mostHeadroom = 64
)

// unable says that this process could not start a command, for want of something that has nothing to
// do with the job.
type unable struct{ error }

func (u unable) Unwrap() error { return u.error }

// short reports whether an error says that the machine, or this process, has no room left.
func short(err error) bool {
	for _, code := range [...]error{unix.EMFILE, unix.ENFILE, unix.EAGAIN, unix.ENOMEM, unix.ENOSPC, unix.EDQUOT} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// headroom returns EMFILE where the descriptor that was opened last shows that few are left: the
// kernel gives out the lowest that is free. Runs hold most of them, so a new one must wait.
func headroom(last int) error {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return nil
	}
	if left := min(mostHeadroom, limit.Cur/8); uint64(last) >= limit.Cur-left {
		return fmt.Errorf("all but %d of %d descriptors are in use: %w", left, limit.Cur, unix.EMFILE)
	}
	return nil
}

// starts tracks whether this process can start commands. It is safe for concurrent use.
type starts struct {
	wake chan struct{} // of capacity one: a start has failed

	mu     sync.Mutex
	why    error     // of the last start that failed; nil while commands can be started
	since  time.Time // when the first one failed
	hung   int       // starts that take too long
	hungAt time.Time // when the first of them began
	full   bool      // nothing else can be started because of them
	relief relief
}

func newStarts() *starts { return &starts{wake: make(chan struct{}, 1)} }

// fail notes that a command could not be started.
func (s *starts) fail(err error, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why == nil {
		s.since = now
	}
	s.why = err
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// mend notes that commands can be started.
func (s *starts) mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why = nil
	select {
	case <-s.wake:
	default:
	}
}

// Conditions are the active problems with starting commands.
func (x *Executor) Conditions() (found []common.Condition) {
	s := x.starts
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != nil {
		found = append(found, common.Condition{Code: common.ConditionCannotStart, From: s.since.UTC(), StopsClaims: true,
			Text: "commands cannot be started: " + s.why.Error(), Data: common.Words{"error": s.why.Error()}})
	}
	if s.hung > 0 {
		found = append(found, common.Condition{Code: common.ConditionStartHangs, From: s.hungAt.UTC(), StopsClaims: s.full,
			Text: fmt.Sprintf("the start of %d commands has taken more than %v: a file system may not answer", s.hung, hangAfter),
			Data: common.Words{"count": fmt.Sprint(s.hung)}})
	}
	return found
}

// probe starts a trivial command from time to time while starts fail, until one succeeds.
func (x *Executor) probe(ctx context.Context) {
	pause, ended := probeFirst, time.Time{}
	for {
		select {
		case <-ctx.Done():
			return
		case <-x.starts.wake:
		}
		if time.Since(ended) > probeCalm {
			pause = probeFirst
		}
		for able := false; !able; pause = min(2*pause, probeMost) {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause/2 + rand.N(pause)):
			}
			able = x.canStart(ctx)
		}
		x.starts.mend()
		ended = time.Now()
	}
}

// canStart reports whether a command can be started, by starting one as a run does.
func (x *Executor) canStart(ctx context.Context) bool {
	job := common.Job{Name: "probe", Command: ":", Timeout: "10s"}
	t := Task{Job: common.StoredJob{Job: job}, Record: common.Record{Job: job.Name, Run: "probe." + x.cfg.Life, Policy: job.Terms().Policy}}
	run := x.run(ctx, t, nowhere{}, nil, granted{})
	return run.Status == common.StatusSucceeded || run.Reason.Code != common.ReasonCannotStart && run.Status == common.StatusFailed
}

// nowhere is the output of a probe.
type nowhere struct{}

// Chunk drops what a probe prints.
func (nowhere) Chunk(common.Chunk) {}
