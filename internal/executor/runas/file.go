package runas

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"os/user"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"carillon/internal/common"
)

// maxFile is the maximum size of the file in bytes.
const maxFile = 1 << 20

// Account is a user of this machine.
type Account struct {
	Name     string
	UID, GID uint32
	Groups   []uint32 // supplementary groups
	Home     string
}

// Config configures a File.
type Config struct {
	Path    string
	Trusted uint32 // uid that must own the file, and may own its parent folders: root's
	// Capable returns an error if this process cannot run commands as other users; nil: not checked.
	Capable func() error
	Log     *slog.Logger
}

// File is a run-as file and the rules that were read from it.
type File struct {
	cfg Config
	own Account

	mu    sync.Mutex
	seen  version // version of the file at the last check; guarded by mu
	rules *Rules  // rules in force; guarded by mu
	wrong string  // why the current file is invalid; empty: it is valid; guarded by mu
}

// version identifies a state of the file.
type version struct {
	changed, status syscall.Timespec
	size            int64
	inode           uint64
	mode            uint32
	owner           uint32
}

// Open reads a file. It returns an error if the file is missing, invalid or not trusted.
func Open(cfg Config) (*File, error) {
	f := &File{cfg: cfg, own: Own()}
	rules, seen, err := f.read()
	if err != nil {
		fault := common.Fault{Location: "runAs", Code: "file", Message: err.Error()}
		return nil, common.Invalid("the run-as file cannot be used", fault)
	}
	f.rules, f.seen = rules, seen
	return f, nil
}

// Own returns the account of this process. Without an entry in the user database, its name is the uid.
func Own() Account {
	own := Account{Name: strconv.Itoa(os.Getuid()), UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Home: "/"}
	if u, err := user.Current(); err == nil {
		own.Name, own.Home = u.Username, u.HomeDir
	}
	return own
}

func versionOf(info fs.FileInfo) version {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return version{}
	}
	return version{stat.Mtim, stat.Ctim, stat.Size, stat.Ino, stat.Mode, stat.Uid}
}

// now returns the rules in force. It reads the file again if it has changed.
func (f *File) now() *Rules {
	f.mu.Lock()
	defer f.mu.Unlock()
	var at version
	info, err := os.Stat(f.cfg.Path)
	if err == nil {
		at = versionOf(info)
	}
	if at == f.seen {
		return f.rules
	}
	rules, seen, err := f.read()
	if err == nil {
		f.rules, f.seen, f.wrong = rules, seen, ""
		f.cfg.Log.Info("run_as_read_again", "file", f.cfg.Path)
		return f.rules
	}
	f.seen = at // so that each state of the file is read and logged once
	if f.wrong != err.Error() {
		f.cfg.Log.Error("run_as_not_read", "file", f.cfg.Path, "error", err)
	}
	f.wrong = err.Error()
	return f.rules
}

// Conditions returns a condition if the current file is invalid and the previous rules apply.
func (f *File) Conditions() []common.Condition {
	if f == nil {
		return nil
	}
	f.now()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.wrong == "" {
		return nil
	}
	return []common.Condition{{
		Code: common.ConditionRunAs,
		Text: "the run-as file cannot be used, and its previous rules apply: " + f.wrong,
		Data: common.Words{"error": f.wrong},
	}}
}

// read reads and validates the file, and checks its owner and permissions.
func (f *File) read() (*Rules, version, error) {
	file, err := os.OpenFile(f.cfg.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // must not block if it is a pipe
	if err != nil {
		return nil, version{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, version{}, err
	}
	at := versionOf(info)
	if !info.Mode().IsRegular() {
		return nil, at, fmt.Errorf("%s is not a regular file", f.cfg.Path)
	}
	if err := Trust(f.cfg.Path, info, f.cfg.Trusted); err != nil {
		return nil, at, err
	}
	if err := TrustAbove(f.cfg.Path, f.cfg.Trusted); err != nil {
		return nil, at, err
	}
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, at, err
	}
	if len(data) > maxFile {
		return nil, at, fmt.Errorf("%s is larger than %d KiB", f.cfg.Path, maxFile>>10)
	}
	rules, err := Parse(data)
	if err != nil {
		return nil, at, fmt.Errorf("%s: %w", f.cfg.Path, err)
	}
	if rules.switches(f.own.Name) && f.cfg.Capable != nil {
		if err := f.cfg.Capable(); err != nil {
			return nil, at, fmt.Errorf("%s lets jobs run as other users, but this worker cannot do that: %w",
				f.cfg.Path, err)
		}
	}
	return rules, at, nil
}

// As returns the account that a job runs as, nil for the worker's own user, or the reason why the job must not run.
// With a file, the worker's own user is allowed only if the group's entry lists it, or if Default names it or is empty:
// commands of that user can read the credentials and the data folder of the worker. find returns the account of another
// user.
func (f *File) As(job *common.Job, own string, find Finder) (*Account, *common.Reason) {
	if f == nil {
		if job.User == "" || job.User == own {
			return nil, nil
		}
		return nil, refusal("user_not_allowed", map[string]string{"user": job.User, "workerUser": own},
			"the job names the user %s, but this worker runs commands only as %s", common.Excerpt(job.User), own)
	}
	rules := f.now()
	entry := rules.of(job.Group)
	if entry.Disabled {
		return nil, refusal("group_disabled", map[string]string{"group": job.Group},
			"this worker runs no jobs of the group %q", job.Group)
	}
	name := cmp.Or(job.User, rules.Default, f.own.Name)
	switch {
	case slices.Contains(entry.Users, name) || name == rules.Default:
	case name == f.own.Name && rules.Default == "" && f.own.UID != 0:
	case job.User == "":
		return nil, refusal("user_not_allowed", map[string]string{"user": name, "workerUser": f.own.Name},
			"the job names no user, and the run-as file of this worker (user %s) has no default", f.own.Name)
	default:
		data := map[string]string{"user": name, "workerUser": f.own.Name, "group": job.Group}
		return nil, refusal("user_not_allowed", data,
			"this worker does not allow the user %s for jobs of the group %q", common.Excerpt(name), job.Group)
	}
	if name == f.own.Name {
		return nil, nil
	}
	account, err := find(name)
	if err != nil {
		return nil, refusal("user_missing", map[string]string{"user": name},
			"the user %s of the job cannot be found on the worker's machine: %v", common.Excerpt(name), err)
	}
	return account, nil
}

// Shell returns the reason why a job must not use a shell, nil if it may.
func (f *File) Shell(job *common.Job, shell string) *common.Reason {
	if f == nil {
		return nil
	}
	if allowed := f.now().of(job.Group).Shells; len(allowed) > 0 && !slices.Contains(allowed, shell) {
		return refusal("shell_not_allowed", map[string]string{"shell": shell, "group": job.Group},
			"this worker does not allow the shell %s for jobs of the group %q", common.Excerpt(shell), job.Group)
	}
	return nil
}

// Command returns the reason why a job must not run its command, nil if it may. program is the path at which the job's
// program was found, or "" for a shell command line.
func (f *File) Command(job *common.Job, program string) *common.Reason {
	if f == nil {
		return nil
	}
	entry := f.now().of(job.Group)
	if len(entry.Commands) == 0 {
		return nil
	}
	shells := entry.Shells
	if len(shells) == 0 {
		shells = []string{common.DefaultShell} // another shell could be any program that the job chooses
	}
	shell := cmp.Or(job.Shell, common.DefaultShell)
	if (program == "" || job.Shell != "") && !slices.Contains(shells, shell) {
		return refusal("shell_not_allowed", map[string]string{"shell": shell, "group": job.Group},
			"this worker restricts the commands of the group %q, and does not allow the shell %s",
			job.Group, common.Excerpt(shell))
	}
	why := refusal("command_not_allowed", map[string]string{"group": job.Group},
		"this worker restricts the commands of the group %q, and does not allow %s",
		job.Group, common.Excerpt(cmp.Or(common.ShellWords(job.Args), job.Command)))
	for i := range entry.Commands {
		if !entry.Commands[i].runs(job, program) {
			continue
		}
		what, variable := entry.Commands[i].beyond(job)
		if what == "" {
			return nil
		}
		data := map[string]string{"group": job.Group}
		if variable != "" {
			data["variable"] = variable
		}
		why = refusal("command_not_allowed", data,
			"this worker restricts the commands of the group %q, and does not allow %s for this one", job.Group, what)
	}
	return why
}

// Restricts reports whether jobs of a group may run some commands only.
func (f *File) Restricts(group string) bool { return f != nil && len(f.now().of(group).Commands) > 0 }

func refusal(code string, data map[string]string, format string, args ...any) *common.Reason {
	return &common.Reason{Code: code, Data: data, Text: fmt.Sprintf(format, args...)}
}

// Finder returns the account of a user, with its groups. Without one the error is an [user.UnknownUserError].
type Finder func(name string) (*Account, error)

// Local returns the account of a user of this machine's own files.
func Local(name string) (*Account, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
	gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	a := &Account{Name: name, UID: uint32(uid), GID: uint32(gid), Home: cmp.Or(u.HomeDir, "/")}
	ids, err := u.GroupIds()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, err
		}
		if uint32(n) != a.GID {
			a.Groups = append(a.Groups, uint32(n))
		}
	}
	return a, nil
}
