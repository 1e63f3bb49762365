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
	cronD  bool   // it is in /etc/cron.d
	owner  string // user that cron runs it as, if the file's path determines it
}

// spools are the folders of users' crontabs; each file is named after its owner.
var spools = []string{"/var/spool/cron/crontabs", "/var/spool/cron", "/etc/crontabs"}

// sources collects the crontabs: files, folders such as /etc/cron.d, and "-" for standard input. skipped lists
// the files that were left out, as cron leaves them out.
func (c *cli) sources(args []string, system bool, prefix string) (found []source, skipped []string, err error) {
	for _, arg := range args {
		files, folder := []string{arg}, false
		if arg != "-" {
			info, err := os.Stat(arg)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil, nil, invalid(arg+" not found",
					"for your own crontab use: crontab -l | cronctl import-crontab -")
			case err != nil:
				return nil, nil, cannot("cannot read the crontab", err)
			}
			if folder = info.IsDir(); folder {
				if files, err = filepath.Glob(filepath.Join(escapeGlob(arg), "*")); err != nil {
					return nil, nil, err
				}
			}
		}
		for _, file := range files {
			s := sourceOf(file)
			if why := unread(file, folder || s.cronD); why != "" {
				skipped = append(skipped, file+": "+why)
				continue
			}
			text, err := c.readFile(file, crontab.MaxBytes)
			if err != nil {
				return nil, nil, err
			}
			s.text, s.system, s.prefix = string(text), system || s.system, cmp.Or(prefix, crontab.PrefixOf(file))
			found = append(found, s)
		}
	}
	return found, skipped, nil
}

// sourceOf returns what the path of a crontab determines.
func sourceOf(file string) source {
	path, err := filepath.Abs(file)
	switch dir := filepath.Dir(path); {
	case file == "-":
		return source{file: "standard input"}
	case err != nil:
		return source{file: file}
	case slices.Contains(spools, dir):
		return source{file: file, owner: filepath.Base(path)}
	default:
		return source{file: file, cronD: dir == "/etc/cron.d", system: dir == "/etc/cron.d" || path == "/etc/crontab"}
	}
}

// unread returns why cron would not read a file, if it is one of a folder like /etc/cron.d.
func unread(file string, fromFolder bool) string {
	if !fromFolder {
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

func escapeGlob(dir string) string {
	return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(dir, `\$0`)
}

// distinct refuses equal lines of files with the same prefix, which would be one job.
func distinct(found []source, parsed []crontab.Result) error {
	from := map[string]string{}
	for i, r := range parsed {
		for _, e := range r.Entries {
			at, key := fmt.Sprintf("%s, line %d", found[i].file, e.Line), crontab.Key(e.Job.Labels)
			if first, twice := from[key]; twice {
				return invalid(fmt.Sprintf("%s and %s are equal and would be the same job", first, at),
					"import the files one by one, each with its own --prefix")
			}
			from[key] = at
		}
	}
	return nil
}
