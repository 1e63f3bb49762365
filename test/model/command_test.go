package model

import (
	"context"
	"errors"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/dispatch"
)

var errStopping, errCutOff = errors.New("stopping"), errors.New("cut off")

// killed is the cause of runs that a kill request ends.
type killed struct{ code string }

func (killed) Error() string { return "killed" }

// toldOf is the code of the reason why a run is told to end.
func toldOf(ctx context.Context) string {
	var k killed
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &k) && k.code != "":
		return k.code
	case errors.Is(cause, errStopping):
		return common.ReasonWorkerStopping
	}
	return "told"
}

// mostSlow is how long it may take until something is dead that was killed.
const mostSlow = 300 * time.Millisecond

// mostHidden is how long a process goes on that hid when its worker and guardian were killed: nothing is promised
// of one that outlasts lostAfter, which counts from when the worker last reached etcd.
const mostHidden = 18 * time.Second

// hidden is how long the hidden processes of a killed worker go on: no longer than the guardian, which was killed as
// well, would have let them.
func (l *life) hidden() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.killBy == 0 {
		return mostHidden
	}
	return min(mostHidden, time.Until(l.trueTime(l.killBy)))
}

// Run is dispatch.Runner's: the command takes its time, and ends at the signal, or not
// before it is killed. A worker that is frozen tells it nothing.
func (l *life) Run(ctx context.Context, task dispatch.Task) common.Run {
	r := &task.Record
	x := execution{
		worker:   l.id.Worker,
		life:     l.id.Life,
		job:      r.Job,
		uid:      r.UID(),
		run:      r.Run,
		fire:     r.Fire,
		attempt:  r.Attempt,
		forbids:  r.Policy.Overlap.Forbids(),
		detaches: r.Policy.OnLost == common.LostDetach,
	}
	var began *time.Time // of a replica
	outcome := func(s common.Status, code string) common.Run {
		run, now := r.AsRun(s), l.wall()
		run.StartedAt, run.EndedAt, run.Reason = began, &now, &common.Reason{Code: code}
		return run
	}
	fenced := l.world.mutation != noFence
	if !l.awake() {
		return outcome(common.StatusKilled, "dead")
	}
	if !l.mayStart(&task) && fenced {
		l.world.count("not begun")
		return outcome(common.StatusKilled, "cut_off")
	}
	if ctx.Err() != nil {
		return outcome(common.StatusKilled, toldOf(ctx))
	}
	if !l.world.isCalm() && l.chance(0.05) {
		return outcome(common.StatusFailed, common.ReasonCannotStart)
	}
	c := l.begin(x, r)
	defer l.world.end(c.x)
	if r.Replica() != "" {
		began = new(l.wall())
	}
	status, code := c.run(ctx, task.KillNow, fenced)
	if status == common.StatusFailed && l.world.mutation == startedBack {
		code = common.ReasonCannotStart
	}
	run := outcome(status, code)
	if _, declared := task.Job.Outputs["list"]; declared && status == common.StatusSucceeded {
		run.Outputs = map[string]string{"list": strings.Repeat("item\n", int(l.draw(0, 4)))}
	}
	return run
}

// mayStart asks the dispatcher, which tells the guardian.
func (l *life) mayStart(task *dispatch.Task) bool {
	if task.MayStart == nil {
		return true
	}
	if l.world.mutation == lateBeat {
		l.mu.Lock()
		before := l.killBy
		l.mu.Unlock()
		defer l.beat(before)
	}
	return task.MayStart() == nil
}

// command is one that is executed.
type command struct {
	life     *life
	x        *execution
	record   *common.Record
	over     <-chan time.Time // when it ends
	fails    bool
	stubborn bool // it does not end at the signal
}

func (l *life) begin(x execution, r *common.Record) *command {
	l.mu.Lock()
	if l.starts != nil {
		close(l.starts)
		l.starts = nil
	}
	l.mu.Unlock()
	return &command{
		life:     l,
		x:        l.world.begin(x),
		record:   r,
		over:     time.After(l.length(r)),
		fails:    l.chance(0.2),
		stubborn: l.chance(0.3),
	}
}

// nextBegin is closed when the next command is started.
func (l *life) nextBegin() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.starts = make(chan struct{})
	return l.starts
}

// run tells how it ended, and why.
func (c *command) run(ctx context.Context, killNow <-chan struct{}, fenced bool) (common.Status, string) {
	l, told, status, code := c.life, false, common.StatusSucceeded, ""
	if c.fails {
		status = common.StatusFailed
	}
	for {
		end, kill := ctx.Done(), killNow
		thawed := l.frozen()
		if thawed != nil || told {
			end = nil
		}
		if thawed != nil || !fenced {
			kill = nil
		}
		select {
		case <-l.dead:
			if l.hiding.Load() {
				l.world.count("left a hidden process")
				select {
				case <-c.over:
				case <-time.After(l.hidden()):
				}
			}
			return common.StatusKilled, "dead"
		case <-thawed:
		case <-c.over:
			l.world.end(c.x)
			if !l.awake() {
				return common.StatusKilled, "dead"
			}
			return status, code
		case <-end:
			cutOff := errors.Is(context.Cause(ctx), errCutOff)
			if l.frozen() != nil {
				continue // it is only told when its worker goes on
			}
			if told = true; cutOff && !fenced {
				continue
			}
			status, code = common.StatusKilled, toldOf(ctx)
			grace := c.record.Policy.KillGrace
			if cutOff {
				code, grace = "cut_off", min(grace, 5*time.Second, (c.record.Policy.LostAfter-c.record.TTL)/2)
				l.world.cutOff(c.x)
			}
			c.over = c.ends(grace)
		case <-kill:
			if l.frozen() == nil {
				if errors.Is(context.Cause(ctx), errCutOff) {
					l.world.cutOff(c.x)
				}
				killNow, told, status, code = nil, true, common.StatusKilled, "killed"
				c.over = time.After(l.draw(0, mostSlow))
			}
		}
	}
}

// ends returns when it is over after the signal to end.
func (c *command) ends(grace time.Duration) <-chan time.Time {
	if c.stubborn {
		return time.After(grace + c.life.draw(0, mostSlow))
	}
	return time.After(c.life.draw(0, grace+1))
}

// length is how long a command takes.
func (l *life) length(r *common.Record) time.Duration {
	if length := l.world.lasting(); length > 0 {
		return length
	}
	if r.Replica() != "" {
		return l.lengthOfReplica()
	}
	if l.world.isCalm() {
		return l.draw(10*time.Millisecond, time.Second)
	}
	share, most := l.world.mutation.longRuns(), 90*time.Second
	if l.world.flows != nil && share < 0.5 {
		share, most = 0.1, 40*time.Second
	}
	if l.chance(share) {
		return l.draw(5*time.Second, most)
	}
	return l.draw(10*time.Millisecond, 5*time.Second)
}

// beat is what the guardian hears.
func (l *life) beat(killBy time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.thawed == nil {
		l.killBy = killBy
	}
}

// frozen is nil while the worker is not, and closed when it goes on.
func (l *life) frozen() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.thawed
}

// awake waits while the worker is frozen, and reports whether it is alive.
func (l *life) awake() bool {
	select {
	case <-l.dead:
		return false
	default:
	}
	thawed := l.frozen()
	if thawed == nil {
		return true
	}
	select {
	case <-l.dead:
		return false
	case <-thawed:
		return true
	}
}

// freeze stops the worker itself for a time, and its commands go on. The guardian ends it
// all if it receives no heartbeat until its deadline.
func (l *life) freeze(d time.Duration) {
	l.mu.Lock()
	thawed, killBy := make(chan struct{}), l.killBy
	l.thawed = thawed
	l.mu.Unlock()
	l.link.freeze(true)
	l.world.count("frozen")
	l.world.remark(l.id.Life, "is frozen for %v, and its guardian has the deadline %v", d, killBy)
	var guardian <-chan time.Time
	if killBy > 0 {
		guardian = time.After(time.Until(l.trueTime(killBy)) + l.draw(0, mostSlow))
	}
	select {
	case <-l.dead:
	case <-guardian:
		l.world.count("killed by its guardian")
		l.kill()
	case <-time.After(d):
	}
	l.link.freeze(false)
	l.mu.Lock()
	l.thawed = nil
	l.mu.Unlock()
	close(thawed)
}
