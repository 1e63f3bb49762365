package main

import (
	"cmp"
	"fmt"
	"maps"
	"os/user"
	"slices"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"carillon/internal/common"
	"carillon/internal/jobmgr/crontab"
)

const importHelp = `Create jobs from the lines of crontabs. FILE may be a file, a folder like
/etc/cron.d, or - for standard input. --system: lines have a user column; this is always
so for /etc/crontab and the files of /etc/cron.d.

Each line that is not imported is reported with its number and the reason:

  fault      cron does not accept it, or the server refuses its job. Then nothing is
             written and the exit code is 2, unless --skip-faults skips such lines.
  skipped    cron accepts it, but no job can do the same (@reboot, another user). The
             others are written, and the exit code is 1, or 0 with --skip-faults. The same
             is so if no file of a folder was read.
  note       it is imported, with a remark.

Lines of the system format are imported for the user of --as only. --keep-users imports
all, and stores the user in each job; for the user format that is the owner of the
crontab, after whom the files of cron's spool are named. Workers run such jobs only if
their runAs file allows it.

Jobs are named after their commands, or after the comment above the line if the command may
do anything, as find or tar. A label, crontab-line, records the line that a job was imported
from, so a second import changes nothing, even if the file has other lines or the jobs were
created in the console under other names. Another label, crontab-import, records what was
imported, so that a later import finds out what was edited:

  to update  the crontab: settings above the line, its comment, or options of the import.
             What else the job has stays.
  edited     the job, which is left alone.
  conflict   both, in the same setting; or the job was moved to another group. It is left
             alone, and the exit code is 1.

--overwrite replaces all of these jobs. A job whose line was removed is kept.

--merge makes one job with several schedules of lines with the same command, user and settings.
Such a job takes the name of one that was imported from these lines before.

MAILTO=ADDRESS above a line lets its job notify a mail channel of what its runs print. A channel
with the same addresses is used, otherwise one is created, which needs the role admin. With
--no-mail MAILTO has no effect. With --notify the jobs notify that channel when they fail, in
place of MAILTO; those below an empty MAILTO notify none.

The time zone is that of CRON_TZ above the line, else --timezone, else this machine's
(TZ, /etc/timezone or /etc/localtime); the report shows which. Commands start in the
home directory of the user, as with cron.`

// importer is one call of import-crontab.
type importer struct {
	c                        *cli
	system                   bool
	zone, zoneFrom           string
	as, home, prefix, notify string
	group                    string // of the jobs
	dryRun, overwrite        bool
	keepUsers, skipFaults    bool
	merge, noMail            bool
	mailer                   crontab.Mailer
	refused                  []crontab.MailChannel // that this user may not create
	mails                    int                   // jobs that notify a mail channel in place of MAILTO
	etc                      string
	keepHome                 bool
	unread                   bool // all files of a folder were left out
	planned                  []step
	faults, notTaken         int
	users                    map[string]bool // named by the jobs
	created, same, updated   int
	overwritten, different   int
	conflicts                int // jobs and lines that differ so that a person has to decide
}

func (c *cli) importCrontab() *cobra.Command {
	m := &importer{c: c, etc: "/etc", users: map[string]bool{}}
	cmd := &cobra.Command{
		Use:   "import-crontab FILE...",
		Short: "Create jobs from the lines of a crontab",
		Long:  importHelp,
		Example: `  crontab -l | cronctl import-crontab - --dry-run
  cronctl import-crontab /etc/crontab /etc/cron.d --keep-users
  cronctl import-crontab /etc/cron.d --merge --dry-run
  cronctl import-crontab old/crontab.txt --system --as deploy --timezone Europe/Berlin`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			m.keepHome = !cmd.Flags().Changed("home")
			return m.run(cmd, args)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&m.system, "system", false, "the files have a user column, like /etc/crontab")
	f.StringVar(&m.zone, "timezone", "", "time zone of lines without CRON_TZ (default this machine's)")
	f.StringVar(&m.as, "as", "", "user that the workers run as, or owner of the crontabs (default: you)")
	f.BoolVar(&m.keepUsers, "keep-users", false, "import lines of all users, and store the user in each job")
	f.StringVar(&m.home, "home", "",
		"working directory of the commands (default: that user's home); empty for the worker's default")
	f.StringVar(&m.prefix, "prefix", "",
		"prefix of the job names, and their label crontab (default: the file's name)")
	f.StringVar(&m.group, "group", crontab.Group, "group of the jobs, from which they inherit defaults")
	f.StringVar(&m.notify, "notify", "", "channel that the jobs notify when they fail")
	f.BoolVar(&m.noMail, "no-mail", false, "ignore MAILTO")
	f.BoolVar(&m.dryRun, "dry-run", false, "print what would be done and write nothing")
	f.BoolVar(&m.skipFaults, "skip-faults", false, "skip lines that cannot be imported, and write the others")
	f.BoolVar(&m.merge, "merge", false, "make one job of lines with the same command, with several schedules")
	f.BoolVar(&m.overwrite, "overwrite", false, "also replace jobs that were edited since their import")
	return cmd
}

func (m *importer) run(cmd *cobra.Command, args []string) error {
	if err := m.settings(); err != nil {
		return err
	}
	all, err := m.sources(args)
	if err != nil {
		return err
	}
	found := all.found
	parsed := make([]crontab.Result, len(found))
	for i, s := range found {
		parsed[i] = crontab.Parse(s.text, m.options(&s))
		m.faults += parsed[i].Count(crontab.Fault)
		m.notTaken += parsed[i].Count(crontab.NotTaken)
	}
	if err := distinct(found, parsed); err != nil {
		return err
	}
	api, err := m.c.api()
	if err != nil {
		return err
	}
	namer, err := m.namer(cmd.Context(), api)
	if err != nil {
		return err
	}
	if m.mailer.Known, err = knownChannels(cmd.Context(), api); err != nil {
		return err
	}
	// All lines are checked, here and by the server, before any is written.
	reports := make([]fileReport, len(found))
	for i := range found {
		if reports[i], err = m.planImport(cmd.Context(), api, namer, &found[i], &parsed[i]); err != nil {
			return err
		}
	}
	if (m.faults == 0 || m.skipFaults) && !m.dryRun {
		err = m.write(cmd.Context(), api)
	}
	for i := range reports {
		reports[i].print(m)
	}
	for _, s := range all.skipped {
		fmt.Fprintf(m.c.stdout, "skipped %s\n", s)
	}
	for _, f := range all.unread {
		fmt.Fprintf(m.c.stdout, "nothing was read from the folder %s (%s)\n", f.path,
			common.Count(f.files, "file", "files"))
		m.unread = m.unread || f.files > 0
	}
	m.hint()
	if err != nil {
		return err
	}
	if err := m.mailHint(cmd.Context()); err != nil {
		return err
	}
	return m.summary()
}

// options returns what the text of a source does not contain.
func (m *importer) options(s *source) crontab.Options {
	o := crontab.Options{Prefix: s.prefix, Group: m.group, System: s.system, Timezone: m.zone, User: m.as,
		Home: m.home, File: true}
	if m.keepUsers {
		o.User, o.Owner = "", cmp.Or(s.owner, m.as)
		if m.keepHome {
			o.Home, o.HomeOf = "", homeOf
		}
	}
	return o
}

// homeOf returns the home directory of a local user; empty, for the worker's default, if there is none.
func homeOf(name string) string {
	u, err := user.Lookup(name)
	if err != nil {
		return ""
	}
	return u.HomeDir
}

// hint prints the settings that the workers need for the users of the jobs.
func (m *importer) hint() {
	if !m.keepUsers || len(m.users) == 0 {
		return
	}
	names, err := yaml.MarshalWithOptions(slices.Sorted(maps.Keys(m.users)), yaml.Flow(true))
	if err != nil {
		return // texts can always be encoded
	}
	fmt.Fprintf(m.c.stdout, `
These jobs run as the users of their lines on workers whose runAs file allows it,
and are refused (user_not_allowed) on others:

  groups:
    %s:
      users: %s
`, m.group, names)
}

// settings applies the defaults of time zone, user and home.
func (m *importer) settings() error {
	if !common.ValidGroup(m.group) {
		return invalid(fmt.Sprintf("%q is not a valid name of a group", common.Shorten(m.group)),
			"name a group, such as shop or shop/eu")
	}
	m.zoneFrom = "--timezone"
	switch {
	case m.zone == "":
		zone, from, err := machineZone(m.c.env["TZ"], m.etc)
		if err != nil {
			return err
		}
		m.zone, m.zoneFrom = zone, from
	case !known(m.zone):
		return common.Errorf(common.CodeInvalid,
			"--timezone %s is not a time zone; use a name like Europe/Berlin or UTC", common.Excerpt(m.zone))
	}
	me, err := user.Current()
	if m.as == "" {
		if err != nil {
			return common.Errorf(common.CodeInvalid, "cannot find your user name").WithCause(err).
				WithHint("name the workers' user with --as")
		}
		m.as = me.Username
	}
	if !m.keepHome {
		return nil
	}
	if err == nil && me.Username == m.as {
		m.home = me.HomeDir
	} else {
		m.home = homeOf(m.as)
	}
	return nil
}

func (m *importer) summary() error {
	w := m.c.stdout
	if m.faults > 0 && !m.skipFaults {
		fmt.Fprintf(w, "nothing was written: %s with faults (--skip-faults writes the others)\n",
			common.Count(m.faults, "line", "lines"))
		return exitError(exitUsage)
	}
	verb := func(step string) string {
		if m.dryRun {
			return step
		}
		return afterStep[step]
	}
	fmt.Fprintf(w, "%d %s, %d unchanged", m.created, verb(stepCreate), m.same)
	for _, one := range []struct {
		n    int
		what string
	}{
		{m.updated, verb(stepUpdate)},
		{m.overwritten, verb(stepOverwrite)},
		{m.different, "edited in Carillon and left alone (--overwrite replaces them)"},
		{m.conflicts, "in conflict and left alone (--overwrite replaces them)"},
	} {
		if one.n > 0 {
			fmt.Fprintf(w, ", %d %s", one.n, one.what)
		}
	}
	left := m.notTaken + m.faults
	fmt.Fprintf(w, ", %s left out\n", common.Count(left, "line", "lines"))
	if m.conflicts > 0 {
		return exitError(exitJobFailed)
	}
	if (left > 0 || m.unread) && !m.skipFaults {
		return exitError(exitJobFailed)
	}
	return nil
}
