package redact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"carillon/internal/common"
)

// Files are secrets in files, one per file. A changed file is read again. The last three secrets that it
// contained before are masked as well: commands may still use the old one, and a file written in parts
// contains several in succession.
type Files struct {
	log *slog.Logger

	mu      sync.Mutex
	files   []*file            // guarded by mu
	maskers map[string]*Masker // guarded by mu; by the names of the files
}

type file struct {
	name, path string
	groups     []string // in whose runs it is masked; none: in runs that can read it
	seen       version
	values     [][]byte // current and earlier secrets, newest first
}

// appliesTo reports whether the file is masked in a run of a group; readable: the run can read the file.
//
// What is masked can be found by a command that prints guesses and watches what becomes of them. So a secret is masked
// only where the command can read it anyway, or where the administrator trusts the group with it.
func (f *file) appliesTo(group string, readable bool) bool {
	if len(f.groups) == 0 {
		return readable
	}
	return slices.Contains(f.groups, common.AllGroups) || group != "" && slices.Contains(f.groups, group)
}

// maxBefore is how many earlier secrets of a file are masked.
const maxBefore = 3

// version identifies a state of a file.
type version struct {
	changed time.Time
	size    int64
	inode   uint64
}

// Open reads the files, given by secret name, with the groups in whose runs they are masked. The error names each
// faulty file.
func Open(paths map[string]string, groups map[string][]string, log *slog.Logger) (*Files, error) {
	f := &Files{log: log, maskers: map[string]*Masker{}}
	var faults []common.Fault
	for _, name := range slices.Sorted(maps.Keys(paths)) {
		one := &file{name: name, path: paths[name], groups: groups[name]}
		if _, err := one.refresh(); err != nil {
			faults = append(faults, common.Fault{Location: "secrets." + name, Code: "file", Message: err.Error()})
		}
		f.files = append(f.files, one)
	}
	if len(faults) > 0 {
		return nil, common.Invalid("secrets cannot be masked", faults...)
	}
	return f, nil
}

// Masker returns a masker for a run of a group, with the current contents of the files. readable reports that the
// run's command can read all files. An unreadable file keeps its last secrets.
func (f *Files) Masker(group string, readable bool) *Masker {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names strings.Builder
	var secrets []Secret
	for _, one := range f.files {
		fresh, err := one.refresh()
		if err != nil {
			f.log.Error("secret_not_read", "secret", one.name, "error", err)
		}
		if fresh {
			f.log.Info("secret_read_again", "secret", one.name)
			clear(f.maskers)
		}
		if !one.appliesTo(group, readable) {
			continue
		}
		names.WriteString(one.name + "\n")
		for _, value := range one.values {
			secrets = append(secrets, Secret{one.name, value})
		}
	}
	masker, known := f.maskers[names.String()]
	if !known {
		masker = New(secrets)
		f.maskers[names.String()] = masker
	}
	return masker
}

// refresh reads the file if it has changed since the last call, and reports whether it contains another
// secret. An error is returned once per state of the file.
func (f *file) refresh() (fresh bool, err error) {
	now, err := statVersion(f.path)
	if now == f.seen {
		return false, nil
	}
	f.seen = now
	if err != nil {
		return false, err
	}
	value, at, err := read(f.path)
	if err != nil {
		return false, err
	}
	f.seen = at
	if len(f.values) > 0 && bytes.Equal(value, f.values[0]) {
		return false, nil
	}
	f.values = slices.DeleteFunc(f.values, func(v []byte) bool { return bytes.Equal(v, value) })
	f.values = slices.Insert(f.values, 0, value)
	f.values = f.values[:min(len(f.values), 1+maxBefore)]
	return true, nil
}

// gone is the version of a missing file.
var gone = version{size: -1}

func statVersion(path string) (version, error) {
	info, err := os.Stat(path)
	if err != nil {
		return gone, err
	}
	return versionOf(info), nil
}

func versionOf(info fs.FileInfo) version {
	v := version{changed: info.ModTime(), size: info.Size()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		v.inode = stat.Ino
	}
	return v
}

// read returns the secret of a file without its line end. A file that all users can read is not secret,
// and one that all users can write could be used to mask any text: both are errors.
func read(path string) ([]byte, version, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // do not block on a pipe
	if err != nil {
		return nil, gone, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, gone, err
	}
	v := versionOf(info)
	if !info.Mode().IsRegular() {
		return nil, v, fmt.Errorf("%s is not a regular file", path)
	}
	if mode := info.Mode().Perm(); mode&0o006 != 0 {
		return nil, v, fmt.Errorf("%s has mode %04o: all users can read or write it; use 0600 or 0640", path, mode)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSecret+3)) // and a line end
	if err != nil {
		return nil, v, err
	}
	value := bytes.TrimRight(data, "\r\n")
	switch {
	case len(value) < MinSecret:
		err = errors.New(path + " is too short: a secret of less than 8 bytes would occur in harmless output")
	case len(value) > MaxSecret:
		err = errors.New(path + " has more than 4096 bytes; each file contains one secret")
	}
	return value, v, err
}
