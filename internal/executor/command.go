package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"carillon/internal/common"
	"carillon/internal/executor/inside"
	"carillon/internal/executor/runas"
	"carillon/internal/executor/spawn"
)

// spec is a command that is ready to be started.
type spec struct {
	path    string // empty: the program args[0] is searched for in search when the command is started
	search  string // PATH
	args    []string
	env     []string
	dir     string
	stdin   string
	own     folder // private folder; set when the command is started
	private bool   // the run gets a private folder as its working directory
	reports bool   // the run gets another one for its outputs
	values  folder // that one; set when the command is started
	as      *runas.Account
}

// refuse returns the outcome if this worker must not run a job, or else the account as which the job runs.
func (x *Executor) refuse(ctx context.Context, t *Task) (*runas.Account, *inside.Outcome) {
	job := &t.Job
	if !x.has(job.TypeName()) {
		return nil, typeRefused(common.ReasonTypeMissing, job, "this worker does not have the type %s of the job")
	}
	must := slices.DeleteFunc(job.MustHave(), func(need string) bool {
		return need == common.FeatureOfType(job.TypeName()) // a plug-in is looked for when it is needed
	})
	if lacking := common.Lacking(must, x.Features()); len(lacking) > 0 {
		return nil, inside.FeatureRefused(lacking)
	}
	if size := job.CommandBytes(); size > common.MaxJobBytes {
		return nil, &inside.Outcome{Status: common.StatusRefused, Reason: &common.Reason{Code: "too_large",
			Text: fmt.Sprintf("the job's definition has %d bytes, more than the limit of %d", size,
				common.MaxJobBytes)}}
	}
	why := x.cfg.RunAs.Type(&job.Job)
	var as *runas.Account
	if why == nil && job.TypeName() != common.TypeHTTP { // a request has no user
		as, why = x.cfg.RunAs.As(&job.Job, x.self.Name, func(name string) (*runas.Account, error) {
			return x.lookUp(ctx, name)
		})
	}
	if why == nil && len(job.Args) == 0 && !job.IsTyped() {
		why = x.cfg.RunAs.Shell(&job.Job, shellOf(job))
		if why == nil {
			why = x.cfg.RunAs.Command(&job.Job, "")
		}
	}
	if why != nil {
		return nil, &inside.Outcome{Status: common.StatusRefused, Reason: why}
	}
	if faults := job.ParamFaults(t.Record.Params); len(faults) > 0 {
		return nil, inside.ParamsRefused(faults)
	}
	return as, nil
}

// resolve returns the command to start, or the outcome if this worker cannot start it. It asks no file system that a
// job names: one that does not answer holds up the start only, which has a limit.
func (x *Executor) resolve(ctx context.Context, t *Task, g granted) (*spec, *inside.Outcome) {
	job := &t.Job
	s := &spec{stdin: job.Stdin, dir: job.WorkDir, private: job.WorkDir == "", as: g.as, reports: len(job.Outputs) > 0}
	s.env, s.search = x.environment(t, g)
	if job.IsTyped() {
		return s, x.plugged(ctx, t, g, s)
	}
	if len(job.Args) > 0 {
		s.args = job.Args
		return s, nil
	}
	shell := shellOf(job)
	s.path, s.args = shell, []string{shell, "-c", job.Command}
	return s, nil
}

// program returns the program to execute, as a shell would find it in the task's PATH, but only in its absolute
// folders. The name of one with a slash is relative to the command's working directory.
func (x *Executor) program(t *Task, s *spec) (string, error) {
	if s.path != "" {
		return s.path, nil
	}
	path := s.args[0]
	if !strings.Contains(path, "/") {
		if path = locate(path, s.search); path == "" {
			return "", unfit{programMissing(s)}
		}
	}
	if why := x.cfg.RunAs.Command(&t.Job.Job, path); why != nil {
		return "", unfit{&inside.Outcome{Status: common.StatusRefused, Reason: why}}
	}
	return path, nil
}

// unfit is the error of a command that this worker cannot start, with the outcome of the run.
type unfit struct{ outcome *inside.Outcome }

func (u unfit) Error() string { return u.outcome.Reason.Text }

func programMissing(s *spec) *inside.Outcome {
	return inside.Failed("program_missing", "no program %s was found in the PATH %s",
		common.Excerpt(s.args[0]), common.Excerpt(s.search)).With("program", s.args[0])
}

// unstarted returns the outcome of a command that did not start.
func (x *Executor) unstarted(t *Task, s *spec, err error) *inside.Outcome {
	if own, ok := errors.AsType[unfit](err); ok {
		return own.outcome
	}
	if own, ok := errors.AsType[unable](err); ok {
		return x.cannotStart(own.error)
	}
	if short(err) {
		return x.cannotStart(err)
	}
	if folder, ok := errors.AsType[folderFailure](err); ok {
		return inside.Failed("workdir_failed", "no private folder could be created for the run: %v", folder.error)
	}
	absent := errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) || errors.Is(err, unix.ENOTDIR)
	_, unentered := errors.AsType[spawn.Unentered](err)
	switch {
	case unentered && absent && !s.private:
		return inside.Failed("workdir_missing",
			"the working directory %s does not exist, is not a directory, or may not be entered",
			common.Excerpt(s.dir)).With("workDir", s.dir)
	case absent && !unentered && s.path == "" && !strings.Contains(s.args[0], "/"):
		// Found for this process, but not for the user of the command: whose files these are is not told.
		return programMissing(s)
	case absent && !unentered && len(t.Job.Args) == 0 && !t.Job.IsTyped():
		return inside.Failed("shell_missing", "the shell %s does not exist or cannot be executed",
			common.Excerpt(s.path)).With("shell", s.path)
	default:
		return inside.Failed("start_failed", "the command could not be started: %v", err)
	}
}

// cannotStart returns the outcome of a run that this worker lacks the resources to start; another worker may have them.
func (x *Executor) cannotStart(err error) *inside.Outcome {
	x.starts.fail(err, x.cfg.Now())
	return inside.Failed(common.ReasonCannotStart, "the worker could not start the command: %v", err).With("error",
		err.Error())
}

// typeRefused returns the outcome of a job whose type this worker does not run.
func typeRefused(code string, job *common.StoredJob, format string) *inside.Outcome {
	o := &inside.Outcome{Status: common.StatusRefused, Reason: &common.Reason{Code: code,
		Text: fmt.Sprintf(format, common.Excerpt(job.TypeName()))}}
	return o.With("type", job.TypeName())
}

func shellOf(job *common.StoredJob) string {
	if job.Shell == "" {
		return common.DefaultShell
	}
	return job.Shell
}

// locate returns the file of a program in the absolute folders of a PATH, or none.
func locate(name, path string) string {
	for _, dir := range filepath.SplitList(path) {
		if file := filepath.Join(dir, name); filepath.IsAbs(dir) && executable(file) {
			return file
		}
	}
	return ""
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && unix.Access(file, unix.X_OK) == nil
}

// folderFailure is the error of a run whose private folder could not be created.
type folderFailure struct{ error }

func (f folderFailure) Unwrap() error { return f.error }

// enter gets the private folders of a command that is about to start.
func (x *Executor) enter(t *Task, s *spec) (err error) {
	if s.private {
		if s.own, err = x.folderFor(s.as); err != nil {
			return err
		}
		s.dir = s.own.path
	}
	if s.reports {
		if s.values, err = x.folderFor(s.as); err != nil {
			x.leaveFolder(t, s, s.own, true)
			return err
		}
		s.env = append(s.env, "CARILLON_OUTPUT="+s.values.path)
	}
	return nil
}

func (x *Executor) folderFor(as *runas.Account) (own folder, err error) {
	if as != nil {
		own.path, err = x.borrow(as)
	} else if own, err = x.folders.take(); err != nil {
		return own, unable{fmt.Errorf("create a private folder: %w", err)}
	}
	if err != nil {
		return own, folderFailure{err}
	}
	return own, nil
}

// leave releases the private folders. clean reports that no process of the run was left.
func (x *Executor) leave(t *Task, s *spec, clean bool) {
	x.leaveFolder(t, s, s.own, clean)
	x.leaveFolder(t, s, s.values, clean)
}

func (x *Executor) leaveFolder(t *Task, s *spec, own folder, clean bool) {
	if own.path == "" {
		return
	}
	var err error
	if s.as != nil {
		err = returnFolder(own.path)
	} else {
		err = x.folders.giveBack(own, clean)
	}
	if err != nil {
		x.cfg.Log.Warn("run_folder_not_removed", "job", t.Record.Job, "run", t.Record.Run, "error", err)
	}
}
