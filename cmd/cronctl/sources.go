package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"carillon/internal/common"
	"carillon/internal/crontab"
)

// The names that cron reads in /etc/cron.d; others belong to packages and editors.
var cronName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// source is a crontab to read.
type source struct {
	file   string // as it is named in reports
	text   string
	system bool
	prefix string
	owner  string // whom cron runs it as, where the file's place says so
}

// spools are the folders of users' crontabs; each file has the name of its owner.
var spools = []string{"/var/spool/cron/crontabs", "/var/spool/cron", "/etc/crontabs"}

// ownerOf is the owner of a user's crontab in cron's spool.
func ownerOf(file string) string {
	path, err := filepath.Abs(file)
	if err != nil || !slices.Contains(spools, filepath.Dir(path)) {
		return ""
	}
	return filepath.Base(path)
}

// sources collects the crontabs: files, folders such as /etc/cron.d, and "-" for
// standard input. skipped says which files were left out, as cron leaves them out.
func (c *cli) sources(args []string, system bool, prefix string) (found []source, skipped []string, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case arg == "-":
			text, err := c.readFile(arg, crontab.MaxBytes)
			if err != nil {
				return nil, nil, err
			}
			found = append(found, source{file: "standard input", text: string(text), system: system, prefix: or(prefix, crontab.PrefixOf(arg))})
			continue
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil, &common.Error{Code: common.CodeInvalid, Message: "there is no " + arg,
				Hint: "for your own crontab: crontab -l | cronctl import-crontab -"}
		case err != nil:
			return nil, nil, &common.Error{Code: common.CodeInvalid, Message: "a crontab cannot be read", Err: err}
		}
		files := []string{arg}
		if info.IsDir() {
			if files, err = filepath.Glob(filepath.Join(escapeGlob(arg), "*")); err != nil {
				return nil, nil, err
			}
		}
		for _, file := range files {
			if why := unread(file, info.IsDir()); why != "" {
				skipped = append(skipped, file+": "+why)
				continue
			}
			text, err := c.readFile(file, crontab.MaxBytes)
			if err != nil {
				return nil, nil, err
			}
			found = append(found, source{file: file, text: string(text), system: system || ofSystem(file), prefix: or(prefix, crontab.PrefixOf(file)), owner: ownerOf(file)})
		}
	}
	return found, skipped, nil
}

// unread tells why cron would not read a file of a folder like /etc/cron.d.
func unread(file string, fromFolder bool) string {
	if !fromFolder && !inCronD(file) {
		return ""
	}
	name := filepath.Base(file)
	info, err := os.Stat(file)
	switch {
	case err != nil || !info.Mode().IsRegular():
		return "is no file"
	case name == "README":
		return "is a text for people"
	case !cronName.MatchString(name):
		return "has a name that cron does not read"
	}
	return ""
}

// ofSystem tells whether a file's place says that it has a user column.
func ofSystem(file string) bool {
	path, err := filepath.Abs(file)
	return err == nil && path == "/etc/crontab" || inCronD(file)
}

func inCronD(file string) bool {
	path, err := filepath.Abs(file)
	return err == nil && filepath.Dir(path) == "/etc/cron.d"
}

func escapeGlob(dir string) string {
	return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(dir, `\$0`)
}

// distinct refuses files whose jobs would get the same names.
func distinct(found []source, parsed []crontab.Result) error {
	from := map[string]string{}
	for i, r := range parsed {
		for _, e := range r.Entries {
			at := fmt.Sprintf("%s, line %d", found[i].file, e.Line)
			if first, twice := from[e.Job.Name]; twice {
				return &common.Error{Code: common.CodeInvalid, Message: fmt.Sprintf("%s and %s would both be the job %s", first, at, e.Job.Name),
					Hint: "import the files one by one, each with its own --prefix"}
			}
			from[e.Job.Name] = at
		}
	}
	return nil
}
