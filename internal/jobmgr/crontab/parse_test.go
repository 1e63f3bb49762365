package crontab_test

import (
	"fmt"
	"io"
	"strconv"
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
		"50-10 * * * * c":          `1 skipped: minute "50-10": is reversed: Debian's cron and cronie accept it, but it matches nothing; write 50-59,0-10 to wrap around`,
		"*/0 * * * * c":            `1 fault: minute "*/0": a step is a number from 1`,
		"1-5/x * * * * c":          `1 fault: minute "1-5/x": a step is a number from 1`,
		"5/15 * * * * c":           `1 fault: minute "5/15": a step needs a range, since crons read "5/15" in different ways; write 5 or 5-59/15`,
		"1,,2 * * * * c":           `1 fault: minute "1,,2": an item of the list is empty`,
		"* * * * sunday c":         `1 fault: day of week "sunday": "sunday" is not a value of it`,
		"* * * * nmo c":            `1 fault: day of week "nmo": "nmo" is not a value of it`,
		"-1 * * * * c":             "1 note: the leading '-' (no entry in the system log) is ignored",
		"H * * * * c":              `1 fault: minute "H": "H" is not a value of it`,
		"? * * * * c":              `1 fault: minute "?": "?" is not a value of it`,
		"0~30 * * * * c":           `1 note: minute "0~30" becomes H(0-30), a fixed value derived from the job's name; cronie picks one when it reads the file, Debian's cron takes the first`,
		"* * *":                    `1 fault: 3 of five fields, and no command`,
		"* * * * *":                `1 skipped: no command: cron would run an empty one`,
		"hello world":              `1 fault: minute "hello": "hello" is not a value of it`,
		"* * * * * * c":            `1 fault: more than five fields: "*" would be the command`,
		"17 * * * * root cd / && ": `1 fault: the command begins with "root", as in the system format; read the file with --system`,
		"* * * * * %in":            `1 skipped: no command: cron would run an empty one`,
		"@reboot c":                `1 skipped: @reboot has no equivalent, since a job is not tied to one machine; use a systemd unit`,
		"@Daily c":                 `1 fault: cron accepts "@Daily" only in lower case: @daily`,
		"@every 5m c":              `1 fault: "@every" is not a schedule that cron accepts`,
		"0 0 31 2 * c":             `1 skipped: never fires: no such month has such a day`,
		"0 0 1 * 1 c":              `1 note: day of month and day of week are both set: it runs when either matches, as under cron`,
		"0 0 */2 * 1 c":            `1 skipped: day of month "*/2" and day of week "1" must both match under cron, since one begins with '*'; Carillon has no equivalent: restrict one of them, and test the other in the command`,
		"* * * * * c\xff":          `1 skipped: is not valid UTF-8; convert the file, for example with: iconv -f latin1 -t utf-8`,
		"* * * * * c\x00":          `1 fault: contains a NUL character`,
		"* * * * * c\r":            `1 note: lines end as on Windows; the carriage returns are dropped, which cron would make part of the commands`,
		"MAILTO=ops@example.com":   `1 note: MAILTO=ops@example.com: what the jobs below print is mailed, as under cron`,
		"MAILTO=root":              `1 note: MAILTO=root is no mail address, so the jobs below notify no one; write it as in root@example.com`,
		"LOGNAME=x":                `1 note: LOGNAME is ignored: it is set from the user that runs the command`,
		"SHELL=bash":               `1 skipped: SHELL=bash is not an absolute path, so cron would rarely find it; the lines below are skipped until SHELL is set again`,
		"HOME=work":                `1 skipped: HOME=work is not an absolute path; the lines below are skipped until HOME is set again`,
		"CRON_TZ=Mars/Base":        `1 skipped: CRON_TZ=Mars/Base is not a time zone (cronie would silently use UTC); use a name such as Europe/Berlin; the lines below are skipped until CRON_TZ is set again`,
		"1A=x":                     `1 note: the variable "1A" is ignored: names consist of letters, digits and '_'; /bin/sh cannot read it either`,
		"PATH=$PATH:/opt":          `1 note: PATH contains '$', which neither cron nor Carillon expands`,
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
		"2 skipped: user www-data: the workers run as root; --keep-users imports the lines of all users",
		`3 fault: "/usr/bin/four" is not a user name; the system format has the user before the command`,
		"4 skipped: no command: cron would run an empty one",
	}
	if got := brief(r); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("notices %q", got)
	}
}

func TestComments_AreTitlesOfTheNextLine(t *testing.T) {
	for text, want := range map[string][2]string{
		"# Look for old sessions:\n":               {"Look for old sessions"},
		"## one\n#  two\n":                         {"one two"},
		"# One.\n# Two, with details\n":            {"One", "One.\nTwo, with details"},
		"# far away\n\n":                           {},
		"# above a setting\nA=b\n":                 {},
		"# m h  dom mon dow   command\n":           {},
		"# 5 4 * * * old\n":                        {},
		"#@daily old\n":                            {},
		"#A=b\n":                                   {},
		"# --------\n# title\n":                    {},
		"# a paragraph\n#\n# the last of it\n":     {"the last of it"},
		"# 1\n# 2\n# 3\n# 4\n# 5\n# 6\n":           {},
		"# bell\a and \xff bytes\n":                {"bell and bytes"},
		"# 夜间报表\n":                                 {"夜间报表"},
		"# " + strings.Repeat("long ", 50) + "\n":  {"", strings.TrimSpace(strings.Repeat("long ", 50))},
		"# Reports for the\n# sales department\n":  {"Reports for the sales department"},
		"# " + strings.Repeat("x", 90) + "\n# y\n": {"", strings.Repeat("x", 90) + "\ny"},
	} {
		job := only(t, text+"0 0 * * * c\n", base)
		if got := [2]string{job.Title, job.Description}; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	for line, want := range map[string]string{
		"cd / && run-parts --report /etc/cron.hourly":          "file-run-parts-cron-hourly",
		"test -x /usr/sbin/anacron || { cd / && run-parts x;}": "file-run-parts-x",
		"[ -x /usr/lib/php/sessionclean ] && if [ ! -d /run/systemd/system ]; then /usr/lib/php/sessionclean; " +
			"fi": "file-sessionclean",
		"command -v debian-sa1 > /dev/null && debian-sa1 1 1": "file-debian-sa1",
		"A=1 nice -n19 /opt/Größe/Back_Up.SH x":               "file-back-up",
		"cd /srv":     "file-cd",
		"中文":          "file-command",
		"( ( ( ) ) )": "file-command",
		"make report": "file-make-report",
		"/usr/bin/python3 -u /srv/sync_orders.py --all >> /var/log/s.log 2>&1": "file-sync-orders",
		"php /var/www/artisan schedule:run >/dev/null 2>&1":                    "file-artisan-schedule-run",
		"bash -lc 'a b'": "file-a",
		"flock -n /tmp/a.lock /usr/local/bin/backup.sh": "file-backup",
		"curl -fsS https://example.com/cron?key=1":      "file-curl-example-com",
		"timeout 30m rsync -a /srv host:/srv":           "file-rsync",
		"file-report":                                   "file-report",
		"/usr/bin/file":                                 "file",
	} {
		if got := only(t, "0 0 * * * "+line, base).Name; got != want {
			t.Errorf("%q: name %q, want %q", line, got, want)
		}
	}
	o := base
	o.Prefix = "crontab"
	if got := only(t, "0 0 * * * make report", o).Name; got != "make-report" {
		t.Errorf("name %q in a user's crontab", got)
	}
	for text, want := range map[string]string{
		"# Clean temporary files\n0 5 * * * find /tmp -delete":              "clean-temporary-files",
		"# Daily report\n0 3 * * * make report":                             "make-report",
		"# 清理\n0 5 * * * find /tmp -delete":                                 "find",
		"# Keep the archives of the last thirty days only\n0 5 * * * tar c": "keep-the-archives-of-the-last-thirty",
	} {
		if got := only(t, text, o).Name; got != want {
			t.Errorf("name %q of %q, want %q", got, text, want)
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

// The mark of a job depends on its line only, so that a second import finds the jobs of the first one.
func TestMarks_DoNotDependOnTheOrder(t *testing.T) {
	lines := []string{"0 1 * * * one", "0 2 * * * one", "0 1 * * * two", "X=1"}
	first := crontab.Parse(strings.Join(lines, "\n"), base)
	second := crontab.Parse("# new\n\n"+lines[2]+"\n"+lines[3]+"\n"+lines[1]+"\n"+lines[0]+"\n", base)
	marks := map[string]string{}
	for _, e := range first.Entries {
		marks[crontab.Key(e.Job.Labels)] = e.Job.CronExpr + e.Job.Command
	}
	if len(marks) != 3 {
		t.Fatalf("marks %v", marks)
	}
	for _, e := range second.Entries {
		if marks[crontab.Key(e.Job.Labels)] != e.Job.CronExpr+e.Job.Command {
			t.Errorf("%q has the mark %v the second time", e.Job.Command, e.Job.Labels)
		}
	}
	if a, b := first.Entries[0].Job.Name, first.Entries[1].Job.Name; a != "file-one" || b != "file-one-2" {
		t.Errorf("two lines of one program are named %q and %q", a, b)
	}
	twice := crontab.Parse("0 1 * * * one\n0 1 * * * one\n", base)
	a, b := crontab.Key(twice.Entries[0].Job.Labels), crontab.Key(twice.Entries[1].Job.Labels)
	if b != a+"-2" || twice.Count(crontab.Note) != 1 {
		t.Errorf("identical lines have the marks %q and %q, notices %q", a, b, brief(twice))
	}
}

// Jobs of versions before there were marks have names by another rule, which stays.
func TestNamer_EarlierNames_AreStillFound(t *testing.T) {
	for line, program := range map[string]string{
		"nice -n 19 /opt/x.sh":                "19",
		"bash -lc '/opt/x.sh --all'":          "bash",
		"sudo -u www-data php /srv/cron.php":  "www-data",
		"/usr/bin/env python3 /srv/import.py": "env",
		"cd /srv && > /dev/null ./x.sh":       "command",
		"flock -n /tmp/l sh -c 'a; b'":        "flock",
		"for i in 1 2; do /opt/x.sh; done":    "i",
		"echo begin; /opt/x.sh":               "echo",
		"date >> /tmp/log":                    "date",
		"$(which php) /srv/a.php":             "x",
		"timeout 5m /opt/x.sh":                "timeout",
	} {
		e := &crontab.Parse("0 1 * * * "+line+"\n", base).Entries[0]
		want := "file-" + program + "-" + e.Job.Labels[crontab.LineLabel]
		n := crontab.Namer{Taken: func(name string) (bool, error) { return name == want, nil }}
		if err := n.Name(e); err != nil || e.Job.Name != want || !e.Imported {
			t.Errorf("%s: name %s, %v, want %s", line, e.Job.Name, err, want)
		}
	}
}

// An entry has the name of the job that was imported from its line, also of one from before lines had marks.
func TestNamer_FindsEarlierImports(t *testing.T) {
	r := crontab.Parse("# One\n0 1 * * * one\n0 2 * * * two\n0 3 * * * three\n0 4 * * * three\n", base)
	existing := map[string]bool{"renamed": true, "file-three": true}
	n := crontab.Namer{
		Imported: map[string]string{crontab.Key(r.Entries[0].Job.Labels): "renamed"},
		Taken: func(name string) (bool, error) {
			// The second one has a name of the earlier form, whose mark is that of the line.
			return existing[name] || name == "file-two-"+r.Entries[1].Job.Labels[crontab.LineLabel], nil
		},
	}
	var names []string
	for i := range r.Entries {
		if err := n.Name(&r.Entries[i]); err != nil {
			t.Fatal(err)
		}
		names = append(names, fmt.Sprintf("%s %v", r.Entries[i].Job.Name, r.Entries[i].Imported))
	}
	mark := r.Entries[1].Job.Labels[crontab.LineLabel]
	want := "renamed true, file-two-" + mark + " true, file-three-2 false, file-three-3 false"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("names %s, want %s", got, want)
	}
	job := r.Entries[0].AsBefore(r.Entries[0].Job)
	if job.Title != "0 1 * * * one" || job.Description != "One" || len(job.Labels) != 1 {
		t.Errorf("as before: %+v", job)
	}
	failing := crontab.Namer{Taken: func(string) (bool, error) { return false, io.ErrUnexpectedEOF }}
	if err := failing.Name(&r.Entries[2]); err != io.ErrUnexpectedEOF {
		t.Errorf("error %v", err)
	}
}

func TestMailTo(t *testing.T) {
	r := crontab.Parse("0 1 * * * one\nMAILTO=ops@example.com\n0 2 * * * two\nMAILTO=\"\"\n0 3 * * * three\n", base)
	var got []string
	for _, e := range r.Entries {
		if e.MailTo == nil {
			got = append(got, "unset")
		} else {
			got = append(got, strconv.Quote(*e.MailTo))
		}
	}
	if s := strings.Join(got, " "); s != `unset "ops@example.com" ""` {
		t.Errorf("MAILTO is %s", s)
	}
}

func TestRedirectedOutputIsNoticed(t *testing.T) {
	r := crontab.Parse("0 1 * * * one >> /var/log/one 2>&1\n0 1 * * * two > /dev/null\n", base)
	if len(r.Notices) != 1 || r.Notices[0].Code != "redirected" || r.Notices[0].Line != 1 ||
		r.Notices[0].Value != ">> /var/log/one 2>&1" {
		t.Errorf("notices %+v", r.Notices)
	}
}

func TestCommandsThatFollowEachOther_AreNoticed(t *testing.T) {
	for command, want := range map[string]string{
		"./extract.sh && ./load.sh":                   "2",
		"backup --all && rsync -a /b h:/b && rm /b/x": "3",
		`mail -s "a && b" ann && ./load.sh`:           "2",
		"./a.sh > /dev/null && ./b.sh 2>&1":           "2",
		"cd /srv && ./load.sh":                        "",
		"[ -x /bin/a ] && /bin/a && /bin/b":           "",
		"./a || ./b && ./c":                           "",
		"./a && (./b; ./c)":                           "",
		"./a && ./b | mail ann":                       "",
		"./a && ./b &":                                "",
		"./a &&":                                      "",
		"DAY=1 && ./b":                                "",
		"./a.sh":                                      "",
	} {
		got := ""
		for _, n := range crontab.Parse("0 1 * * * "+command+"\n", base).Notices {
			if n.Code == "chain" {
				got = n.Value
				if !strings.Contains(n.Text, "steps of a flow") || !strings.Contains(n.Text, "field after") {
					t.Errorf("the hint names no way: %s", n.Text)
				}
			}
		}
		if got != want {
			t.Errorf("%s: %q commands are noticed, want %q", command, got, want)
		}
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
