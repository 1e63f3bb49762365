package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/runas"
)

// spec is a command ready to be started.
type spec struct {
	path    string
	args    []string
	env     []string
	dir     string
	stdin   string
	own     folder // taken when the command is started, if private
	private bool   // dir is to be the run's own
	as      *runas.Account
}

// refuse tells why this worker must not run a job, or else as whom it runs.
func (x *Executor) refuse(t *Task) (*runas.Account, *outcome) {
	job := &t.Job
	if lacking := common.Lacking(job.MustHave(), x.Features()); len(lacking) > 0 {
		return nil, featureRefused(lacking)
	}
	if size := job.CommandBytes(); size > common.MaxJobBytes {
		return nil, &outcome{common.StatusRefused, &common.Reason{Code: "too_large",
			Text: fmt.Sprintf("the job's definition has %d bytes; none that is saved has more than %d", size, common.MaxJobBytes)}}
	}
	as, why := x.cfg.RunAs.As(&job.Job, x.self.Name)
	if why == nil && len(job.Args) == 0 {
		why = x.cfg.RunAs.Shell(&job.Job, shellOf(job))
		if why == nil {
			why = x.cfg.RunAs.Command(&job.Job, "")
		}
	}
	if why != nil {
		return nil, &outcome{common.StatusRefused, why}
	}
	if faults := job.ParamFaults(t.Record.Params); len(faults) > 0 {
		return nil, paramsRefused(faults)
	}
	return as, nil
}

// resolve finds out what to start, or why this worker cannot.
func (x *Executor) resolve(t *Task, g granted) (*spec, *outcome) {
	job := &t.Job
	s := &spec{stdin: job.Stdin, dir: job.WorkDir, as: g.as}
	if s.dir == "" {
		s.private = true
	} else if info, err := os.Stat(s.dir); err != nil && short(err) {
		return nil, x.cannotStart(err)
	} else if err != nil && !(s.as != nil && errors.Is(err, os.ErrPermission)) || err == nil && !info.IsDir() {
		return nil, failed("workdir_missing", "the folder %s is not there, or is no folder", common.Excerpt(s.dir)).with("workDir", s.dir)
	}
	var search string
	s.env, search = x.environment(t, g)
	if len(job.Args) > 0 {
		path, err := lookup(job.Args[0], search)
		if err != nil {
			return nil, failed("program_missing", "no program %s was found in the PATH %s", common.Excerpt(job.Args[0]), common.Excerpt(search)).with("program", job.Args[0])
		}
		if why := x.cfg.RunAs.Command(&job.Job, path); why != nil {
			return nil, &outcome{common.StatusRefused, why}
		}
		s.path, s.args = path, job.Args
		return s, nil
	}
	shell := shellOf(job)
	s.path, s.args = shell, []string{shell, "-c", job.Command}
	return s, nil
}

// unstarted says why a command did not start. The shell is looked at only then,
// since it is nearly always there.
func (x *Executor) unstarted(t *Task, s *spec, err error) *outcome {
	if own, ok := errors.AsType[unable](err); ok {
		return x.cannotStart(own.error)
	}
	if short(err) {
		return x.cannotStart(err)
	}
	if folder, ok := errors.AsType[folderFailure](err); ok {
		return failed("workdir_failed", "no private folder could be made for the run: %v", folder.error)
	}
	if len(t.Job.Args) == 0 && !executable(s.path) {
		return failed("shell_missing", "the shell %s is not there, or cannot be executed", common.Excerpt(s.path)).with("shell", s.path)
	}
	return failed("start_failed", "the command could not be started: %v", err)
}

// cannotStart is the outcome of a run that this worker lacks the means to start: another may have them.
func (x *Executor) cannotStart(err error) *outcome {
	x.starts.fail(err, x.cfg.Now())
	return failed(common.ReasonCannotStart, "the worker could not start the command: %v", err).with("error", err.Error())
}

// paramsRefused is the outcome of values that the job, as it is now, does not take,
// whoever wrote them into etcd.
func paramsRefused(faults []common.Fault) *outcome {
	texts := make([]string, min(len(faults), 5))
	for i := range texts {
		texts[i] = faults[i].Location + ": " + faults[i].Message
	}
	o := &outcome{common.StatusRefused, &common.Reason{Code: "param", Text: strings.Join(texts, "; ")}}
	return o.with("param", strings.TrimPrefix(faults[0].Location, "params."))
}

// featureRefused is the outcome of a definition that this worker would run otherwise than
// it says: a newer version wrote it.
func featureRefused(lacking []string) *outcome {
	needs := strings.Join(lacking, ", ")
	o := &outcome{common.StatusRefused, &common.Reason{
		Code: common.ReasonNeedsFeature,
		Text: fmt.Sprintf("the job needs %q, which this version of the worker cannot do", needs),
	}}
	return o.with("needs", needs)
}

func shellOf(job *common.StoredJob) string {
	if job.Shell == "" {
		return common.DefaultShell
	}
	return job.Shell
}

func outputMax(job *common.StoredJob) int64 {
	if job.Output == nil {
		return common.DefaultOutputMax
	}
	return job.Output.Max.Or(common.DefaultOutputMax)
}

// lookup finds a program as a shell would, but in the task's PATH and only in its
// absolute folders. A name with a slash is taken as it is, from the command's folder.
func lookup(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, name); filepath.IsAbs(dir) && executable(file) {
			return file, nil
		}
	}
	return "", os.ErrNotExist
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && unix.Access(file, unix.X_OK) == nil
}

// folderFailure says that a run could not get its private folder.
type folderFailure struct{ error }

func (f folderFailure) Unwrap() error { return f.error }

// enter takes the private folder of a command that is about to start.
func (x *Executor) enter(s *spec) (err error) {
	if !s.private {
		return nil
	}
	if s.as != nil {
		s.own.path, err = x.borrow(s.as)
	} else {
		if s.own, err = x.folders.take(); err != nil {
			return unable{fmt.Errorf("make a private folder: %w", err)}
		}
	}
	if err != nil {
		return folderFailure{err}
	}
	s.dir = s.own.path
	return nil
}

// leave gives the private folder back. clean says that nobody of the run was left.
func (x *Executor) leave(t *Task, s *spec, clean bool) {
	if !s.private {
		return
	}
	var err error
	if s.as != nil {
		err = returnFolder(s.own.path)
	} else {
		err = x.folders.giveBack(s.own, clean)
	}
	if err != nil {
		x.cfg.Log.Warn("private folder of a run not removed", "job", t.Record.Job, "run", t.Record.Run, "err", err)
	}
}
