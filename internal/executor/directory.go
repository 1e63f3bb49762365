package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/user"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/common"
	"carillon/internal/executor/runas"
)

// getent asks the user databases of the machine, as the C library does: this program contains no C, and reads only the
// files among them.
const getent = "/usr/bin/getent"

// notThere is its exit code if no database has the name.
const notThere = "2"

// maxEntry bounds what it prints about a user.
const maxEntry = 64 << 10

// lookUp returns the account of a user: of the machine's files, else of the directories that it uses, such as those of
// SSSD and Winbind.
func (x *Executor) lookUp(ctx context.Context, name string) (*runas.Account, error) {
	a, missing := runas.Local(name)
	if _, unknown := errors.AsType[user.UnknownUserError](missing); !unknown {
		return a, missing
	}
	if _, err := os.Stat(getent); errors.Is(err, fs.ErrNotExist) {
		return nil, missing
	}
	return x.directory(ctx, name)
}

// directory returns the account of a user as the C library knows it. Root is a user of the machine's own files only.
func (x *Executor) directory(ctx context.Context, name string) (*runas.Account, error) {
	entry, err := x.entry(ctx, "passwd", name)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(entry, ":")
	if len(fields) != 7 {
		return nil, fmt.Errorf("the entry of the user in the database has %d fields", len(fields))
	}
	uid, err1 := strconv.ParseUint(fields[2], 10, 32)
	gid, err2 := strconv.ParseUint(fields[3], 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return nil, err
	}
	if uid == 0 || uid == math.MaxUint32 { // a change to the latter is none
		return nil, fmt.Errorf("a directory gives it the number %d", uid)
	}
	a := &runas.Account{Name: name, UID: uint32(uid), GID: uint32(gid), Home: fields[5]}
	if a.Home == "" {
		a.Home = "/"
	}
	if entry, err = x.entry(ctx, "initgroups", name); err != nil {
		return nil, err
	}
	// The line begins with the name, which may contain blanks.
	for text := range strings.FieldsSeq(strings.TrimPrefix(entry, name)) {
		id, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return nil, err
		}
		if uint32(id) != a.GID && !slices.Contains(a.Groups, uint32(id)) {
			a.Groups = append(a.Groups, uint32(id))
		}
	}
	return a, nil
}

// entry returns the line that a database has for a user.
func (x *Executor) entry(ctx context.Context, database, name string) (string, error) {
	out, how := x.call(ctx, []string{getent, database, "--", name}, "", maxEntry)
	switch {
	case how.Status == common.StatusSucceeded:
		line, _, _ := strings.Cut(string(out), "\n")
		return line, nil
	case how.Reason.Data["exitCode"] == notThere:
		return "", user.UnknownUserError(name)
	}
	return "", fmt.Errorf("ask the user database: %s", how.Reason.Text)
}
