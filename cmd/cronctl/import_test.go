package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"carillon/internal/notify"
)

const userTab = `# m h  dom mon dow   command
SHELL=/bin/bash
MAILTO=ops@example.com
# Save the photos
30 2 * * * cd photos && ./save --all
CRON_TZ=Europe/Berlin
0 9 * * mon-fri mail -s Hello team%Good morning,%it is \%A
@reboot ./start-agent
`

func TestImportTwiceChangesNothing(t *testing.T) {
	s := newStage(t)
	s.stdin = userTab
	importing := []string{"import-crontab", "-", "--as", "ann", "--home", "/home/ann"}

	s.run(append(importing, "--dry-run")...).want(t, exitJobFailed,
		"standard input (user format, time zone Asia/Tokyo from TZ, commands start in /home/ann)",
		"line 3", "note", "MAILTO=ops@example.com: what the jobs below print is mailed",
		"what it prints goes to the new channel mail-ops-example-com (ops@example.com)", "line 8", "@reboot",
		"to create", "2 to create, 0 unchanged, 1 line left out")
	if s.writes != 0 {
		t.Fatalf("a dry run wrote %d jobs", s.writes)
	}

	s.run(importing...).want(t, exitJobFailed, "2 created, 0 unchanged, 1 line left out")
	if s.writes != 2 {
		t.Fatalf("%d jobs were written", s.writes)
	}
	for name, state := range s.jobs {
		j := state.Job
		switch {
		case name == "save":
			if j.CronExpr != "30 2 * * *" || j.Timezone != "Asia/Tokyo" || j.Shell != "/bin/bash" ||
				j.WorkDir != "/home/ann" || j.Env["HOME"] != "/home/ann" || j.Title != "Save the photos" ||
				j.Group != "crontab" {
				t.Errorf("%+v", j)
			}
		case name == "mail":
			if j.Timezone != "Europe/Berlin" || j.Command != "mail -s Hello team" ||
				j.Stdin != "Good morning,\nit is %A\n" {
				t.Errorf("%+v", j)
			}
		default:
			t.Errorf("job %q", name)
		}
	}

	s.run(append(importing, "--skip-faults")...).want(t, exitOK, "0 created, 2 unchanged, 1 line left out")
	if s.writes != 2 {
		t.Errorf("the second import wrote %d jobs", s.writes-2)
	}
}

func TestImportLeavesEditedJobsAlone(t *testing.T) {
	s := newStage(t)
	s.stdin = "0 1 * * * one\n0 2 * * * two\n"
	importing := []string{"import-crontab", "-", "--as", "ann", "--home", ""}
	s.run(importing...).want(t, exitOK, "2 created")
	for name, state := range s.jobs {
		if state.Command == "one" {
			state.Timeout = "5m"
			s.jobs[name] = state
		}
	}
	s.run(importing...).want(t, exitOK, "edited", "0 created, 1 unchanged, 1 edited since and left alone")
	s.run(append(importing, "--overwrite", "--dry-run")...).want(t, exitOK, "1 to overwrite")
	if s.writes != 2 {
		t.Errorf("%d writes, want 2", s.writes)
	}
	s.run(append(importing, "--overwrite")...).want(t, exitOK, "overwritten", "0 created, 1 unchanged, 1 overwritten")
	for _, state := range s.jobs {
		if state.Timeout != "" || state.WorkDir != "" {
			t.Errorf("%+v", state.Job)
		}
	}
	if s.writes != 3 {
		t.Errorf("%d writes, want 3", s.writes)
	}
}

// Jobs are recognized by their lines: under another name, and from before they had marks.
func TestImportRecognizesRenamedJobs(t *testing.T) {
	s := newStage(t)
	s.stdin = "# One\n0 1 * * * one\n0 2 * * * two\n"
	importing := []string{"import-crontab", "-", "--as", "ann", "--home", ""}
	s.run(importing...).want(t, exitOK, "2 created")
	one, two := s.jobs["one"], s.jobs["two"]
	delete(s.jobs, "one")
	delete(s.jobs, "two")
	one.Name = "renamed"
	s.jobs["renamed"] = one
	two.Name = "crontab-two-" + two.Labels["crontab-line"]
	two.Title = "0 2 * * * two"
	delete(two.Labels, "crontab-line")
	s.jobs[two.Name] = two
	s.run(importing...).want(t, exitOK, "renamed ", two.Name, "0 created, 2 unchanged")
	// A line whose name is taken gets another one.
	s.stdin = "0 5 * * * renamed --all\n"
	s.run(importing...).want(t, exitOK, "renamed-2 ", "1 created")
}

func TestImportNotifiesInPlaceOfMail(t *testing.T) {
	s := newStage(t)
	s.stdin = "0 1 * * * one\nMAILTO=ops@example.com\n0 2 * * * two\nMAILTO=\n0 3 * * * three\n"
	s.run("import-crontab", "-", "--as", "ann", "--notify", "ops").want(t, exitOK, "3 created")
	for name, want := range map[string]bool{"one": true, "two": true, "three": false} {
		if n := s.jobs[name].Notify; (n != nil) != want || want && (len(n.On) != 3 || n.To[0] != "ops") {
			t.Errorf("%s notifies %+v", name, n)
		}
	}
}

// As under cron, jobs mail what they print to the addresses above them.
func TestImportMailsOutput(t *testing.T) {
	s := newStage(t)
	s.stdin = "0 1 * * * one\nMAILTO=ops@example.com\n0 2 * * * two\nMAILTO=\n0 3 * * * three\n" +
		"MAILTO=boss@example.com\n0 4 * * * four\n0 5 * * * five\n"
	s.channels.kept["managers"] = notify.ChannelDefinition{Kind: "mail", To: []string{"boss@example.com"}}
	importing := []string{"import-crontab", "-", "--as", "ann"}
	s.run(append(importing, "--dry-run")...).want(t, exitOK, "5 to create",
		"what it prints goes to the new channel mail-ops-example-com (ops@example.com)",
		"what it prints goes to channel managers", "note: the server sends no mail: set smtpHost and smtpFrom")
	if len(s.channels.kept) != 1 {
		t.Fatalf("a dry run created channels: %v", s.channels.kept)
	}
	s.run(importing...).want(t, exitOK, "created channel mail-ops-example-com (ops@example.com)", "5 created")
	for name, want := range map[string]string{"one": "", "two": "mail-ops-example-com", "three": "", "four": "managers",
		"five": "managers"} {
		n := s.jobs[name].Notify
		if (n != nil) != (want != "") || want != "" && (n.To[0] != want || len(n.On) != 1 || n.On[0] != "output") {
			t.Errorf("%s notifies %+v, want %q", name, n, want)
		}
	}
	if c := s.channels.kept["mail-ops-example-com"]; c.Kind != notify.KindMail ||
		!slices.Equal(c.To, []string{"ops@example.com"}) {
		t.Errorf("created %+v", c)
	}
	s.run(importing...).want(t, exitOK, "0 created, 5 unchanged")
	s.stdin = "MAILTO=ops@example.com\n0 6 * * * six\n"
	s.run(append(importing, "--no-mail")...).want(t, exitOK, "1 created")
	if n := s.jobs["six"].Notify; n != nil {
		t.Errorf("notifies %+v with --no-mail", n)
	}
}

func TestImportWritesAllOrNothing(t *testing.T) {
	s := newStage(t)
	// The first fault is cron's; the others are the server's, which knows what a job may hold.
	s.stdin = "0 1 * * * fine\n61 * * * * broken\nCARILLON_RUN_ID=x\n0 2 * * * reserved\n"
	s.run("import-crontab", "-", "--as", "ann").want(t, exitUsage, "line 2", "61 is not from 0 to 59", "line 4",
		"env.CARILLON_RUN_ID", "to create", "nothing was written: 2 lines with faults")
	s.stdin = "0 1 * * * fine\nCARILLON_RUN_ID=x\n0 2 * * * reserved\n"
	s.run("import-crontab", "-", "--as", "ann").want(t, exitUsage, "line 3", "nothing was written: 1 line with faults")
	if s.writes != 0 {
		t.Errorf("%d jobs were written", s.writes)
	}
}

func TestImportLeavesFaultsOutWhenAsked(t *testing.T) {
	s := newStage(t)
	s.stdin = "0 1 * * * fine\n61 * * * * broken\n@reboot agent\nCARILLON_RUN_ID=x\n0 2 * * * reserved\n"
	s.run("import-crontab", "-", "--as", "ann", "--skip-faults", "--dry-run").want(t, exitOK,
		"1 to create, 0 unchanged, 3 lines left out")
	if s.writes != 0 {
		t.Errorf("a dry run wrote %d jobs", s.writes)
	}
	s.run("import-crontab", "-", "--as", "ann", "--skip-faults").want(t, exitOK,
		"line 2  fault", "line 3  skipped", "line 5  fault", "1 created, 0 unchanged, 3 lines left out")
	if s.writes != 1 || len(s.jobs) != 1 {
		t.Errorf("%d writes, jobs %v", s.writes, s.jobs)
	}
	s.stdin = "@reboot agent\n"
	s.run("import-crontab", "-", "--as", "ann").want(t, exitJobFailed, "0 created, 0 unchanged, 1 line left out")
}

func TestImportKeepsUsers(t *testing.T) {
	s := newStage(t)
	tab := file(t, "tab",
		"HOME=\n0 1 * * * root one\n0 2 * * * no-such-user two\nHOME=/srv\n0 3 * * * no-such-user three\n")
	s.run("import-crontab", tab, "--system", "--keep-users", "--timezone", "UTC").want(t, exitOK,
		"commands start in the home of their user",
		"3 created, 0 unchanged, 0 lines left out", "runAs", "    crontab:\n      users: [no-such-user, root]\n")
	s.stdin = "0 4 * * * four\n"
	s.run("import-crontab", "-", "--keep-users", "--as", "no-such-user", "--timezone", "UTC").want(t, exitOK,
		"users: [no-such-user]")
	s.stdin = "0 5 * * * five\n"
	s.run("import-crontab", "-", "--keep-users", "--as", "root", "--home", "/data").want(t, exitOK,
		"commands start in /data")
	for command, want := range map[string][2]string{ // user, workDir
		"one": {"root", "/root"}, "two": {"no-such-user", ""}, "three": {"no-such-user", "/srv"},
		"four": {"no-such-user", ""}, "five": {"root", "/data"},
	} {
		found := false
		for _, j := range s.jobs {
			if j.Command == command {
				found = true
				if got := [2]string{j.User, j.WorkDir}; got != want || j.Env["HOME"] != want[1] {
					t.Errorf("%s: %v, HOME %q, want %v", command, got, j.Env["HOME"], want)
				}
			}
		}
		if !found {
			t.Errorf("%s is missing", command)
		}
	}
	for path, want := range map[string]string{
		"/var/spool/cron/crontabs/ann": "ann",
		"/var/spool/cron/bob":          "bob",
		"/etc/crontabs/root":           "root",
		"/tmp/ann":                     "",
	} {
		if got := sourceOf(path).owner; got != want {
			t.Errorf("%s belongs to %q, want %q", path, got, want)
		}
	}
}

func TestImportOfFilesAndFolders(t *testing.T) {
	s := newStage(t)
	dir := t.TempDir()
	for name, text := range map[string]string{
		"sysstat":       "PATH=/usr/bin\n5-55/10 * * * * root sa1 1 1\n59 23 * * * root sa1 60 2\n",
		"web":           "0 4 * * * www-data clean\n",
		"old.dpkg-dist": "x", ".placeholder": "x", "README": "x",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	tab := file(t, "crontab", "17 * * * * root cd / && run-parts /etc/cron.hourly\n")
	s.run("import-crontab", tab, dir, "--system", "--as", "root", "--timezone", "UTC").want(t, exitJobFailed,
		"system format, time zone UTC from --timezone", "sysstat-sa1 ", "run-parts-cron-hourly ",
		"user www-data: the workers run as root", "--keep-users imports",
		"skipped "+filepath.Join(dir, "old.dpkg-dist"), "README: is documentation", "folder: is not a regular file",
		"3 created, 0 unchanged, 1 line left out")
	if len(s.jobs) != 3 {
		t.Errorf("%d jobs", len(s.jobs))
	}
	for _, state := range s.jobs {
		if state.User != "root" {
			t.Errorf("user %q", state.User)
		}
	}
	// The same line from two files of one name.
	twin := file(t, "crontab", "17 * * * * root cd / && run-parts /etc/cron.hourly\n")
	s.run("import-crontab", tab, twin, "--system", "--as", "root").want(t, exitUsage, "would be the same job",
		"--prefix")
	s.run("import-crontab", twin, "--system", "--as", "root", "--prefix", "other", "--timezone", "UTC").want(t, exitOK,
		"other-run-parts-cron-hourly ", "1 created")
	s.run("import-crontab", tab, "--as", "root").want(t, exitUsage, "--system")
	s.run("import-crontab", "/no/such").want(t, exitUsage, "crontab -l")
	s.run("import-crontab", tab, "--timezone", "Mars").want(t, exitUsage, "is not a time zone")
}

func TestImportMerge_LinesOfOneCommand_BecomeOneJob(t *testing.T) {
	s := newStage(t)
	s.stdin = "0 1 * * * one\n0 2 * * * two\n30 1 * * * one\n"
	importing := []string{"import-crontab", "-", "--as", "ann", "--home", "", "--merge"}
	s.run(importing...).want(t, exitOK, "one  0 1 * * *; 30 1 * * *  one", "merged", "with line 1", "2 created")
	for _, state := range s.jobs {
		if j := state.Job; j.Command == "one" && (len(j.Schedules) != 2 || j.CronExpr != "" || j.Timezone != "") {
			t.Errorf("%+v", state.Job)
		}
	}
	s.run(importing...).want(t, exitOK, "0 created, 2 unchanged")
}
