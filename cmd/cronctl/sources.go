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
	"strings"

	"carillon/internal/common"
	"carillon/internal/jobmgr/crontab"
)

// File names that cron reads in /etc/cron.d; others belong to packages and editors.
var cronName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Names of files that are no crontab of a user in cron's spool: those of editors, of packages and of crontab(1).
var notOfUser = regexp.MustCompile(`^#|~$|\.rpm(save|orig|new)$|^tmp\.[A-Za-z0-9]{6}$`)

// source is a crontab to read.
type source struct {
	file   string // name in reports
	text   string
	system bool
	prefix string
	cronD  bool   // it is in a folder such as /etc/cron.d
	owner  string // user that cron runs it as, if the file's path determines it
}

// spools are the folders of users' crontabs, also below the folder of a backup; each file is named after its owner.
var spools = []string{"/var/spool/cron/crontabs", "/var/spool/cron/tabs", "/var/spool/cron", "/var/cron/tabs",
	"/etc/crontabs"}

// unreadFolder is a folder of which no file was read.
type unreadFolder struct {
	path  string
	files int
}

// sources are the crontabs to read.
type sources struct {
	found   []source
	skipped []string       // files that were left out, as cron leaves them out, with the reason
	unread  []unreadFolder // folders without any other file
}

// sources collects the crontabs: files, folders such as /etc/cron.d, and "-" for standard input.
func (m *importer) sources(args []string) (all sources, err error) {
	for _, arg := range args {
		files, folder, err := filesOf(arg)
		if err != nil {
			return all, err
		}
		before := len(all.found)
		for _, file := range files {
			s := sourceOf(file)
			s.system = m.system || s.system
			why := unread(&s, folder)
			if why == "" && folder && s.owner != "" && s.owner != m.as && !m.keepUsers {
				why = "belongs to another user than " + m.as + ", as whom the workers run; --keep-users imports the " +
					"crontabs of all users"
			}
			if why != "" {
				all.skipped = append(all.skipped, file+": "+why)
				continue
			}
			text, err := m.c.readFile(file, crontab.MaxBytes)
			if err != nil {
				return all, err
			}
			s.text, s.prefix = string(text), cmp.Or(m.prefix, crontab.PrefixOf(file))
			all.found = append(all.found, s)
		}
		if folder && len(all.found) == before {
			all.unread = append(all.unread, unreadFolder{arg, len(files)})
		}
	}
	return all, nil
}

// filesOf returns the files that an argument names, and whether it is their folder.
func filesOf(arg string) (files []string, folder bool, err error) {
	if arg == "-" {
		return []string{arg}, false, nil
	}
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, false, invalid(arg+" not found",
			"for your own crontab use: crontab -l | cronctl import-crontab -")
	case err != nil:
		return nil, false, cannot("cannot read the crontab", err)
	case !info.IsDir():
		return []string{arg}, false, nil
	}
	entries, err := os.ReadDir(arg)
	if err != nil {
		return nil, false, cannot("cannot read the folder", err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			files = append(files, filepath.Join(arg, e.Name()))
		}
	}
	return files, true, nil
}

// sourceOf returns what the path of a crontab determines.
func sourceOf(file string) source {
	path, err := filepath.Abs(file)
	dir := filepath.Dir(path)
	switch {
	case file == "-":
		return source{file: "standard input"}
	case err != nil:
		return source{file: file}
	case slices.ContainsFunc(spools, func(spool string) bool { return strings.HasSuffix(dir, spool) }):
		return source{file: file, owner: filepath.Base(path)}
	}
	s := source{file: file, cronD: filepath.Base(dir) == "cron.d"}
	s.system = s.cronD && filepath.Base(filepath.Dir(dir)) == "etc" || strings.HasSuffix(path, "/etc/crontab")
	return s
}

// unread returns why cron would not read a file, if it is one of a folder. The rule for names in /etc/cron.d does not
// hold in a folder of users' crontabs, which have no user column.
func unread(s *source, folder bool) string {
	if !folder && !s.cronD {
		return ""
	}
	name, ofSystem := filepath.Base(s.file), s.cronD || s.system
	info, err := os.Stat(s.file)
	switch {
	case err != nil || !info.Mode().IsRegular():
		return "is not a regular file"
	case ofSystem && name == "README":
		return "is documentation"
	case ofSystem && !cronName.MatchString(name), notOfUser.MatchString(name):
		return "has a name that cron ignores"
	case s.owner != "" && !common.ValidUser(name):
		return "is not named after a user"
	}
	return ""
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
