package executor

import (
	"errors"
	"log/slog"
	"syscall"

	"golang.org/x/sys/unix"

	"carillon/internal/executor/spawn"
)

// launcher executes commands on the thread of a forker.
type launcher struct {
	starter *spawn.Starter // nil: each start copies the descriptors of this process
	marks   *marker
	log     *slog.Logger
}

// addForker starts a forker.
func (x *Executor) addForker() {
	l := x.launcher()
	x.own.Go(func() { x.forker(l) })
}

func (x *Executor) launcher() *launcher {
	l := &launcher{marks: x.marks, log: x.cfg.Log}
	if x.opened == nil {
		return l
	}
	var err error
	if l.starter, err = spawn.New(x.opened); err != nil {
		l.log.Info("descriptors_copied", "error", err)
	}
	return l
}

// forkExec starts a command with the mark of a run, as [syscall.ForkExec] does, and returns also a pidfd; -1 if the
// kernel has none. A command that needs no ptrace to be moved into its cgroup has attr.Sys.Ptrace reset.
func (l *launcher) forkExec(s *spec, attr *syscall.ProcAttr, group *leaf, run uint64) (pid, handle int, err error) {
	if l.starter != nil && attr.Sys.Credential == nil && attr.Sys.Setpgid {
		c := spawn.Command{Path: s.path, Dir: attr.Dir, Args: s.args, Env: attr.Env, RealTime: l.marks.limit(run)}
		for i, fd := range attr.Files {
			c.Files[i] = int(fd)
		}
		if attr.Sys.UseCgroupFD {
			c.Cgroup = attr.Sys.CgroupFD
		}
		if attr.Sys.Ptrace {
			if c.Procs, err = group.procs(); err != nil {
				return 0, -1, err
			}
			defer unix.Close(c.Procs)
		}
		pid, handle, err = l.starter.Start(&c)
		if _, unusable := errors.AsType[spawn.Unusable](err); !unusable {
			attr.Sys.Ptrace = false
			return pid, handle, err
		}
		l.log.Warn("descriptors_copied", "error", err)
		l.close()
	}
	handle = -1
	attr.Sys.PidFD = &handle
	alone := l.marks.begin(run, attr.Sys.Credential != nil)
	pid, err = syscall.ForkExec(s.path, s.args, attr)
	l.marks.end(run, alone, pid)
	return pid, handle, err
}

func (l *launcher) close() {
	if l.starter != nil {
		_ = l.starter.Close() // only /dev/null
		l.starter = nil
	}
}
