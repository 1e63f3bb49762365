package executor

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"carillon/internal/executor/inside"
	"carillon/internal/executor/redact"
)

// reported reads the outputs that a run has written as files, when none of its processes is left. A file is text of the
// run's user: nothing else is opened, whatever the command put there. Values are returned masked, and their limits hold
// for them as masked, since the outcome of the run must fit into a transaction. bad is the outcome of the first invalid
// output; nil if all are valid.
func (x *Executor) reported(t *Task, s *spec, masks *redact.Masker) (values map[string]string, bad *inside.Outcome) {
	if !s.reports {
		return nil, nil
	}
	owner, group := uint32(os.Geteuid()), uint32(os.Getegid())
	if s.as != nil { // this process may be unable to open that user's folder, and must not read more than the user may
		owner, group = s.as.UID, s.as.GID
	}
	if err := filesAs(owner, group, func() error {
		values, bad = readFiles(t, s.values.path, owner, masks)
		return nil
	}); err != nil {
		x.cfg.Log.Error("outputs_not_read", "job", t.Record.Job, "run", t.Record.Run, "error", err)
		return readFiles(t, "", owner, masks) // without a folder, all of them are missing
	}
	return values, bad
}

// readFiles reads the outputs of a run in a folder.
func readFiles(t *Task, folder string, owner uint32, masks *redact.Masker) (values map[string]string,
	bad *inside.Outcome) {
	dir, err := unix.Open(folder, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		none := func(string, int) ([]byte, bool, string) { return nil, true, "" }
		return inside.ReadOutputs(t.Job.Outputs, masks, none)
	}
	defer func() { _ = unix.Close(dir) }() // only read
	return inside.ReadOutputs(t.Job.Outputs, masks, func(name string, limit int) ([]byte, bool, string) {
		return readReported(dir, name, owner, limit)
	})
}

// readReported reads at most limit bytes of a file.
func readReported(dir int, name string, owner uint32, limit int) (data []byte, missing bool, fault string) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil, true, ""
	}
	if err != nil {
		return nil, false, "not_a_file"
	}
	file := os.NewFile(uintptr(fd), name)
	defer func() { _ = file.Close() }() // only read
	var stat unix.Stat_t
	// A hard link, or a file of another user, may be one that only this process may read.
	if err := unix.Fstat(fd, &stat); err != nil || stat.Mode&unix.S_IFMT != unix.S_IFREG || stat.Nlink != 1 ||
		stat.Uid != owner {
		return nil, false, "not_a_file"
	}
	if data, err = io.ReadAll(io.LimitReader(file, int64(limit))); err != nil {
		return nil, false, "not_a_file"
	}
	return data, false, ""
}
