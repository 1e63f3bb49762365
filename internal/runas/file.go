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
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"carillon/internal/common"
)

// maxFile bounds the file.
const maxFile = 1 << 20

// Account is a user of this machine.
type Account struct {
	Name     string
	UID, GID uint32
	Groups   []uint32 // the others that it is in
	Home     string
}

// Config says how a File is read.
type Config struct {
	Path    string
	Trusted uint32 // who must own the file, and may own the folders above it: root
	// Capable tells why this process cannot run commands as others, where it cannot.
	Capable func() error
	Log     *slog.Logger
}

// File is a file of rules.
type File struct {
	cfg Config
	own Account

	mu    sync.Mutex
	seen  version // guarded by mu
	rules *Rules  // guarded by mu
	wrong string  // what is wrong with the file as it is now; guarded by mu
}

// version tells contents of a file apart.
type version struct {
	changed, status syscall.Timespec
	size            int64
	inode           uint64
	mode            uint32
	owner           uint32
}

// Open reads a file; the error says what is wrong with it.
func Open(cfg Config) (*File, error) {
	f := &File{cfg: cfg, own: Own()}
	rules, seen, err := f.read()
	if err != nil {
		return nil, common.Invalid("the file of runAs cannot be used", common.Fault{Location: "runAs", Code: "file", Message: err.Error()})
	}
	f.rules, f.seen = rules, seen
	return f, nil
}

// Own is this process's own account. One without an entry in the user database has its number for a name.
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

// now gives the rules as they are in force.
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
	f.seen = at // told once for each state of the file
	if f.wrong != err.Error() {
		f.cfg.Log.Error("run_as_not_read", "file", f.cfg.Path, "error", err)
	}
	f.wrong = err.Error()
	return f.rules
}

// Conditions tell that the file as it is now does not count.
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
	return []common.Condition{{Code: common.ConditionRunAs, Text: "the file of runAs cannot be used, and what it said before counts: " + f.wrong, Data: common.Words{"error": f.wrong}}}
}

// read reads and judges the file.
func (f *File) read() (*Rules, version, error) {
	file, err := os.OpenFile(f.cfg.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe is not waited for
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
		return nil, at, fmt.Errorf("%s is no plain file", f.cfg.Path)
	}
	if err := f.trust(f.cfg.Path, info); err != nil {
		return nil, at, err
	}
	if err := f.trustAbove(); err != nil {
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
			return nil, at, fmt.Errorf("%s lets jobs run as others, but this worker cannot do that: %w", f.cfg.Path, err)
		}
	}
	return rules, at, nil
}

// trust refuses what others than root could write.
func (f *File) trust(path string, info fs.FileInfo) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("who owns %s cannot be told", path)
	}
	if stat.Uid != f.cfg.Trusted && stat.Uid != 0 {
		return fmt.Errorf("%s belongs to the user %d, and must belong to root", path, stat.Uid)
	}
	mode := info.Mode()
	if info.IsDir() && mode&os.ModeSticky != 0 {
		return nil // others cannot replace what is root's
	}
	if mode.Perm()&0o022 != 0 {
		return fmt.Errorf("%s has the mode %04o: others than root may write it", path, mode.Perm())
	}
	return nil
}

// trustAbove refuses folders in which others could put another file in its place.
func (f *File) trustAbove() error {
	whole, err := filepath.EvalSymlinks(f.cfg.Path)
	if err != nil {
		return err
	}
	for _, start := range []string{f.cfg.Path, whole} {
		for dir := filepath.Dir(start); ; dir = filepath.Dir(dir) {
			info, err := os.Stat(dir)
			if err != nil {
				return err
			}
			if err := f.trust(dir, info); err != nil {
				return err
			}
			if dir == filepath.Dir(dir) {
				break
			}
		}
	}
	return nil
}

// As returns the account that a job runs as, nil for the worker's own user, or the reason why the job must not run.
// With a file, the worker's own user is allowed only where the group's entry lists it, or where Default names it or is
// empty: commands of that user can read the credentials and the data folder of the worker.
func (f *File) As(job *common.Job, own string) (*Account, *common.Reason) {
	if f == nil {
		if job.User == "" || job.User == own {
			return nil, nil
		}
		return nil, refusal("user_not_allowed", map[string]string{"user": job.User, "workerUser": own},
			"the job wants to run as %s, but this worker runs commands only as %s", common.Excerpt(job.User), own)
	}
	rules := f.now()
	entry := rules.of(job.Group)
	if entry.Disabled {
		return nil, refusal("group_disabled", map[string]string{"group": job.Group}, "this worker runs no jobs of the group %q", job.Group)
	}
	name := cmp.Or(job.User, rules.Default, f.own.Name)
	switch {
	case slices.Contains(entry.Users, name) || name == rules.Default:
	case name == f.own.Name && rules.Default == "" && f.own.UID != 0:
	case job.User == "":
		return nil, refusal("user_not_allowed", map[string]string{"user": name, "workerUser": f.own.Name},
			"this worker is %s, and its file of runAs does not say as whom jobs run that name nobody", f.own.Name)
	default:
		return nil, refusal("user_not_allowed", map[string]string{"user": name, "workerUser": f.own.Name, "group": job.Group},
			"the job wants to run as %s, which this worker does not let jobs of the group %q", common.Excerpt(name), job.Group)
	}
	if name == f.own.Name {
		return nil, nil
	}
	account, err := lookUp(name)
	if err != nil {
		return nil, refusal("user_missing", map[string]string{"user": name}, "the job wants to run as %s, who cannot be found on the worker's machine: %v", common.Excerpt(name), err)
	}
	return account, nil
}

// Shell tells why a job must not use a shell.
func (f *File) Shell(job *common.Job, shell string) *common.Reason {
	if f == nil {
		return nil
	}
	if allowed := f.now().of(job.Group).Shells; len(allowed) > 0 && !slices.Contains(allowed, shell) {
		return refusal("shell_not_allowed", map[string]string{"shell": shell, "group": job.Group},
			"this worker does not let jobs of the group %q use the shell %s", job.Group, common.Excerpt(shell))
	}
	return nil
}

// Command tells why a job must not run a program, by the path at which it was found, or its
// text for the shell, where that is "".
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
		shells = []string{common.DefaultShell} // any other could be a program of the job's choice
	}
	if shell := cmp.Or(job.Shell, common.DefaultShell); (program == "" || job.Shell != "") && !slices.Contains(shells, shell) {
		return refusal("shell_not_allowed", map[string]string{"shell": shell, "group": job.Group},
			"this worker lets jobs of the group %q run some commands only, and none by the shell %s", job.Group, common.Excerpt(shell))
	}
	why := refusal("command_not_allowed", map[string]string{"group": job.Group},
		"this worker lets jobs of the group %q run some commands only, and %s is none of them", job.Group, common.Excerpt(cmp.Or(strings.Join(job.Args, " "), job.Command)))
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
			"this worker lets jobs of the group %q run some commands only, and does not let them give this one %s", job.Group, what)
	}
	return why
}

func refusal(code string, data map[string]string, format string, args ...any) *common.Reason {
	return &common.Reason{Code: code, Data: data, Text: fmt.Sprintf(format, args...)}
}

// lookUp finds a user of this machine, and the groups that it is in.
func lookUp(name string) (*Account, error) {
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
