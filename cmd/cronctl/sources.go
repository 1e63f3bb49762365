package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"carillon/internal/jobmgr/crontab"
)

// File names that cron reads in /etc/cron.d; others belong to packages and editors.
var cronName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// source is a crontab to read.
type source struct {
	file   string // name in reports
	text   string
	system bool
	prefix string
	owner  string // user that cron runs it as, if the file's path determines it
}

// spools are the folders of users' crontabs; each file is named after its owner.
var spools = []string{"/var/spool/cron/crontabs", "/var/spool/cron", "/etc/crontabs"}

// ownerOf returns the owner of a user's crontab in cron's spool.
func ownerOf(file string) string {
	path, err := filepath.Abs(file)
	if err != nil || !slices.Contains(spools, filepath.Dir(path)) {
		return ""
	}
	return filepath.Base(path)
}

// sources collects the crontabs: files, folders such as /etc/cron.d, and "-" for standard input. skipped lists
// the files that were left out, as cron leaves them out.
func (c *cli) sources(args []string, system bool, prefix string) (found []source, skipped []string, err error) {
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case arg == "-":
			text, err := c.readFile(arg, crontab.MaxBytes)
			if err != nil {
				return nil, nil, err
			}
			found = append(found, source{
				file:   "standard input",
				text:   string(text),
				system: system,
				prefix: cmp.Or(prefix, crontab.PrefixOf(arg)),
			})
			continue
		case errors.Is(err, fs.ErrNotExist):
			return nil, nil, invalid(arg+" not found",
				"for your own crontab use: crontab -l | cronctl import-crontab -")
		case err != nil:
			return nil, nil, cannot("cannot read the crontab", err)
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
			found = append(found, source{
				file:   file,
				text:   string(text),
				system: system || ofSystem(file),
				prefix: cmp.Or(prefix, crontab.PrefixOf(file)),
				owner:  ownerOf(file),
			})
		}
	}
	return found, skipped, nil
}

// unread returns why cron would not read a file of a folder like /etc/cron.d.
func unread(file string, fromFolder bool) string {
	if !fromFolder && !inCronD(file) {
		return ""
	}
	name := filepath.Base(file)
	info, err := os.Stat(file)
	switch {
	case err != nil || !info.Mode().IsRegular():
		return "is not a regular file"
	case name == "README":
		return "is documentation"
	case !cronName.MatchString(name):
		return "has a name that cron ignores"
	}
	return ""
}

// ofSystem reports whether a file has a user column, by its path.
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
				return invalid(fmt.Sprintf("%s and %s would both be the job %s", first, at, e.Job.Name),
					"import the files one by one, each with its own --prefix")
			}
			from[e.Job.Name] = at
		}
	}
	return nil
}
