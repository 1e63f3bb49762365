package executor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor/runas"
)

// spec is a command that is ready to be started.
type spec struct {
	path    string
	args    []string
	env     []string
	dir     string
	stdin   string
	own     folder // private folder; set when the command is started
	private bool   // the run gets a private folder as its working directory
	as      *runas.Account
}

// refuse returns the outcome if this worker must not run a job, or else the account as which the job runs.
func (x *Executor) refuse(t *Task) (*runas.Account, *outcome) {
	job := &t.Job
	if lacking := common.Lacking(job.MustHave(), x.Features()); len(lacking) > 0 {
		return nil, featureRefused(lacking)
	}
	if size := job.CommandBytes(); size > common.MaxJobBytes {
		return nil, &outcome{common.StatusRefused, &common.Reason{Code: "too_large",
			Text: fmt.Sprintf("the job's definition has %d bytes, more than the limit of %d", size,
				common.MaxJobBytes)}}
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

// resolve returns the command to start, or the outcome if this worker cannot start it.
func (x *Executor) resolve(t *Task, g granted) (*spec, *outcome) {
	job := &t.Job
	s := &spec{stdin: job.Stdin, dir: job.WorkDir, as: g.as}
	if s.dir == "" {
		s.private = true
	} else if info, err := os.Stat(s.dir); err != nil && short(err) {
		return nil, x.cannotStart(err)
	} else if err != nil && !(s.as != nil && errors.Is(err, os.ErrPermission)) || err == nil && !info.IsDir() {
		return nil, failed("workdir_missing", "the working directory %s does not exist or is not a directory",
			common.Excerpt(s.dir)).with("workDir", s.dir)
	}
	var search string
	s.env, search = x.environment(t, g)
	if len(job.Args) > 0 {
		path, err := lookup(job.Args[0], search)
		if err != nil {
			return nil, failed("program_missing", "no program %s was found in the PATH %s",
				common.Excerpt(job.Args[0]), common.Excerpt(search)).with("program", job.Args[0])
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

// unstarted returns the outcome of a command that did not start. The shell is checked only here, since it nearly always
// exists.
func (x *Executor) unstarted(t *Task, s *spec, err error) *outcome {
	if own, ok := errors.AsType[unable](err); ok {
		return x.cannotStart(own.error)
	}
	if short(err) {
		return x.cannotStart(err)
	}
	if folder, ok := errors.AsType[folderFailure](err); ok {
		return failed("workdir_failed", "no private folder could be created for the run: %v", folder.error)
	}
	if len(t.Job.Args) == 0 && !executable(s.path) {
		return failed("shell_missing", "the shell %s does not exist or cannot be executed",
			common.Excerpt(s.path)).with("shell", s.path)
	}
	return failed("start_failed", "the command could not be started: %v", err)
}

// cannotStart returns the outcome of a run that this worker lacks the resources to start; another worker may have them.
func (x *Executor) cannotStart(err error) *outcome {
	x.starts.fail(err, x.cfg.Now())
	return failed(common.ReasonCannotStart, "the worker could not start the command: %v", err).with("error",
		err.Error())
}

// paramsRefused returns the outcome of parameter values that the current job does not accept, whatever wrote them to
// etcd.
func paramsRefused(faults []common.Fault) *outcome {
	texts := make([]string, min(len(faults), 5))
	for i := range texts {
		texts[i] = faults[i].Location + ": " + faults[i].Message
	}
	o := &outcome{common.StatusRefused, &common.Reason{Code: "param", Text: strings.Join(texts, "; ")}}
	return o.with("param", strings.TrimPrefix(faults[0].Location, "params."))
}

// featureRefused returns the outcome of a definition of a newer version that this worker cannot run as specified.
func featureRefused(lacking []string) *outcome {
	needs := strings.Join(lacking, ", ")
	o := &outcome{common.StatusRefused, &common.Reason{
		Code: common.ReasonNeedsFeature,
		Text: fmt.Sprintf("the job needs the feature %q, which this version of the worker does not have", needs),
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

// lookup finds a program as a shell would, but in the task's PATH and only in its absolute folders. It returns a name
// with a slash unchanged; it is relative to the command's working directory.
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

// folderFailure is the error of a run whose private folder could not be created.
type folderFailure struct{ error }

func (f folderFailure) Unwrap() error { return f.error }

// enter gets the private folder of a command that is about to start.
func (x *Executor) enter(s *spec) (err error) {
	if !s.private {
		return nil
	}
	if s.as != nil {
		s.own.path, err = x.borrow(s.as)
	} else {
		if s.own, err = x.folders.take(); err != nil {
			return unable{fmt.Errorf("create a private folder: %w", err)}
		}
	}
	if err != nil {
		return folderFailure{err}
	}
	s.dir = s.own.path
	return nil
}

// leave releases the private folder. clean reports that no process of the run was left.
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
		x.cfg.Log.Warn("run_folder_not_removed", "job", t.Record.Job, "run", t.Record.Run, "error", err)
	}
}
