package executor

import (
	"errors"
	"fmt"

	"carillon/internal/executor/runas"
	"carillon/internal/executor/spawn"
)

// launcher executes commands on the thread of a forker.
type launcher struct {
	x       *Executor
	starter *spawn.Starter // nil: not made yet
}

// addForker starts a forker. The descriptors that its starts need are reserved at once, if there are enough.
func (x *Executor) addForker() {
	l := &launcher{x: x}
	_ = l.prepare() // repeated for each order
	x.own.Go(func() { x.forker(l) })
}

// prepare makes the starter. It fails for a shortage that may pass: [New] has tried a start.
func (l *launcher) prepare() (err error) {
	if l.starter == nil {
		l.starter, err = spawn.New(l.x.opened, l.x.copied)
	}
	return err
}

// copied reports that starts have to copy the descriptors of this process.
func (x *Executor) copied(why error) { x.cfg.Log.Info("descriptors_copied", "error", why) }

// tryStarts returns an error if no command can be started on this machine.
func (x *Executor) tryStarts() error {
	starter, err := spawn.New(x.opened, func(error) {})
	if err != nil {
		return err
	}
	return starter.Close()
}

// start starts the command of an order, and returns its process id and a pidfd; -1 if the kernel has none.
func (l *launcher) start(o *forkOrder) (pid, handle int, err error) {
	p, s := o.process, o.spec
	c := &spawn.Command{
		Path:     o.program,
		Dir:      s.dir,
		Args:     s.args,
		Env:      s.env,
		Files:    o.files,
		Session:  l.x.terminal,
		User:     userOf(s.as),
		Cgroup:   p.leaf.descriptor(),
		RealTime: l.x.marks.limit(p.number),
	}
	o.starting.Store(&starting{l.starter, c})
	defer o.starting.Store(nil)
	pid, handle, err = l.starter.Start(c)
	if _, ours := errors.AsType[spawn.Unusable](err); ours {
		err = unable{err}
	}
	return pid, handle, err
}

// userOf returns the kernel's form of an account; nil for this process's own.
func userOf(a *runas.Account) *spawn.User {
	if a == nil {
		return nil
	}
	return &spawn.User{UID: a.UID, GID: a.GID, Groups: a.Groups}
}

// starting is a start in progress.
type starting struct {
	starter *spawn.Starter
	command *spawn.Command
}

// killChild kills the child of an order that has not executed its command yet, and reports whether it did.
func (o *forkOrder) killChild() bool {
	s := o.starting.Load()
	return s != nil && s.starter.Kill(s.command)
}

func (l *launcher) close() error {
	if l.starter == nil {
		return nil
	}
	return l.starter.Close()
}

// inItsCgroup starts the command of an order in its cgroup, if it has one. The cgroup may be the reason of a failure: a
// command that needs no limits is then started again without.
func (l *launcher) inItsCgroup(o *forkOrder, limited bool) (pid, handle int, err error) {
	pid, handle, err = l.start(o)
	p := o.process
	if err == nil || p.leaf == nil || short(err) {
		return pid, handle, err
	}
	p.leaf.remove()
	p.leaf = nil
	first := err
	if limited {
		if _, unmoved := errors.AsType[spawn.Unmoved](err); unmoved {
			l.x.cgroups.turnOff(err)
			err = unable{err}
		}
		return 0, -1, err
	}
	if err := l.x.mayStart(o); err != nil { // the first start may have hung
		return 0, -1, err
	}
	if pid, handle, err = l.start(o); err == nil {
		l.x.cgroups.turnOff(fmt.Errorf("start a command in its cgroup: %w", first))
	}
	return pid, handle, err
}
