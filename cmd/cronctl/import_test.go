package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"carillon/internal/common"
	"carillon/internal/jobmgr/crontab"
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

// What a job inherits from its group is no edit of it, and does not become its own when its line changes.
func TestImport_OfJobsThatInherit_KeepsThemInheriting(t *testing.T) {
	s := newStage(t)
	s.stdin = "30 2 * * * ./save\n"
	s.run("import-crontab", "-", "--group", "Legacy").want(t, exitUsage, "not a valid name of a group")
	s.run("import-crontab", "-", "--group", "legacy/eu").want(t, exitOK, "1 created")
	if group := s.jobs["save"].Group; group != "legacy/eu" {
		t.Errorf("group %q", group)
	}
	inherit := func() {
		state := s.jobs["save"]
		own, _ := state.Own()
		state.Job, state.Inherited = own.Inherit([]common.GroupDefaults{{Group: "legacy", Defaults: common.Defaults{
			Retry: &common.Retry{Max: 3}, Env: map[string]string{"REGION": "eu"}}}})
		s.jobs["save"] = state
	}
	inherit()
	s.run("import-crontab", "-", "--group", "legacy/eu").want(t, exitOK, "1 unchanged")
	s.stdin = "SHELL=/bin/bash\n30 2 * * * ./save\n"
	s.run("import-crontab", "-", "--group", "legacy/eu").want(t, exitOK, "1 updated")
	if j := s.jobs["save"].Job; j.Retry != nil || j.Env["REGION"] != "" || j.Shell != "/bin/bash" {
		t.Errorf("written: %+v", j)
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
	s.run(importing...).want(t, exitOK, "edited", "0 created, 1 unchanged, 1 edited in Carillon and left alone")
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

// Some editors begin a text with a byte-order mark, which is no part of the first variable.
func TestTextWithMark(t *testing.T) {
	s := newStage(t)
	tab := file(t, "tab", "\ufeffCRON_TZ=Asia/Tokyo\n0 1 * * * one\n")
	s.run("import-crontab", tab, "--as", "ann", "--timezone", "UTC").want(t, exitOK, "1 created")
	if got := s.jobs["tab-one"].Timezone; got != "Asia/Tokyo" {
		t.Errorf("time zone %q", got)
	}
	jobs := file(t, "jobs.yaml", "\ufeffname: two\ncommand: 'true'\n")
	s.run("create", "jobs", "-f", jobs).want(t, exitOK, "created two")
}

// A line means something else after the settings above it were edited. What else its job has stays.
func TestImport_OfEditedSettings_UpdatesJobs(t *testing.T) {
	s := newStage(t)
	const lines = "# Title\n0 1 * * * one\n0 2 * * * two\n"
	s.stdin = "SHELL=/bin/sh\n" + lines
	importing := []string{"import-crontab", "-", "--as", "ann", "--home", "", "--timezone", "UTC"}
	s.run(importing...).want(t, exitOK, "2 created")
	change := func(name string, edit func(*common.Job)) {
		state := s.jobs[name]
		edit(&state.Job)
		s.jobs[name] = state
	}
	change("one", func(j *common.Job) {
		j.Timeout, j.Title = "5m", "First"
		j.Notify = &common.Notify{On: []common.Event{common.EventFailed}, To: []string{"ops"}}
	})

	s.stdin = "CRON_TZ=Europe/Berlin\nSHELL=/bin/bash\nPATH=/opt/bin\n" + lines
	s.run(append(importing, "--dry-run")...).want(t, exitOK, "to update",
		"one  (edited in the crontab: times, shell, environment; edited in Carillon: title)",
		"two  (edited in the crontab: times, shell, environment)", "0 to create, 0 unchanged, 2 to update")
	if s.writes != 2 {
		t.Fatalf("a dry run wrote %d jobs", s.writes-2)
	}
	s.run(importing...).want(t, exitOK, "0 created, 0 unchanged, 2 updated")
	for _, name := range []string{"one", "two"} {
		j := s.jobs[name]
		if j.Timezone != "Europe/Berlin" || j.Shell != "/bin/bash" || j.Env["PATH"] != "/opt/bin" {
			t.Errorf("%s: %+v", name, j.Job)
		}
	}
	if j := s.jobs["one"]; j.Timeout != "5m" || j.Title != "First" || j.Notify == nil {
		t.Errorf("an update lost what was set in Carillon: %+v", j.Job)
	}
	s.run(importing...).want(t, exitOK, "edited in Carillon: title", "0 created, 1 unchanged, 1 edited in Carillon")

	// Both sides: a person decides.
	change("two", func(j *common.Job) { j.Timezone = "Asia/Tokyo" })
	s.stdin = "SHELL=/bin/bash\nPATH=/opt/bin\n" + lines
	s.run(importing...).want(t, exitJobFailed, "one  (edited in the crontab: times; edited in Carillon: title)",
		"conflict", "two  (edited in the crontab and in Carillon: times)",
		"0 created, 0 unchanged, 1 updated, 1 in conflict and left alone")
	if s.jobs["two"].Timezone != "Asia/Tokyo" {
		t.Error("an edited job was updated")
	}
	change("one", func(j *common.Job) { j.Group = "others" })
	s.stdin = lines
	s.run(importing...).want(t, exitJobFailed, "conflict", "the job is in the group others",
		"2 in conflict and left alone")
	s.run(append(importing, "--overwrite")...).want(t, exitOK, "2 overwritten")
	s.run(importing...).want(t, exitOK, "0 created, 2 unchanged")
}

// Nothing says which side was edited if the job was imported before that was recorded.
func TestImport_OfEditedSettings_OfJobsWithoutRecord_IsAConflict(t *testing.T) {
	s := newStage(t)
	s.stdin = "0 1 * * * one\n"
	importing := []string{"import-crontab", "-", "--as", "ann", "--home", ""}
	s.run(append(importing, "--timezone", "UTC")...).want(t, exitOK, "1 created")
	delete(s.jobs["one"].Labels, crontab.ImportLabel)
	s.run(append(importing, "--timezone", "UTC")...).want(t, exitOK, "0 created, 1 unchanged")
	s.run(append(importing, "--timezone", "Asia/Tokyo")...).want(t, exitJobFailed, "conflict",
		"it is not known which of them was edited: times", "1 in conflict and left alone")
}

// A second import without --notify leaves notifications alone, and an empty MAILTO ends them.
func TestImport_ThatSaysNothingOfNotifications_KeepsThem(t *testing.T) {
	s := newStage(t)
	s.stdin = "0 1 * * * one\n"
	importing := []string{"import-crontab", "-", "--as", "ann", "--home", ""}
	s.run(append(importing, "--notify", "ops")...).want(t, exitOK, "1 created")
	s.stdin = "CRON_TZ=UTC\n0 1 * * * one\n"
	s.run(importing...).want(t, exitOK, "edited in the crontab: times)", "1 updated")
	if j := s.jobs["one"]; j.Notify == nil || j.Timezone != "UTC" {
		t.Errorf("%+v", j.Job)
	}
	s.stdin = "MAILTO=\nCRON_TZ=UTC\n0 1 * * * one\n"
	s.run(importing...).want(t, exitOK, "edited in the crontab: notify)", "1 updated")
	if j := s.jobs["one"]; j.Notify != nil {
		t.Errorf("%+v", j.Job)
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

// Whatever names new jobs get, a line that was imported keeps its job.
func TestImport_NamesOfAnEarlierVersion_Stay(t *testing.T) {
	s := newStage(t)
	s.stdin = "0 1 * * * nice -n 19 /opt/backup.sh\n0 2 * * * bash -lc '/opt/sync.sh'\n0 3 * * * env A=1 /opt/sync.sh\n"
	importing := []string{"import-crontab", "-", "--as", "ann", "--home", ""}
	s.run(importing...).want(t, exitOK, "3 created")
	for name, was := range map[string]string{"backup": "19", "sync": "bash", "sync-2": "null"} {
		state := s.jobs[name]
		delete(s.jobs, name)
		state.Name = was
		s.jobs[was] = state
	}
	s.run(importing...).want(t, exitOK, "0 created, 3 unchanged", "19 ", "bash ", "null ")
	if len(s.jobs) != 3 {
		t.Errorf("%d jobs", len(s.jobs))
	}
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

// Crontabs in cron's spool are named after users, whose names need not be those that cron reads in cron.d.
func TestImport_OfASpool_ReadsTheCrontabsOfAllUsers(t *testing.T) {
	s := newStage(t)
	dir := filepath.Join(t.TempDir(), "var", "spool", "cron", "crontabs")
	users := []string{"ann", "first.last", "User", "ann@example.com", `EXAMPLE\ann lee`, "README"}
	left := []string{"ann~", "#ann#", "bob.rpmsave", "tmp.Xa81bQ", "1000"}
	folderOf(t, dir, append(users, left...), func(name string) string { return "0 1 * * * echo of " + name + "\n" })
	if err := os.WriteFile(filepath.Join(dir, ".placeholder"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	importing := []string{"import-crontab", dir, "--timezone", "UTC", "--as", "ann"}
	s.run(importing...).want(t, exitOK, "1 created", "first.last: belongs to another user than ann", "--keep-users")
	got := s.run(append(importing, "--keep-users")...)
	got.want(t, exitOK, "edited in the crontab: user", "5 created, 0 unchanged, 1 updated",
		`users: ["EXAMPLE\\ann lee", README, User, ann, ann@example.com, first.last]`)
	byUser := map[string]string{}
	for _, j := range s.jobs {
		byUser[j.User] = j.Command
	}
	for _, name := range users {
		if byUser[name] != "echo of "+name {
			t.Errorf("the crontab of %q became %q", name, byUser[name])
		}
	}
	if len(byUser) != len(users) {
		t.Errorf("jobs of %v", byUser)
	}
	for _, name := range left {
		got.want(t, exitOK, "skipped "+filepath.Join(dir, name))
	}
}

// An import that has read nothing has not succeeded.
func TestImport_OfAFolderOfWhichNothingWasRead_Fails(t *testing.T) {
	s := newStage(t)
	dir := filepath.Join(t.TempDir(), "etc", "cron.d")
	folderOf(t, dir, []string{"first.last", "old.dpkg-dist"}, func(string) string { return "0 1 * * * root one\n" })
	s.run("import-crontab", dir).want(t, exitJobFailed, "first.last: has a name that cron ignores",
		"nothing was read from the folder "+dir+" (2 files)")
	s.run("import-crontab", dir, "--skip-faults").want(t, exitOK, "nothing was read")
	s.run("import-crontab", t.TempDir()).want(t, exitOK, "nothing was read", "(0 files)")
}

// folderOf creates a folder with files.
func folderOf(t *testing.T, dir string, names []string, text func(name string) string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text(name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
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
