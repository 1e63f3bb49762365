package crontab_test

import (
	"fmt"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/jobmgr/crontab"
)

var base = crontab.Options{Prefix: "file", Timezone: "UTC", User: "root"}

// brief formats notices for comparison: "3 fault: text".
func brief(r crontab.Result) []string {
	var out []string
	for _, n := range r.Notices {
		out = append(out, fmt.Sprintf("%d %s: %s", n.Line, n.Level, n.Text))
	}
	return out
}

func only(t *testing.T, text string, o crontab.Options) common.Job {
	t.Helper()
	r := crontab.Parse(text, o)
	if len(r.Entries) != 1 || r.Count(crontab.Fault) > 0 || r.Count(crontab.NotTaken) > 0 {
		t.Fatalf("%q: %d entries, notices %q", text, len(r.Entries), brief(r))
	}
	return r.Entries[0].Job
}

func TestParse_Schedules(t *testing.T) {
	for line, want := range map[string]string{
		"* * * * * c":                      "* * * * *",
		"*/15\t0-6/2  1,15 * * c":          "*/15 0-6/2 1,15 * *",
		"  5 4 * * sun c":                  "5 4 * * sun",
		"0 22 * * 1-5 c":                   "0 22 * * 1-5",
		"0 0 1 JAN-mar,Dec * c":            "0 0 1 JAN-mar,Dec *",
		"00 09 * * 7 c":                    "00 09 * * 7",
		"*/1 * * */1 */1 c":                "* * * * *",
		"0 0 */2 * * c":                    "0 0 */2 * *",
		"0 0 29 2 * c":                     "0 0 29 2 *",
		"0 0 31 2 1 c":                     "0 0 31 2 1", // the weekday alone may match
		"@daily c":                         "@daily",
		"@hourly c":                        "@hourly",
		"@annually\tc":                     "@annually",
		"@midnight c":                      "@midnight",
		"-*/15 * * * * c":                  "*/15 * * * *",
		"0,1,2,3-9/3 * * * * c # no such…": "0,1,2,3-9/3 * * * *",
	} {
		if got := only(t, line, base).CronExpr; got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestParse_ReportsLines(t *testing.T) {
	for line, want := range map[string]string{
		"60 * * * * c":             `1 fault: minute "60": 60 is not from 0 to 59`,
		"* 24 * * * c":             `1 fault: hour "24": 24 is not from 0 to 23`,
		"* * 0 * * c":              `1 fault: day of month "0": 0 is not from 1 to 31`,
		"* * * 13 * c":             `1 fault: month "13": 13 is not from 1 to 12`,
		"* * * * 8 c":              `1 fault: day of week "8": 8 is not from 0 to 7`,
		"50-10 * * * * c":          `1 not taken: minute "50-10": ends before it begins: Debian's cron and cronie accept that, and it matches nothing; write 50-59,0-10 for what goes on at the beginning`,
		"*/0 * * * * c":            `1 fault: minute "*/0": a step is a number from 1`,
		"1-5/x * * * * c":          `1 fault: minute "1-5/x": a step is a number from 1`,
		"5/15 * * * * c":           `1 fault: minute "5/15": a step needs a range, since crons read "5/15" in different ways; write 5 or 5-59/15`,
		"1,,2 * * * * c":           `1 fault: minute "1,,2": an item of the list is empty`,
		"* * * * sunday c":         `1 fault: day of week "sunday": "sunday" is not a value of it`,
		"* * * * nmo c":            `1 fault: day of week "nmo": "nmo" is not a value of it`,
		"-1 * * * * c":             "1 note: the leading '-' (do not write to the system log) is dropped",
		"H * * * * c":              `1 fault: minute "H": "H" is not a value of it`,
		"? * * * * c":              `1 fault: minute "?": "?" is not a value of it`,
		"0~30 * * * * c":           `1 note: minute "0~30" becomes H(0-30), a value that follows from the job's name and stays; cronie picks one when it reads the file, Debian's cron takes the first`,
		"* * *":                    `1 fault: has 3 of five fields and no command`,
		"* * * * *":                `1 not taken: has no command: cron would run an empty one, which does nothing`,
		"hello world":              `1 fault: minute "hello": "hello" is not a value of it`,
		"* * * * * * c":            `1 fault: has more than five fields: "*" would be the command`,
		"17 * * * * root cd / && ": `1 fault: the command begins with "root", as in the system format; read the file with --system`,
		"* * * * * %in":            `1 not taken: has no command: cron would run an empty one, which does nothing`,
		"@reboot c":                `1 not taken: @reboot: a job is not tied to one machine's start; use a systemd unit for it`,
		"@Daily c":                 `1 fault: cron knows "@Daily" in lower case only: @daily`,
		"@every 5m c":              `1 fault: "@every" is not a timetable that cron knows`,
		"0 0 31 2 * c":             `1 not taken: never fires: no such month has such a day`,
		"0 0 1 * 1 c":              `1 note: day of month and day of week are both set: it runs when either matches, as under cron`,
		"0 0 */2 * 1 c":            `1 not taken: day of month "*/2" and day of week "1" must both match under cron, since one of them begins with '*'; no schedule here does that: let one field choose the days, and the command check the other`,
		"* * * * * c\xff":          `1 not taken: is not text in UTF-8; convert the file, as with: iconv -f latin1 -t utf-8`,
		"* * * * * c\x00":          `1 fault: holds a NUL character`,
		"* * * * * c\r":            `1 note: lines end as on Windows; the carriage returns are dropped, which cron would make part of the commands`,
		"MAILTO=ops@example.com":   `1 note: MAILTO=ops@example.com: output is kept with each run and not mailed. For mail when a job fails: cronctl create channel ops --kind mail --to ops@example.com, and in the jobs notify: {to: [ops]}`,
		"LOGNAME=x":                `1 note: LOGNAME is ignored: it follows from the user that the command runs as`,
		"SHELL=bash":               `1 not taken: SHELL=bash is not an absolute path: cron looks for it where the command starts, and mostly does not find it; the lines below are left out until SHELL is set again`,
		"HOME=work":                `1 not taken: HOME=work is not an absolute path; the lines below are left out until HOME is set again`,
		"CRON_TZ=Mars/Base":        `1 not taken: CRON_TZ=Mars/Base is not a time zone (cronie would silently take UTC); write one like Europe/Berlin; the lines below are left out until CRON_TZ is set again`,
		"1A=x":                     `1 note: the variable "1A" is left out: names are letters, digits and '_' here; /bin/sh cannot read such a variable either`,
		"PATH=$PATH:/opt":          `1 note: PATH holds a '$', which neither cron nor Carillon expands`,
		`MAILTO=""`:                ``,
		"MAILTO=":                  ``,
	} {
		if got := strings.Join(brief(crontab.Parse(line, base)), "\n"); got != want {
			t.Errorf("%q:\n got %s\nwant %s", line, got, want)
		}
	}
}

func TestParse_Percent(t *testing.T) {
	for command, want := range map[string][2]string{
		`mail -s hi%Dear all,%%bye`:  {`mail -s hi`, "Dear all,\n\nbye\n"},
		`date +\%Y-\%m`:              {`date +%Y-%m`, ""},
		`cat %ends%`:                 {`cat`, "ends\n"},
		`cat%`:                       {`cat`, ""},
		`cat%a\%b%c`:                 {`cat`, "a%b\nc\n"},
		`echo a\\b \n`:               {`echo a\\b \n`, ""},
		`echo a\\%in`:                {`echo a\\`, "in\n"},
		`cat%a\\%b`:                  {`cat`, "a\\%b\n"},
		`cat%a\n\`:                   {`cat`, "a\\n\\\n"},
		`tail\`:                      {`tail\`, ""},
		`[ -x /usr/sbin/a ] && b; c`: {`[ -x /usr/sbin/a ] && b; c`, ""},
	} {
		job := only(t, "* * * * * "+command, base)
		if got := [2]string{job.Command, job.Stdin}; got != want {
			t.Errorf("%q: %q, want %q", command, got, want)
		}
	}
}

func TestParse_EnvironmentLines(t *testing.T) {
	for line, want := range map[string]string{
		`A=b`:               "b",
		`  A =  b c  `:      "b c",
		`A="b c "`:          "b c ",
		`A=' "b" '  `:       ` "b" `,
		`"A"='x'`:           "x",
		`A=b"c"`:            `b"c"`,
		`A=$B/x # no note…`: "$B/x # no note…",
		`A=`:                "",
		`A=x=y`:             "x=y",
	} {
		job := only(t, line+"\n* * * * * c\n", base)
		if got, set := job.Env["A"]; !set || got != want {
			t.Errorf("%q: %q (%v), want %q", line, got, set, want)
		}
	}
	for _, line := range []string{`A="b" c`, `A="b`, `A b=c`} {
		if r := crontab.Parse(line, base); r.Count(crontab.Fault) != 1 {
			t.Errorf("%q is not refused: %q", line, brief(r))
		}
	}
}

// An environment line applies to the lines below it only.
func TestSettings_ApplyToTheLinesBelow(t *testing.T) {
	o := base
	o.Timezone, o.Home = "Europe/Berlin", "/root"
	r := crontab.Parse(strings.Join([]string{
		"0 1 * * * one",
		"CRON_TZ=Asia/Tokyo", "SHELL=/bin/bash", "HOME=/srv/two", "X=1",
		"0 2 * * * two",
		"CRON_TZ=", "SHELL=", "HOME=", "X=2",
		"0 3 * * * FOO=bar three",
	}, "\n"), o)
	if len(r.Entries) != 3 || len(r.Notices) != 0 {
		t.Fatalf("entries %d, notices %q", len(r.Entries), brief(r))
	}
	for i, want := range []struct{ zone, shell, dir, home, x, command string }{
		{"Europe/Berlin", "", "/root", "/root", "", "one"},
		{"Asia/Tokyo", "/bin/bash", "/srv/two", "/srv/two", "1", "two"},
		{"Europe/Berlin", "", "/root", "/root", "2", "FOO=bar three"},
	} {
		j := r.Entries[i].Job
		if j.Timezone != want.zone || j.Shell != want.shell || j.WorkDir != want.dir || j.Env["HOME"] != want.home ||
			j.Env["X"] != want.x || j.Command != want.command {
			t.Errorf("line %d: %+v, want %+v", r.Entries[i].Line, j, want)
		}
	}
}

func TestSystemFormat_Users(t *testing.T) {
	o := base
	o.System = true
	r := crontab.Parse("0 1 * * *\troot\tone  two\n0 2 * * * www-data three\n0 3 * * * /usr/bin/four\n0 4 * * * root\n",
		o)
	if len(r.Entries) != 1 || r.Entries[0].Job.Command != "one  two" || r.Entries[0].Job.User != "root" {
		t.Errorf("entries %+v", r.Entries)
	}
	want := []string{
		"2 not taken: user www-data: the workers' user is root, and the users of the lines are not kept; " +
			"--keep-users keeps them",
		`3 fault: "/usr/bin/four" is not a user name; in the system format the user stands before the command`,
		"4 not taken: has no command: cron would run an empty one, which does nothing",
	}
	if got := brief(r); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("notices %q", got)
	}
}

func TestComments_DescribeTheNextLine(t *testing.T) {
	for text, want := range map[string]string{
		"# Look for old sessions\n":            "Look for old sessions",
		"## one\n#  two\n":                     "one\ntwo",
		"# far away\n\n":                       "",
		"# above a setting\nA=b\n":             "",
		"# m h  dom mon dow   command\n":       "",
		"# 5 4 * * * old\n":                    "",
		"#@daily old\n":                        "",
		"#A=b\n":                               "",
		"# --------\n# title\n":                "",
		"# a paragraph\n#\n# the last of it\n": "the last of it",
		"# 1\n# 2\n# 3\n# 4\n# 5\n# 6\n":       "",
		"# bell\a and \xff bytes\n":            "bell and bytes",
	} {
		if got := only(t, text+"0 0 * * * c\n", base).Description; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for line, want := range map[string]string{
		"cd / && run-parts --report /etc/cron.hourly":          "file-run-parts-",
		"test -x /usr/sbin/anacron || { cd / && run-parts x;}": "file-run-parts-",
		"[ -x /usr/lib/php/sessionclean ] && if [ ! -d /run/systemd/system ]; then /usr/lib/php/sessionclean; " +
			"fi": "file-sessionclean-",
		"command -v debian-sa1 > /dev/null && debian-sa1 1 1": "file-debian-sa1-",
		"A=1 nice -n19 /opt/Größe/Back_Up.SH x":               "file-back-up-sh-",
		"cd /srv":     "file-cd-",
		"中文":          "file-command-",
		"( ( ( ) ) )": "file-command-",
	} {
		job := only(t, "0 0 * * * "+line, base)
		if hash, found := strings.CutPrefix(job.Name, want); !found || len(hash) != 8 {
			t.Errorf("%q: name %q, want %q and a hash", line, job.Name, want)
		}
	}
	for file, want := range map[string]string{
		"/etc/cron.d/e2scrub_all": "e2scrub-all", "/etc/crontab": "crontab", "-": "crontab", "a..b.CRON": "a-b-cron",
		"…": "crontab",
	} {
		if got := crontab.PrefixOf(file); got != want {
			t.Errorf("prefix of %q: %q, want %q", file, got, want)
		}
	}
}

// The name of a job depends on its line only, so that a second import finds the jobs of the first one.
func TestNames_DoNotDependOnTheOrder(t *testing.T) {
	lines := []string{"0 1 * * * one", "0 2 * * * one", "0 1 * * * two", "X=1"}
	first := crontab.Parse(strings.Join(lines, "\n"), base)
	second := crontab.Parse("# new\n\n"+lines[2]+"\n"+lines[3]+"\n"+lines[1]+"\n"+lines[0]+"\n", base)
	names := map[string]string{}
	for _, e := range first.Entries {
		names[e.Job.Name] = e.Job.Title
	}
	if len(names) != 3 {
		t.Fatalf("names %v", names)
	}
	for _, e := range second.Entries {
		if names[e.Job.Name] != e.Job.Title {
			t.Errorf("%q is named %q the second time", e.Job.Title, e.Job.Name)
		}
	}
	twice := crontab.Parse("0 1 * * * one\n0 1 * * * one\n", base)
	if a, b := twice.Entries[0].Job.Name, twice.Entries[1].Job.Name; b != a+"-2" || twice.Count(crontab.Note) != 1 {
		t.Errorf("identical lines are named %q and %q, notices %q", a, b, brief(twice))
	}
}

func TestParse_Limits(t *testing.T) {
	if r := crontab.Parse(strings.Repeat("x", crontab.MaxBytes+1), base); r.Count(crontab.Fault) != 1 ||
		len(r.Notices) != 1 {
		t.Errorf("too many bytes: %q", brief(r))
	}
	r := crontab.Parse(strings.Repeat("* * * * * c\n", crontab.MaxEntries+100), base)
	if len(r.Entries) != crontab.MaxEntries || r.Count(crontab.Fault) != 1 {
		t.Errorf("too many entries: %d taken, %d faults", len(r.Entries), r.Count(crontab.Fault))
	}
	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, "V%d=x\n", i)
	}
	o := base
	o.Home = "/root"
	r = crontab.Parse(many.String()+"* * * * * c\n", o) // the job would lack variables
	if len(r.Entries) > 0 || r.Count(crontab.Fault) == 0 || r.Count(crontab.NotTaken) != 1 {
		t.Errorf("too many variables: %d entries, notices %d", len(r.Entries), len(r.Notices))
	}
	job := only(t, "* * * * * "+strings.Repeat("长", 1000), base)
	if faults := job.Faults(); len(faults) > 0 {
		t.Errorf("a long line: %v", faults)
	}
}
