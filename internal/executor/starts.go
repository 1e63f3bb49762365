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
	// probeFirst and probeMost are the limits of the pause before the next probe while no command can be started.
	probeFirst = time.Second
	probeMost  = 30 * time.Second
	// probeCalm is how long starts must have succeeded before the pause is reset.
	probeCalm = time.Minute
	// mostHeadroom is how many descriptors are reserved for the process itself, its connections and reading /proc; at
	// most an eighth of its limit.
	mostHeadroom = 64
)

// unable is the error of a start that failed for a lack of resources that is not the job's fault.
type unable struct{ error }

func (u unable) Unwrap() error { return u.error }

// short reports whether an error is caused by a lack of resources of the machine or this process.
func short(err error) bool {
	for _, code := range [...]error{unix.EMFILE, unix.ENFILE, unix.EAGAIN, unix.ENOMEM, unix.ENOSPC, unix.EDQUOT} {
		if errors.Is(err, code) {
			return true
		}
	}
	return false
}

// headroom returns EMFILE if the last opened descriptor shows that few are left: the kernel assigns the lowest free
// number. Runs use most of them, so a new run must wait.
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
	wake chan struct{} // capacity one: a start has failed

	mu     sync.Mutex
	why    error     // of the last failed start; nil while commands can be started
	since  time.Time // of the first failure
	hung   int       // number of hanging starts
	hungAt time.Time // when the first of them began
	full   bool      // they prevent all other starts
	relief relief
}

func newStarts() *starts { return &starts{wake: make(chan struct{}, 1)} }

// fail records that a command could not be started.
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

// mend records that commands can be started.
func (s *starts) mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.why = nil
	select {
	case <-s.wake:
	default:
	}
}

// Conditions returns the active problems with starting commands.
func (x *Executor) Conditions() (found []common.Condition) {
	s := x.starts
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why != nil {
		found = append(found, common.Condition{
			Code:        common.ConditionCannotStart,
			From:        s.since.UTC(),
			StopsClaims: true,
			Text:        "commands cannot be started: " + s.why.Error(),
			Data:        common.Words{"error": s.why.Error()},
		})
	}
	if s.hung > 0 {
		found = append(found, common.Condition{
			Code:        common.ConditionStartHangs,
			From:        s.hungAt.UTC(),
			StopsClaims: s.full,
			Text: fmt.Sprintf("the start of %s has taken more than %v: a file system may not respond",
				common.Count(s.hung, "command", "commands"), hangAfter),
			Data: common.Words{"count": fmt.Sprint(s.hung)},
		})
	}
	return append(found, x.brokenTypes()...)
}

// probe starts a trivial command periodically after a start has failed, until one succeeds.
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

// canStart reports whether a command can be started, by starting one in the same way as a run.
func (x *Executor) canStart(ctx context.Context) bool {
	job := common.Job{Name: "probe", Command: ":", Timeout: "10s"}
	record := common.Record{Job: job.Name, Run: "probe." + x.cfg.Life, Policy: job.Terms().Policy}
	run := x.run(ctx, &Task{Job: common.StoredJob{Job: job}, Record: record}, nowhere{}, nil, granted{})
	return run.Status == common.StatusSucceeded ||
		run.Reason.Code != common.ReasonCannotStart && run.Status == common.StatusFailed
}

// nowhere is the output of a probe.
type nowhere struct{}

// Chunk discards output.
func (nowhere) Chunk(common.Chunk) {}
