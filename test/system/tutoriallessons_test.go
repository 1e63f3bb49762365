package system

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// seeFire waits until the schedule has fired, and takes the first flow run that has succeeded from the list.
func (l *learner) seeFire(command string) {
	l.t.Helper()
	eventually(l.t, "the flow fires by its schedule", func() bool {
		return l.api.count("job=nightly-etl&status=succeeded", func(r run) bool { return r.Cause == "cron" }) > 0
	})
	l.run(command)
	for line := range strings.Lines(l.printed) {
		if f := strings.Fields(line); len(f) > 4 && f[4] == "succeeded" {
			l.names["RUN"] = f[0]
		}
	}
}

func (l *learner) seeTrace(command string) {
	l.t.Helper()
	l.run(command)
	// Lines of later flow runs may be between those of the first one.
	var order []string
	for _, e := range l.trace() {
		if text := e.what + " " + e.step; !slices.Contains(order, text) {
			order = append(order, text)
		}
	}
	want := "begin extract,end extract,begin transform,end transform,begin load,end load"
	if got := strings.Join(order, ","); got != want {
		l.t.Errorf("the first lines of each kind are in the order %s, want %s", got, want)
	}
}

// fireAtNight also waits until no flow run is left, so that none fails with the one that the reader starts.
func (l *learner) fireAtNight(command string) {
	l.t.Helper()
	l.says("changed nightly-etl: cronExpr")(command)
	eventually(l.t, "the flow runs end", func() bool {
		return l.api.count("job=nightly-etl", func(r run) bool { return r.Status != "succeeded" }) == 0
	})
}

func (l *learner) seeFailure(command string) {
	l.t.Helper()
	if code := l.runs(command); code == 0 {
		l.t.Errorf("a flow run that failed ends with code 0: %s", l.printed)
	}
	first, _, _ := strings.Cut(l.printed, "\n")
	l.names["RUN"] = strings.TrimPrefix(first, "run ")
}

var (
	shownTook = regexp.MustCompile(`after [0-9.]+m?s`)
	shownHost = regexp.MustCompile(`on \S+?([:\n])`)
)

// compareFailure compares the output that the text shows with what was printed, but for times and host. A running step
// is printed if it is running when the nodes are requested, so those lines depend on the length of the step.
func (l *learner) compareFailure(shown string) {
	l.t.Helper()
	plain := func(text string) string {
		text = shownTook.ReplaceAllString(text, "after TIME")
		text = shownHost.ReplaceAllString(text, "on HOST$1")
		text = strings.ReplaceAll(text, l.names["RUN"], "RUN")
		return regexp.MustCompile(`(?m)^\w+  running, on HOST\n`).ReplaceAllString(text, "")
	}
	if got, want := plain(l.printed), plain(shown); got != want {
		l.t.Errorf("printed:\n%s\nthe text shows:\n%s", got, want)
	}
}

// rerun re-runs the flow run that failed, and waits for its end.
func (l *learner) rerun(command string) {
	l.t.Helper()
	l.says("requested ", "runs  2 nodes: transform, load", "keeps 1 node: extract")(command)
	first, _, _ := strings.Cut(l.printed, "\n")
	l.names["RUN2"] = strings.TrimPrefix(first, "requested ")
	if status := l.ends(l.names["RUN2"]); status != "succeeded" {
		l.t.Errorf("the re-run is %s", status)
	}
}

func (l *learner) seeRerun(command string) {
	l.t.Helper()
	l.nodes(l.names["RUN2"], map[string]string{"extract": "succeeded", "transform": "succeeded", "load": "succeeded"})
	l.shows("kept")(command)
	if kept := regexp.MustCompile(`(?m)^.* kept.*$`).FindAllString(l.printed, -1); len(kept) != 1 ||
		!strings.HasPrefix(kept[0], "extract ") {
		l.t.Errorf("extract alone is to be kept:\n%s", l.printed)
	}
	failed, again := fireOf(l.names["RUN"]), fireOf(l.names["RUN2"])
	if failed != again {
		l.t.Errorf("the re-run is of the fire %s, and %s failed", again, failed)
	}
	l.shows("succeeded  manual  2")("cronctl fires nightly-etl --limit 1")
}

// fireOf returns the fire of a run: its id without the attempt.
func fireOf(id string) string { return id[:strings.LastIndexByte(id, '.')] }

// approvalWaits starts a flow run, and waits until its approval does.
func (l *learner) approvalWaits(command string) (id string) {
	l.t.Helper()
	l.run(command)
	id = strings.TrimSpace(l.printed)
	l.awaitApproval(id)
	return id
}

func (l *learner) awaitApproval(id string) {
	l.t.Helper()
	eventually(l.t, "an approval of "+id+" waits", func() bool {
		var page struct{ Items []struct{ Run, Step string } }
		l.api.do(http.StatusOK, http.MethodGet, "/api/v1/approvals", nil, &page)
		return len(page.Items) == 1 && page.Items[0].Run == id && page.Items[0].Step == "release"
	})
}

func (l *learner) runToApproval(command string) { l.names["RUN"] = l.approvalWaits(command) }

// watchApprovals ends the command with Ctrl-C when it has listed the step.
func (l *learner) watchApprovals(command string) {
	l.t.Helper()
	cmd := l.command(l.t.Context(), "exec "+command)
	log, err := os.Create(filepath.Join(filepath.Dir(l.dir), "approvals"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	eventually(l.t, "the step is listed", func() bool {
		text, err := os.ReadFile(log.Name())
		return err == nil && bytes.Contains(text, []byte(l.names["RUN"])) &&
			bytes.Contains(text, []byte("Publish the figures?"))
	})
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		l.t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(patience):
		l.t.Fatal("Ctrl-C does not end it")
	}
}

func (l *learner) approve(command string) {
	l.t.Helper()
	l.says("approved release of " + l.names["RUN"])(command)
	l.published(l.names["RUN"])
}

// published checks that a flow run goes on after its approval.
func (l *learner) published(id string) {
	l.t.Helper()
	if status := l.ends(id); status != "succeeded" {
		l.t.Errorf("the approved flow run is %s", status)
	}
	l.nodes(id, map[string]string{"extract": "succeeded", "transform": "succeeded", "load": "succeeded",
		"release": "succeeded", "publish": "succeeded"})
	l.shows("figures checked")("cronctl nodes " + id)
}

var plannedDate = regexp.MustCompile(`(?m)^(\d{4}-\d\d-\d\d) \d\d:\d\d:\d\d  1$`)

// planBackfill notes the dates. There are seven, or one more or less beside a change of the clocks. The first two are
// held: they run when the reader pauses the backfill.
func (l *learner) planBackfill(command string) {
	l.t.Helper()
	l.run(command)
	dates := plannedDate.FindAllStringSubmatch(l.printed, -1)
	l.plan = len(dates)
	total := fmt.Sprintf("%d fires would be run, 2 at a time", l.plan)
	if l.plan < 6 || l.plan > 8 || !strings.Contains(l.printed, total) {
		l.t.Fatalf("the plan of a week:\n%s", l.printed)
	}
	for _, date := range dates {
		planned, err := time.Parse(time.DateOnly, date[1])
		if err != nil {
			l.t.Fatal(err)
		}
		l.dates = append(l.dates, planned.AddDate(0, 0, -1).Format(time.DateOnly))
	}
}

func (l *learner) backfill(command string) {
	l.t.Helper()
	l.before = len(l.trace())
	l.hold("extract", l.dates[0])
	l.hold("extract", l.dates[1])
	l.run(command)
	l.names["ID"] = strings.TrimSpace(l.printed)
	l.backfillIs("running", l.plan-2, 2, 0)
}

// backfillIs waits until a backfill has a state, and numbers of dates that wait, run and have succeeded.
func (l *learner) backfillIs(state string, waiting, running, succeeded int) {
	l.t.Helper()
	want := fmt.Sprintf("%s %s %d %d %d %d 0", l.names["ID"], state, l.plan, waiting, running, succeeded)
	var got string
	defer func() {
		if l.t.Failed() {
			l.t.Logf("the backfill is %q", got)
		}
	}()
	eventually(l.t, "the backfill is "+want, func() bool {
		if l.runs("cronctl get backfills --job nightly-etl") != 0 {
			return false
		}
		for line := range strings.Lines(l.printed) {
			// ID JOB STATE FIRES WAITING RUNNING SUCCEEDED FAILED
			if f := strings.Fields(line); len(f) > 8 && f[0] == l.names["ID"] {
				got = strings.Join(slices.Concat(f[:1], f[2:8]), " ")
			}
		}
		return got == want
	})
}

// pause pauses the backfill while two dates run; these end, and no further one is started.
func (l *learner) pause(command string) {
	l.t.Helper()
	l.says("paused the backfill of nightly-etl")(command)
	l.release()
	l.backfillIs("paused", l.plan-2, 0, 2)
}

// resume resumes the backfill, and waits for its end: each day has run once.
func (l *learner) resume(command string) {
	l.t.Helper()
	l.says("resumed the backfill of nightly-etl")(command)
	l.backfillIs("succeeded", 0, 0, l.plan)
	ran := map[string]int{}
	for _, e := range l.trace()[l.before:] {
		ran[e.what+" "+e.step+" of "+e.day]++
	}
	for _, day := range l.dates {
		for _, step := range []string{"extract", "transform", "load", "publish"} {
			for _, what := range []string{"begin ", "end "} {
				if line := what + step + " of " + day; ran[line] != 1 {
					l.t.Errorf("%d lines in trace.txt say %q, want 1", ran[line], line)
				}
				delete(ran, what+step+" of "+day)
			}
		}
	}
	if len(ran) > 0 {
		l.t.Errorf("trace.txt has more lines than those of the dates: %v", ran)
	}
	l.ledgerHas(1)
}

// ledgerHas checks that the ledger has one entry for each date, with its number of attempts.
func (l *learner) ledgerHas(attempts int) {
	l.t.Helper()
	entry := regexp.MustCompile(fmt.Sprintf(`(?m)^\S+ \S+ +nightly-etl +succeeded +backfill +%d *$`, attempts))
	eventually(l.t, fmt.Sprintf("the ledger has %d dates of %d attempts", l.plan, attempts), func() bool {
		l.run("cronctl fires nightly-etl --limit 100")
		return strings.Count(l.printed, " backfill ") == l.plan && len(entry.FindAllString(l.printed, -1)) == l.plan
	})
}

// backfillAgain runs the backfill until a date in its middle runs transform. Another flow run waits for its approval.
func (l *learner) backfillAgain(command string) {
	l.t.Helper()
	l.waiting = l.approvalWaits("cronctl run nightly-etl")
	l.middle = l.dates[l.plan/2]
	l.hold("transform", l.middle)
	l.run(command)
	l.names["ID"] = strings.TrimSpace(l.printed)
	eventually(l.t, "a date in the middle of the backfill runs", func() bool {
		return l.begun("transform", l.middle) == 2
	})
}

// findPID checks that the standalone is listed, perhaps among others that this machine runs: its own is taken.
func (l *learner) findPID(command string) {
	l.t.Helper()
	l.run(command)
	pid := strconv.Itoa(l.standalone.PID())
	if !slices.Contains(strings.Fields(l.printed), pid) {
		l.t.Fatalf("%s is not among %q", pid, l.printed)
	}
	l.names["PID"] = pid
}

func (l *learner) kill(command string) {
	l.t.Helper()
	l.run(command)
	l.standalone.exit()
	l.release()
}

func (l *learner) startAgain(command string) {
	l.t.Helper()
	l.launch(command)
	l.backfillIs("succeeded", 0, 0, l.plan)
	l.awaitApproval(l.waiting)
	l.run("cronctl approve " + l.waiting + " release --note 'figures checked'")
	l.published(l.waiting)
}

func (l *learner) seeBackfills(command string) {
	l.t.Helper()
	l.run(command)
	if n := strings.Count(l.printed, "nightly-etl  succeeded"); n != 2 {
		l.t.Errorf("%d backfills have succeeded, want 2:\n%s", n, l.printed)
	}
	l.ledgerHas(2)
	// The step that was held ran when the standalone was killed: that attempt is lost, and the next one succeeded.
	var killed string
	for _, e := range l.trace() {
		if e.what == "begin" && e.step == "transform" && e.day == l.middle {
			killed = fireOf(e.run) // the last one: there is an earlier one, of the first backfill
		}
	}
	eventually(l.t, "the step that was killed is lost, and succeeded as a further attempt", func() bool {
		var statuses []string
		for _, r := range l.api.runs("job=nightly-etl:transform") {
			if fireOf(r.ID) == killed {
				statuses = append(statuses, r.Status)
			}
		}
		slices.Sort(statuses)
		return slices.Equal(statuses, []string{"lost", "succeeded"})
	})
}

func (l *learner) seeNoneTwice(command string) {
	l.t.Helper()
	l.run(command)
	if l.printed != "" {
		l.t.Errorf("an attempt began or ended twice:\n%s", l.printed)
	}
}

// seeDifference compares the numbers with the attempts that have begun and not ended. Each of these failed or was lost.
func (l *learner) seeDifference(command string) {
	l.t.Helper()
	open := map[string]bool{}
	begun, ended := 0, 0
	for _, e := range l.trace() {
		if e.what == "begin" {
			begun, open[e.run] = begun+1, true
		} else {
			ended++
			delete(open, e.run)
		}
	}
	l.run(command)
	if want := fmt.Sprintf("%d\n%d\n", begun, ended); l.printed != want || begun-ended != len(open) || len(open) < 2 {
		l.t.Errorf("printed %q, want %q; %d attempts have begun and not ended", l.printed, want, len(open))
	}
	for id := range open {
		var r run
		l.api.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+id, nil, &r)
		if r.Status != "failed" && r.Status != "lost" {
			l.t.Errorf("%s began and did not end, and is %s", id, r.Status)
		}
	}
}

func (l *learner) remove(command string) {
	l.t.Helper()
	if code := l.standalone.end(syscall.SIGINT); code != 0 {
		l.t.Errorf("the standalone ended with %d", code)
	}
	l.run(command)
	if _, err := os.Stat(l.dir); !os.IsNotExist(err) {
		l.t.Errorf("the folder is left: %v", err)
	}
}
