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

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/proctree"
	"carillon/internal/executor/redact"
	"carillon/internal/executor/runas"
	"carillon/internal/executor/spawn"
)

// DefaultPath is the default PATH of commands.
const DefaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Config configures an Executor.
type Config struct {
	BaseDir   string // the worker's data folder; the private folders of runs are in its subfolder "work"
	Worker    string // the worker's id; with Life it identifies each command, so that Sweep finds leftovers
	Life      string // the incarnation of the worker
	Name      string // the worker's name, for commands
	Path      string // PATH of commands; default DefaultPath
	StartGate int    // maximum number of concurrent starts; default two per core
	// Adopt makes this process the parent of all descendants that outlive their own parents, so that they end with
	// their run. No other part of the program may start processes then.
	Adopt bool
	// Mark is the result of [MarkProcess]; 0: none.
	Mark proctree.Mark
	// Masks, if set, returns the secrets to mask in a run of a group; readable: its command can read the files of this
	// process's user. It is called at the start of each run.
	Masks func(group string, readable bool) *redact.Masker
	// Secrets decrypts the secrets that jobs reference in their env; nil: this worker has none.
	Secrets Secrets
	// RunAs decides as which user a job runs and which commands it may use; nil: all as this process's own user.
	RunAs *runas.File
	// PlugIns are further types.
	PlugIns PlugIns
	// HTTP runs jobs of the type http; nil: this worker does not have the type.
	HTTP InProcess
	// MaxRunTime limits the run time of all commands; 0: no limit.
	MaxRunTime time.Duration
	// Yield, if set, waits while other commands are on their way to be started: at most for a limit, and until one of
	// the channels is closed.
	Yield func(limit time.Duration, over, also <-chan struct{})
	// Traced: the spans of runs are exported, so that every command is given the context of its own.
	Traced bool
	Now    func() time.Time // wall clock; default time.Now
	Log    *slog.Logger     // default: discarded
}

// Task is a run to execute: the job under which it was claimed and its record.
type Task struct {
	Job            common.StoredJob
	Record         common.Record
	Fence          int64            // fencing token: the etcd revision of the claim, which grows from run to run
	PreviousStatus common.Status    // of the job's previous run; empty if there was none
	Interval       *common.Interval // nil for a run outside the schedule
	// MayStart, if set, is called just before the fork; the command does not start if it returns an error.
	MayStart func() error
	// KillNow is closed when all processes of the run must be killed at once, without the rest of the grace period.
	KillNow <-chan struct{}
	// KillRequests, if set, delivers kill requests, each a [inside.Killed]. One that arrives while the run is ending,
	// and is not the cause of the context, sends its signal too; KILL ends the grace period.
	KillRequests <-chan error
}

// Output receives the output of a command. Chunk is called in the order of offsets, by one goroutine at a time, and
// owns the chunk's data. While it blocks, the command blocks as soon as its pipe is full.
type Output interface {
	Chunk(common.Chunk)
}

// Samples is an Output that also receives samples of what the processes of a run use: all that are kept so far, each
// time. It must not block.
type Samples interface {
	Usage(common.Usage)
}

// Executor runs commands. It is safe for concurrent use.
type Executor struct {
	cfg     Config
	self    runas.Account
	folders *folders
	// terminal reports that this process has a terminal. Commands must not inherit it, since they might wait for a
	// password: each gets its own session then. Otherwise each gets only a process group, since a session costs the
	// kernel a scheduling group.
	terminal bool
	null     *os.File       // stdin of commands without input
	gate     chan struct{}  // holds one element for each start in progress
	peak     atomic.Int64   // highest observed memory use of this process, in KiB
	buffers  sync.Pool      // of *[common.MaxChunk]byte
	tails    *inside.Budget // for the tails of outputs over their limit

	starts  *starts
	probing sync.WaitGroup
	noProbe context.CancelFunc // ends the probe

	plugIns plugIns

	sampler sampler
	tracker *tracker
	marks   *marker
	groups  groups
	cgroups *cgroups
	forks   chan *forkOrder
	opened  *unix.Rlimit  // number of descriptors of commands
	forking sync.RWMutex  // held for reading while a command is started
	killed  chan struct{} // closed by KillAll
	kill    sync.Once     // closes it
	quit    chan struct{} // closed to end the goroutines of the executor itself
	own     sync.WaitGroup
}

// New returns an Executor, and creates the folder "work" in the data folder.
func New(cfg Config) (*Executor, error) {
	if cfg.Path == "" {
		cfg.Path = DefaultPath
	}
	if cfg.StartGate <= 0 {
		cfg.StartGate = 2 * runtime.NumCPU()
	}
	if cfg.Masks == nil {
		cfg.Masks = func(string, bool) *redact.Masker { return nil }
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
		tails:    inside.NewBudget(),
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
	if x.opened, err = spawn.DescriptorLimit(); err != nil {
		cfg.Log.Warn("descriptor_limit_assumed", "error", err, "limit", x.opened.Cur)
	}
	if err := x.tryStarts(); err != nil && !short(err) {
		return nil, errors.Join(err, x.null.Close(), x.folders.close())
	}
	if cfg.Adopt {
		if x.tracker, err = adopt(cfg.Worker, cfg.Life, x.marks); err != nil {
			cfg.Log.Info("processes_not_adopted", "error", err) // the guardian kills what is not found
		} else {
			x.own.Go(func() { x.tracker.reapUntil(x.quit) })
		}
		if x.cgroups, err = findCgroups(cfg.Log); err != nil {
			cfg.Log.Info("cgroups_unused", "error", err) // descendants are found by other means
		}
	}
	x.own.Go(func() { x.sample(x.quit) })
	for range cfg.StartGate {
		x.addForker()
	}
	ctx, cancel := context.WithCancel(context.Background())
	x.noProbe = cancel
	x.probing.Go(func() { x.probe(ctx) })
	x.plugIns.known = map[string]*plugIn{}
	if cfg.PlugIns.Dir != "" {
		x.scan(ctx)
		x.probing.Go(func() { x.watchPlugIns(ctx) })
	}
	return x, nil
}

// closeWait is how long Close waits for a thread that waits for a file system.
const closeWait = 5 * time.Second

// Close releases all resources. No run may be in progress. A thread that is held by a file system that does not answer
// is left behind, with what it uses.
func (x *Executor) Close() error {
	x.noProbe()
	x.probing.Wait() // before the goroutines that it needs end
	close(x.quit)
	ended := make(chan struct{})
	go func() {
		x.own.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(closeWait):
		return errors.New("close executor: a file system does not answer the search for a program")
	}
	return errors.Join(x.tracker.close(), x.null.Close(), x.folders.close())
}

// KillAll kills all descendants of this process at once; no command is started afterwards. The outcome of the runs that
// it ends is that the worker was stopped. It returns when no process is left, or after five seconds.
func (x *Executor) KillAll() {
	x.kill.Do(func() { close(x.killed) })
	started := make(chan struct{}) // closed when all starts in progress are visible as processes
	go func() {
		x.forking.Lock() // a start from a file system that does not answer holds it until it is killed, or longer
		x.forking.Unlock()
		close(started)
	}()
	over := time.After(settleWait)
	// A process that is being adopted during a scan appears in the next one.
	for quiet, pause := 0, time.Millisecond; quiet < 2; quiet++ {
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

// Run starts the command, waits until it and its process group are gone, and returns the terminal run, built on the
// task's record. When ctx ends, the command is stopped, and the cause of ctx determines the outcome: [inside.Killed],
// [inside.ErrStopping], [inside.ErrCutOff]; any other cause is quoted. When the task's KillNow is closed, all processes
// of the run are killed at once; the cause is [inside.ErrCutOff] unless ctx has ended before.
func (x *Executor) Run(ctx context.Context, t Task, out Output) common.Run {
	as, bad := x.refuse(ctx, &t)
	// Types run fixed programs, in which a job's author runs no command that could read a file.
	own := bad == nil && as == nil && !t.Job.IsTyped() && !x.cfg.RunAs.Restricts(t.Job.Group)
	masks := x.cfg.Masks(t.Job.Group, own)
	if bad != nil {
		return x.refused(&t, bad, masks)
	}
	values, more, bad := x.open(ctx, &t)
	if bad != nil {
		return x.refused(&t, bad, masks)
	}
	var run common.Run
	if t.Job.TypeName() == common.TypeHTTP {
		masks = masks.With(append(more, otherForms(more, x.cfg.HTTP.Masks)...))
		run = x.inside(ctx, &t, out, masks, granted{as, values})
	} else {
		if t.Job.IsTyped() {
			more = append(more, otherForms(more, inJSON)...)
		}
		masks = masks.With(more)
		run = x.run(ctx, &t, out, masks, granted{as, values})
	}
	inside.MaskReason(masks, run.Reason)
	return run
}

// granted holds the account and the secrets of a run.
type granted struct {
	as      *runas.Account    // nil: this process's own
	secrets map[string]string // by variable
}

// refused returns the terminal run of a command that is not started.
func (x *Executor) refused(t *Task, why *inside.Outcome, masks *redact.Masker) common.Run {
	run := x.outcome(t, why)
	inside.MaskReason(masks, run.Reason)
	return run
}

func (x *Executor) run(ctx context.Context, t *Task, out Output, masks *redact.Masker, g granted) common.Run {
	spec, bad := x.resolve(ctx, t, g)
	if bad != nil {
		return x.outcome(t, bad)
	}
	return x.execute(ctx, t, out, masks, spec)
}

// execute runs a command that is ready to be started.
func (x *Executor) execute(ctx context.Context, t *Task, out Output, masks *redact.Masker, spec *spec) common.Run {
	if limit := x.limit(t); limit.After > 0 { // counted from here, since the start may hang
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, limit.After, limit)
		defer cancel()
	}
	capture := inside.NewCapture(t.Record.Run, inside.OutputMax(&t.Job), out, x.tails, masks, x.cfg.Now)
	p, err := x.start(ctx, t, spec, capture)
	if err != nil {
		if refused, ok := errors.AsType[notAllowed](err); ok {
			return x.outcome(t, inside.OfCause(refused.cause))
		}
		if stopped := context.Cause(ctx); stopped != nil {
			return x.outcome(t, inside.OfCause(stopped))
		}
		return x.outcome(t, x.unstarted(t, spec, err))
	}
	announce := inside.Announce(out, t.Record.Run, p.startedAt)
	used := x.measure(t, p, out)
	cause := x.supervise(ctx, t, p)
	announce.Stop()
	ended := time.Now()
	if cause == nil && x.cfg.Yield != nil {
		x.cfg.Yield(yieldFor, ctx.Done(), t.KillNow)
	}
	yielded := time.Since(ended)
	used.last()
	killGroup(p.pid)
	lived := p.leaf.kill()
	limits := limitsOf(&t.Job.Job)
	begun := !p.abandoned.Load() || !proctree.Forked(p.pid)
	end, err := p.reap()
	if cause == nil && end.status.Signaled() && end.status.Signal() == syscall.SIGKILL && closed(x.killed) {
		cause = inside.ErrStopping // killed by KillAll
	}
	clean := x.settle(t, p)
	hit := p.leaf.hit(limits)
	used.readGroup()
	if !p.leaf.remove() {
		x.cfg.Log.Warn("cgroup_not_removed", "job", t.Record.Job, "run", t.Record.Run)
	}
	values, invalid := x.reported(t, spec, masks)
	x.leave(t, spec, clean && lived == 0)

	how := ofPlugIn(t, &end, outcomeOf(t, &end, err, cause))
	if how.Status == common.StatusFailed && cause == nil && hit != nil {
		how = hit
	}
	if how.Status == common.StatusSucceeded && invalid != nil {
		how = invalid
	}
	run := x.outcome(t, how)
	run.Outputs = values
	*run.EndedAt = run.EndedAt.Add(-yielded - p.waited)
	if begun {
		run.StartedAt = &p.startedAt
	}
	if err == nil && run.StartedAt != nil {
		x.account(&run, &end)
		used.account(&run)
	}
	run.OutputBytes, run.OutputTruncated = capture.Close()
	capture.Explain(&run)
	if cause == nil {
		run.Leftover = max(int(p.leftover.Load()), lived)
	}
	return run
}

// outcome returns the terminal run of a command that ended, or could not start, just now.
func (x *Executor) outcome(t *Task, o *inside.Outcome) common.Run {
	run := t.Record.AsRun(o.Status)
	run.Reason = o.Reason
	run.EndedAt = new(x.cfg.Now().UTC())
	return run
}
