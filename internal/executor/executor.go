package executor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"carillon/internal/common"
	"carillon/internal/mask"
	"carillon/internal/proctree"
	"carillon/internal/runas"
)

// DefaultPath is where commands look for programs.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Config is what an Executor needs.
type Config struct {
	BaseDir   string // the worker's data folder; private folders of runs are made under it, in "work"
	Worker    string // the worker's id; with Life it marks each command, so that Sweep finds leftovers
	Life      string // this start of the worker
	Name      string // the worker's name, for commands
	Path      string // PATH of commands; default DefaultPath
	StartGate int    // how many commands are being started at a time; default two per core
	// Adopt makes this process the parent of whatever outlives the process that started it, so that
	// it goes with its run, whatever it did to hide. No process of this program may be started
	// but by this Executor then.
	Adopt bool
	// Mark is the one that this process got from [MarkProcess]; 0: none.
	Mark proctree.Mark
	// Masks, if set, is asked at the start of each run what must not come out of it.
	Masks func() *mask.Masker
	// Secrets opens what jobs refer to in their env; nil: this worker has none.
	Secrets Secrets
	// RunAs says as whom jobs run, and what; nil: all as this process's own user.
	RunAs *runas.File
	// MaxRunTime is the longest that a command may run, whatever its job says; 0: no bound.
	MaxRunTime time.Duration
	Now        func() time.Time // wall clock; default time.Now
	Log        *slog.Logger     // default: nowhere
}

// Task is a run to execute: the job under which it was claimed and its record.
type Task struct {
	Job            common.StoredJob
	Record         common.Record
	Fence          int64         // etcd revision of the claim: grows from run to run of a job
	PreviousStatus common.Status // of the job's run before this one; empty if there was none
	// MayStart, if set, is asked just before the fork; its error is why the command must not start.
	MayStart func() error
	// KillNow is closed when nothing of the run may live any longer: whatever grace it has ends.
	KillNow <-chan struct{}
	// Wishes, if set, tells of wishes to kill the run, each a [Killed]; of those that the context did not end
	// with, one that comes while the run is ending counts: its signal is sent as well, and KILL ends the grace.
	Wishes <-chan error
}

// Output takes what a command prints. Chunk is called in order of offset, by one
// goroutine at a time, and owns the chunk's data. While it blocks, the command
// blocks as soon as its pipe is full.
type Output interface {
	Chunk(common.Chunk)
}

// Executor runs commands. It is safe for concurrent use.
type Executor struct {
	cfg     Config
	self    runas.Account
	folders *folders
	// terminal tells that this process has one. Commands must not have it: nothing is to
	// wait for a password that nobody types. So each gets a session then. Else it gets a
	// process group alone, since a session costs the kernel a scheduling group.
	terminal bool
	null     *os.File      // stdin of commands that get none
	gate     chan struct{} // one place for each start in progress
	peak     atomic.Int64  // the most memory that this process was seen to have, in KiB
	buffers  sync.Pool     // of *[common.MaxChunk]byte
	tails    *budget       // for the ends of outputs over their cap

	starts  *starts
	probing sync.WaitGroup
	noProbe context.CancelFunc // ends the probe

	kin     *kin
	marks   *marker
	groups  groups
	cgroups *cgroups
	forks   chan *forkOrder
	forking sync.RWMutex  // held for reading while a command is started
	killed  chan struct{} // closed when no command may live any more
	kill    sync.Once     // closes it
	quit    chan struct{} // closed to end the goroutines of the executor itself
	own     sync.WaitGroup
}

// New makes an Executor, and the folder "work" in the data folder.
func New(cfg Config) (*Executor, error) {
	if cfg.Path == "" {
		cfg.Path = DefaultPath
	}
	if cfg.StartGate <= 0 {
		cfg.StartGate = 2 * runtime.NumCPU()
	}
	if cfg.Masks == nil {
		cfg.Masks = func() *mask.Masker { return nil }
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	x := &Executor{
		cfg:      cfg,
		self:     runas.Own(),
		gate:     make(chan struct{}, cfg.StartGate),
		terminal: hasTerminal(),
		buffers:  sync.Pool{New: func() any { return new([common.MaxChunk]byte) }},
		tails:    newBudget(tailBudget),
		starts:   newStarts(),
		forks:    make(chan *forkOrder),
		marks:    newMarker(cfg.Mark),
		killed:   make(chan struct{}),
		quit:     make(chan struct{}),
	}
	x.groups.owner, x.groups.quit = &x.own, x.quit
	base, err := filepath.Abs(cfg.BaseDir)
	if err != nil {
		return nil, fmt.Errorf("find data folder: %w", err)
	}
	if x.folders, err = openFolders(filepath.Join(base, "work")); err != nil {
		return nil, err
	}
	if x.null, err = os.Open(os.DevNull); err != nil {
		return nil, errors.Join(fmt.Errorf("open stdin of commands: %w", err), x.folders.close())
	}
	if cfg.Adopt {
		if x.kin, err = adopt(cfg.Worker, cfg.Life, x.marks); err != nil {
			cfg.Log.Info("processes_not_adopted", "error", err) // those that hide well are left to a guardian
		} else {
			x.own.Go(func() { x.kin.reapUntil(x.quit) })
		}
		if x.cgroups, err = findCgroups(cfg.Log); err != nil {
			cfg.Log.Info("cgroups_unused", "error", err) // the sweep of the tree does without
		}
	}
	for range cfg.StartGate {
		x.own.Go(x.forker)
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.noProbe = cancel
	x.probing.Go(func() { x.probe(ctx) })
	return x, nil
}

// Close gives back what New took. No run may be going on.
func (x *Executor) Close() error {
	x.noProbe()
	x.probing.Wait() // it needs the others
	close(x.quit)
	x.own.Wait()
	return errors.Join(x.kin.close(), x.null.Close(), x.folders.close())
}

// KillAll kills all that stems from this process, at once and for good: no command is
// started any more. Runs that it ends say that the worker was stopped. It returns when
// nothing is left, or after five seconds.
func (x *Executor) KillAll() {
	x.kill.Do(func() { close(x.killed) })
	started := make(chan struct{}) // closed when what was being started can be seen
	go func() {
		x.forking.Lock() // one that executes a file of a dead mount holds it until it is killed, or longer
		x.forking.Unlock()
		close(started)
	}()
	over := time.After(settleWait)
	for quiet, pause := 0, time.Millisecond; quiet < 2; quiet++ { // one that was on its way to us is seen at the second look
		if !closed(started) {
			quiet = -1
		}
		for _, p := range proctree.Below(os.Getpid()) {
			if !p.Dead {
				_ = p.Kill()
				quiet, pause = -1, time.Millisecond
			}
		}
		select {
		case <-time.After(pause):
			pause = min(2*pause, shortPoll)
		case <-over:
			return
		}
	}
}

// Run starts the command, waits until it and its process group are gone, and tells
// how it ended: a terminal run built on the task's record. When ctx ends, the
// command is stopped, and the cause of ctx decides what the outcome says: [Killed],
// [ErrStopping], [ErrCutOff]; any other cause is quoted. When the task's KillNow is closed, all
// of the run is killed at once; without another cause by then, it is [ErrCutOff].
func (x *Executor) Run(ctx context.Context, t Task, out Output) common.Run {
	masks := x.cfg.Masks()
	as, bad := x.refuse(&t)
	if bad != nil {
		return x.refused(&t, bad, masks)
	}
	values, more, bad := x.open(ctx, &t)
	if bad != nil {
		return x.refused(&t, bad, masks)
	}
	masks = masks.With(more)
	run := x.run(ctx, t, out, masks, granted{as, values})
	maskReason(masks, run.Reason)
	return run
}

// granted is what a run has beyond its definition.
type granted struct {
	as      *runas.Account    // nil: this process's own
	secrets map[string]string // by variable
}

// refused is the outcome of a run that does not begin.
func (x *Executor) refused(t *Task, why *outcome, masks *mask.Masker) common.Run {
	run := x.outcome(t, why)
	maskReason(masks, run.Reason)
	return run
}

func (x *Executor) run(ctx context.Context, t Task, out Output, masks *mask.Masker, g granted) common.Run {
	spec, bad := x.resolve(&t, g)
	if bad != nil {
		return x.outcome(&t, bad)
	}
	if limit := x.limit(&t); limit.after > 0 { // it counts from the claim: a start may hang
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit.after, limit)
		defer cancel()
	}
	capture := newCapture(t.Record.Run, outputMax(&t.Job), out, x.tails, masks, x.cfg.Now)
	p, err := x.start(ctx, &t, spec, capture)
	if err != nil {
		if refused, ok := errors.AsType[notAllowed](err); ok {
			return x.outcome(&t, outcomeOfCause(refused.cause))
		}
		if stopped := context.Cause(ctx); stopped != nil {
			return x.outcome(&t, outcomeOfCause(stopped))
		}
		return x.outcome(&t, x.unstarted(&t, spec, err))
	}
	cause := x.supervise(ctx, &t, p)
	killGroup(p.pid)
	lived := p.leaf.kill()
	limits := limitsOf(&t.Job.Job)
	end, err := p.reap()
	if cause == nil && end.status.Signaled() && end.status.Signal() == syscall.SIGKILL && closed(x.killed) {
		cause = ErrStopping // it was killed with all the others
	}
	clean := x.settle(&t, p)
	hit := p.leaf.hit(limits)
	if !p.leaf.remove() {
		x.cfg.Log.Warn("cgroup of a run not removed", "job", t.Record.Job, "run", t.Record.Run)
	}
	x.leave(&t, spec, clean && !lived)

	how := outcomeOf(&t, &end, err, cause)
	if how.status == common.StatusFailed && cause == nil && hit != nil {
		how = hit
	}
	run := x.outcome(&t, how)
	if !p.abandoned.Load() {
		run.StartedAt = &p.startedAt
	}
	if err == nil && run.StartedAt != nil {
		x.account(&run, &end)
	}
	run.OutputBytes, run.OutputTruncated = capture.close()
	return run
}

// outcome tells the outcome of a command that ended, or could not begin, just now.
func (x *Executor) outcome(t *Task, o *outcome) common.Run {
	run := t.Record.AsRun(o.status)
	run.Reason = o.reason
	run.EndedAt = new(x.cfg.Now().UTC())
	return run
}
