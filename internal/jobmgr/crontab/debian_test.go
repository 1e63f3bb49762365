package crontab_test

import (
	"strings"
	"testing"

	"carillon/internal/jobmgr/crontab"
)

// Files of Debian machines, with the expected jobs.
var samples = []struct {
	file, text string
	jobs       []string // name, schedule, title or description
	notices    []string
}{
	{
		file: "/etc/crontab",
		text: `# /etc/crontab: system-wide crontab
# Unlike any other crontab, no command is needed
# to install the new version after an edit.

SHELL=/bin/sh
PATH=/usr/local/sbin:/usr/local/bin:/sbin:/bin:/usr/sbin:/usr/bin

# Example of a line:
# .---------------- minute (0 - 59)
# |  .------------- hour (0 - 23)
# |  |  .---------- day of month (1 - 31)
# *  *  *  *  * user-name command to be executed
17 *	* * *	root	cd / && run-parts --report /etc/cron.hourly
25 6	* * *	root	test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }
47 6	* * 7	root	test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.weekly; }
52 6	1 * *	root	test -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.monthly; }
#
`,
		jobs: []string{"run-parts-cron-hourly 17 * * * * ", "run-parts-cron-daily 25 6 * * * ",
			"run-parts-cron-weekly 47 6 * * 7 ", "run-parts-cron-monthly 52 6 1 * * "},
	},
	{
		file: "/etc/cron.d/e2scrub_all",
		text: "30 3 * * 0 root test -e /run/systemd/system || SERVICE_MODE=1 /usr/lib/x/e2scrub_all_cron\n10 3 * * * " +
			"root test -e /run/systemd/system || SERVICE_MODE=1 /sbin/e2scrub_all -A -r\n",
		jobs: []string{"e2scrub-all-cron 30 3 * * 0 ", "e2scrub-all 10 3 * * * "},
	},
	{
		file: "/etc/cron.d/sysstat",
		text: `# The first element of the path is a directory where the script lives
PATH=/usr/lib/sysstat:/usr/sbin:/usr/bin:/sbin:/bin

# Activity reports every 10 minutes everyday
5-55/10 * * * * root command -v debian-sa1 > /dev/null && debian-sa1 1 1

# Additional run at 23:59 to rotate the statistics file
59 23 * * * root command -v debian-sa1 > /dev/null && debian-sa1 60 2
`,
		jobs: []string{
			"sysstat-debian-sa1 5-55/10 * * * * Activity reports every 10 minutes everyday",
			"sysstat-debian-sa1-2 59 23 * * * Additional run at 23:59 to rotate the statistics file",
		},
		notices: []string{"5 note: if command -v debian-sa1", "8 note: if command -v debian-sa1"},
	},
	{
		file: "/etc/cron.d/php",
		text: `# /etc/cron.d/php: crontab fragment for PHP
#  This purges session files older than the configured lifetime.

# Look for and purge old sessions every 30 minutes
09,39 *     * * *     root   [ -x /usr/lib/php/sessionclean ] && if [ ! -d /run/systemd/system ]; then /usr/lib/php/sessionclean; fi
`,
		jobs:    []string{"php-sessionclean 09,39 * * * * Look for and purge old sessions every 30 minutes"},
		notices: []string{"5 note: if [ -x /usr/lib/php/sessionclean ] fails"},
	},
	{
		file: "/etc/cron.d/anacron",
		text: `# /etc/cron.d/anacron: crontab entries for the anacron package

SHELL=/bin/sh

30 7-23 * * *   root	[ -x /etc/init.d/anacron ] && if [ ! -d /run/systemd/system ]; then /usr/sbin/invoke-rc.d anacron start >/dev/null; fi
`,
		jobs:    []string{"anacron-invoke-rc-d-anacron 30 7-23 * * * "},
		notices: []string{"5 note: if [ -x /etc/init.d/anacron ] fails"},
	},
	{
		file: "/etc/cron.d/certbot",
		text: `# Upstream recommends attempting renewal twice a day
#
# Important note: this job is not run under systemd.
SHELL=/bin/sh
PATH=/usr/local/sbin:/usr/local/bin:/sbin:/bin:/usr/sbin:/usr/bin

0 */12 * * * root test -x /usr/bin/certbot -a \! -d /run/systemd/system && perl -e 'sleep int(rand(43200))' && certbot -q renew --no-random-sleep-on-renew
`,
		jobs:    []string{"certbot-renew 0 */12 * * * "},
		notices: []string{`7 note: if test -x /usr/bin/certbot -a \! -d /run/systemd/system fails`},
	},
	{
		file: "/etc/cron.d/popularity-contest",
		text: "SHELL=/bin/sh\nPATH=/usr/sbin:/usr/bin:/sbin:/bin\n38 0 * * *   root    test -x " +
			"/etc/cron.daily/popularity-contest && /etc/cron.daily/popularity-contest --crond\n",
		jobs:    []string{"popularity-contest 38 0 * * * "},
		notices: []string{"3 note: if test -x /etc/cron.daily/popularity-contest fails"},
	},
	{
		file: "/etc/cron.d/mdadm",
		text: "# By default, run at 00:57 on every Sunday, but do nothing unless the day of\n# the month is less " +
			"than or equal to 7.\n57 0 * * 0 root if [ -x /usr/share/mdadm/checkarray ] && [ $(date +\\%d) -le 7 ]; " +
			"then /usr/share/mdadm/checkarray --cron --all --idle --quiet; fi\n",
		jobs: []string{"mdadm-checkarray 57 0 * * 0 By default, run at 00:57 on every Sunday, but do nothing unless " +
			"the day of\nthe month is less than or equal to 7."},
	},
	{
		file: "/etc/cron.d/munin-node",
		text: "MAILTO=root\n\n@reboot root  if [ ! -d /var/run/munin ]; then mkdir /var/run/munin; fi\n*/5 * * * *   " +
			"  munin if [ -x /usr/bin/munin-cron ]; then /usr/bin/munin-cron; fi\n14 10 * * *     root " +
			"/usr/share/munin/munin-limits --force\n",
		jobs:    []string{"munin-node-munin-limits 14 10 * * * "},
		notices: []string{"1 note: MAILTO=root", "3 skipped: @reboot", "4 skipped: user munin"},
	},
}

func TestParse_DebianFiles(t *testing.T) {
	for _, s := range samples {
		t.Run(s.file, func(t *testing.T) {
			o := crontab.Options{Prefix: crontab.PrefixOf(s.file), System: true, Timezone: "UTC", User: "root"}
			r := crontab.Parse(s.text, o)
			if len(r.Entries) != len(s.jobs) {
				t.Fatalf("%d jobs, want %d; notices %q", len(r.Entries), len(s.jobs), brief(r))
			}
			for i, e := range r.Entries {
				if got := e.Job.Name + " " + e.Job.CronExpr + " " + e.Job.Title + e.Job.Description; got != s.jobs[i] {
					t.Errorf("line %d: %q, want %q", e.Line, got, s.jobs[i])
				}
				if faults := e.Job.Faults(); len(faults) > 0 {
					t.Errorf("line %d: %v", e.Line, faults)
				}
			}
			got := brief(r)
			if len(got) != len(s.notices) {
				t.Fatalf("notices %q, want %q", got, s.notices)
			}
			for i := range got {
				if !strings.HasPrefix(got[i], s.notices[i]) {
					t.Errorf("notice %q, want %q", got[i], s.notices[i])
				}
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range samples {
		f.Add(s.text, true)
		f.Add(s.text, false)
	}
	f.Add("CRON_TZ=UTC\r\n* * * * * a%b\\%c\\", false)
	f.Add("5-1,1~3/2,*/99,3 * * * fri-sun [ -x a ] && b\nRANDOM_DELAY=9\nHOME=a\n* * * * * \xff", true)
	f.Add("-0 0 */2 * mon-fri A=1 x\n@every\n=\n'\n\"a\"=\"b\n5~9 * * * * c", false)
	f.Fuzz(func(t *testing.T, text string, system bool) {
		o := crontab.Options{Prefix: "fuzz", System: system, Timezone: "UTC", User: "root", Home: "/root"}
		r := crontab.Parse(text, o)
		lines := strings.Count(text, "\n") + 1
		if len(r.Entries) > lines || len(r.Notices) > 30*lines {
			t.Fatalf("%d lines gave %d entries and %d notices", lines, len(r.Entries), len(r.Notices))
		}
		seen := map[string]bool{}
		for _, e := range r.Entries {
			if seen[e.Job.Name] {
				t.Fatalf("two jobs are named %q", e.Job.Name)
			}
			seen[e.Job.Name] = true
			for _, fault := range e.Job.Faults() {
				// These depend on the text of command or variables only, and are reported by the server.
				switch fault.Code {
				case "too_large", "env_reserved", "env_name", "path", "control", "too_long":
				default:
					t.Fatalf("line %d of %q: %+v", e.Line, text, fault)
				}
			}
		}
	})
}
