package system

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

// tutorialFolder is where a reader works; the test has a folder of its own in its place.
const tutorialFolder = "/tmp/etl"

// A reader who follows the tutorial of flows, command by command, gets what its text promises.
func TestTutorialOfFlows_EachCommandDoesWhatTheTextSays(t *testing.T) {
	t.Parallel() // it mostly waits
	l := newLearner(t)
	l.follow(passages(t, "### Start", "## The flow itself"), []lesson{
		// Start
		{"mkdir -p /tmp/etl && cd /tmp/etl", l.run},
		{"carillon-standalone --data-dir ./data", l.start},
		// Write the flow
		{"cat > step.sh <<'EOF'", l.run},
		{"chmod +x step.sh", l.run},
		{"cat > nightly-etl.yaml <<'EOF'", l.run},
		{"cronctl validate -f nightly-etl.yaml", l.says("valid nightly-etl")},
		{"cronctl apply -f nightly-etl.yaml", l.says("created nightly-etl", "1 created, 0 changed")},
		{"cronctl graph nightly-etl", l.says("3 steps in 3 layers", "1  extract", "2  transform  ← extract",
			"3  load       ← transform")},
		{"cronctl flow try -f nightly-etl.yaml --end extract=failed", l.says("extract    failed", "transform  skipped",
			"load       skipped", "flow run of nightly-etl: failed")},
		// See it fire
		{"cronctl get runs --job nightly-etl", l.seeFire},
		{"cronctl nodes RUN", l.shows("extract    succeeded", "transform  succeeded", "load       succeeded")},
		{"cronctl logs --job nightly-etl:load", l.shows("begin load of ")},
		{"cat trace.txt", l.seeTrace},
		{`sed -i "s/^cronExpr: .*/cronExpr: 30 2 * * */" nightly-etl.yaml`, l.run},
		{"cronctl apply -f nightly-etl.yaml", l.fireAtNight},
		// Break a step, and see why
		{"touch broken-transform", l.run},
		{"cronctl run nightly-etl --follow", l.seeFailure},
		{shownOutput, l.compareFailure},
		{"cronctl logs --job nightly-etl:transform", l.shows("the table is locked")},
		{"cronctl fires nightly-etl --limit 3", l.shows("failed     manual  1         step transform failed")},
		// Mend it, and run the rest
		{"rm broken-transform", l.run},
		{"cronctl rerun RUN --from transform", l.rerun},
		{"cronctl nodes RUN2", l.seeRerun},
		// Ask before publishing
		{"cat >> nightly-etl.yaml <<'EOF'", l.run},
		{"cronctl apply -f nightly-etl.yaml", l.says("steps.publish", "steps.release")},
		{"cronctl run nightly-etl", l.runToApproval},
		{"cronctl get approvals --watch", l.watchApprovals},
		{"cronctl approve RUN release --note 'figures checked'", l.approve},
		// Backfill last week
		{"cronctl backfill nightly-etl --from -7d --to now --include-unknown --concurrency 2 --dry-run",
			l.planBackfill},
		{"cronctl backfill nightly-etl --from -7d --to now --include-unknown --concurrency 2", l.backfill},
		{"cronctl get backfills", l.says("nightly-etl  running")},
		{"cronctl backfill pause ID", l.pause},
		{"cronctl backfill resume ID", l.resume},
		// Pull the plug
		{"cronctl backfill nightly-etl --from -7d --to now --concurrency 2 --reprocess all", l.backfillAgain},
		{"pgrep -f carillon-standalone", l.findPID},
		{"kill -9 PID", l.kill},
		{"carillon-standalone --data-dir ./data", l.startAgain},
		{"cronctl get backfills --job nightly-etl", l.seeBackfills},
		{"sort trace.txt | uniq -d", l.seeNoneTwice},
		{"grep -c 'begin' trace.txt; grep -c 'end ' trace.txt", l.seeDifference},
		{"cronctl delete jobs nightly-etl", l.says("deleted nightly-etl")},
		{"rm -r /tmp/etl", l.remove},
	})
}

// The trial of the tutorial's flow prints what its section shows.
func TestTutorialOfFlows_TrialPrintsWhatTheTextShows(t *testing.T) {
	t.Parallel()
	l := newLearner(t)
	if err := os.Mkdir(l.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, p := range passages(t, "### Start", "## The flow itself") {
		if strings.Contains(p.text, "nightly-etl.yaml <<") {
			l.run(p.text)
		}
	}
	l.follow(passages(t, "## Try a flow without a server", "## Where flows appear"), []lesson{
		{"cronctl flow try -f nightly-etl.yaml --output extract.day=2026-11-30 --end transform=3", l.run},
		{shownOutput, func(shown string) {
			if l.printed != shown {
				t.Errorf("printed:\n%s\nthe text shows:\n%s", l.printed, shown)
			}
		}},
	})
}

// replacements are what the test writes differently from a reader. Each occurs once in the tutorial.
func replacements(now time.Time) map[string]string {
	return map[string]string{
		// The flow fires each few seconds in place of each minute: its schedule is as real, and takes less time.
		"cronExpr: '* * * * *' ": "cronExpr: '@every 2s' ",
		// The daily fire is half a day away, also where the test runs at night.
		"cronExpr: 30 2 * * *": fmt.Sprintf("cronExpr: 30 %d * * *", (now.UTC().Hour()+13)%24),
		// A step needs less than three seconds; and it waits while a file exists. So the test holds a step of a day, to
		// pause a backfill or to kill the standalone in the middle of it, however fast or slow the machine is.
		"sleep 3\n": "sleep 0.2\n" + `while [ -e "hold-$CARILLON_STEP-$DAY" ]; do sleep 0.05; done` + "\n",
	}
}

// learner is a reader of the tutorial.
type learner struct {
	t          *testing.T
	dir        string // in place of tutorialFolder
	environ    []string
	replaced   map[string]string // replacements
	address    string
	standalone *process
	api        *api
	printed    string            // by the last command
	names      map[string]string // values of RUN, RUN2, ID and PID
	plan       int               // number of dates of a backfill
	dates      []string          // the days that they process
	before     int               // number of lines of trace.txt before the backfill
	middle     string            // the day whose transform runs while the standalone is killed
	held       []string          // files that hold steps
	waiting    string            // a flow run that waits for an approval while the standalone is killed
}

// newLearner returns one with only the two programs of the tutorial, and a HOME of its own. The address is not the
// default one, which may be in use.
func newLearner(t *testing.T) *learner {
	base := t.TempDir()
	l := &learner{t: t, dir: filepath.Join(base, "etl"), address: freePort(t), replaced: replacements(time.Now()),
		names: map[string]string{}}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the last command printed:\n%s", l.printed)
		}
	})
	path := filepath.Join(base, "bin")
	for _, dir := range []string{path, filepath.Join(base, "home")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"carillon-standalone", "cronctl"} {
		if err := os.Symlink(built(t, name), filepath.Join(path, name)); err != nil {
			t.Fatal(err)
		}
	}
	l.environ = []string{
		"PATH=" + path + ":/usr/bin:/bin",
		"HOME=" + filepath.Join(base, "home"),
		"CARILLON_LISTEN=" + l.address,
		"CARILLON_SERVER=http://" + l.address,
	}
	return l
}

// lesson is a command of the tutorial, and what the reader does with it.
type lesson struct {
	command string // without its comment; of a here-document, the first line
	do      func(text string)
}

// follow does what the passages say. The lessons must be of the same commands, in the same order.
func (l *learner) follow(text []passage, lessons []lesson) {
	l.t.Helper()
	for i := range max(len(text), len(lessons)) {
		switch {
		case i == len(lessons):
			l.t.Fatalf("%s: the test does not know %q", text[i].place, text[i].command)
		case i == len(text):
			l.t.Fatalf("%s lacks %q", flowsPage, lessons[i].command)
		case text[i].command != lessons[i].command:
			l.t.Fatalf("%s: %q, and the test expects %q", text[i].place, text[i].command, lessons[i].command)
		}
	}
	for i, p := range text {
		lessons[i].do(p.text)
		if l.t.Failed() {
			l.t.Fatalf("%s: %q does not do what the text says", p.place, p.command)
		}
	}
}

var placeholder = regexp.MustCompile(`\b(RUN2?|ID|PID)\b`)

// filled returns a command with the values of its placeholders, in the test's folder.
func (l *learner) filled(command string) string {
	l.t.Helper()
	command = placeholder.ReplaceAllStringFunc(command, func(name string) string {
		if l.names[name] == "" {
			l.t.Fatalf("%s is not known in %q", name, command)
		}
		return l.names[name]
	})
	for from, to := range l.replaced {
		command = strings.ReplaceAll(command, from, to)
	}
	return strings.ReplaceAll(command, tutorialFolder, l.dir)
}

// command returns a command of the second terminal.
func (l *learner) command(ctx context.Context, text string) *exec.Cmd {
	l.t.Helper()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", l.filled(text))
	cmd.Dir, cmd.Env, cmd.WaitDelay = l.dir, l.environ, time.Second
	if _, err := os.Stat(l.dir); err != nil {
		cmd.Dir = filepath.Dir(l.dir)
	}
	return cmd
}

// run runs a command that must succeed.
func (l *learner) run(text string) {
	l.t.Helper()
	if code := l.runs(text); code != 0 {
		l.t.Fatalf("%s ended with %d: %s", text, code, l.printed)
	}
}

// runs runs a command, and returns its exit code.
func (l *learner) runs(text string) int {
	l.t.Helper()
	ctx, cancel := context.WithTimeout(l.t.Context(), patience)
	defer cancel()
	cmd := l.command(ctx, text)
	out, err := cmd.CombinedOutput()
	l.printed = string(out)
	if cmd.ProcessState == nil {
		l.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode()
}

// says returns a lesson: the command succeeds and prints all of these texts.
func (l *learner) says(texts ...string) func(string) {
	return func(command string) {
		l.t.Helper()
		l.run(command)
		for _, text := range texts {
			if !strings.Contains(l.printed, text) {
				l.t.Errorf("%s printed no %q:\n%s", command, text, l.printed)
			}
		}
	}
}

// shows returns a lesson as says does, for commands that read the history, which arrives after the end of a run: they
// are repeated until they print these texts.
func (l *learner) shows(texts ...string) func(string) {
	return func(command string) {
		l.t.Helper()
		eventually(l.t, fmt.Sprintf("%s prints %q", strings.TrimSpace(command), texts), func() bool {
			return l.runs(command) == 0 &&
				!slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(l.printed, text) })
		})
	}
}

// ends waits until a flow run has ended, and returns its status.
func (l *learner) ends(id string) string {
	l.t.Helper()
	var ended run
	eventually(l.t, "the flow run "+id+" ends", func() bool {
		l.api.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+id, nil, &ended)
		return hasEnded(common.Status(ended.Status))
	})
	return ended.Status
}

// nodes waits until the nodes of a flow run have these statuses.
func (l *learner) nodes(id string, want map[string]string) {
	l.t.Helper()
	eventually(l.t, fmt.Sprintf("the nodes of %s are %v", id, want), func() bool {
		var page struct {
			Items []struct{ Node, Status string }
		}
		l.api.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+id+"/nodes", nil, &page)
		found := map[string]string{}
		for _, n := range page.Items {
			found[n.Node] = n.Status
		}
		return maps.Equal(found, want)
	})
}

// traceLine is a line of trace.txt.
type traceLine struct{ what, step, day, run string }

func (l *learner) trace() (lines []traceLine) {
	l.t.Helper()
	data, err := os.ReadFile(filepath.Join(l.dir, "trace.txt"))
	if err != nil && !os.IsNotExist(err) {
		l.t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var e traceLine
		if n, err := fmt.Sscanf(line, "%s %s of %s run %s\n", &e.what, &e.step, &e.day, &e.run); n != 4 || err != nil {
			l.t.Fatalf("trace.txt has %q: %v", line, err)
		}
		e.day = strings.TrimSuffix(e.day, ",")
		lines = append(lines, e)
	}
	return lines
}

// begun returns the number of runs of a step of a day that have begun.
func (l *learner) begun(step, day string) int {
	l.t.Helper()
	n := 0
	for _, e := range l.trace() {
		if e.what == "begin" && e.step == step && e.day == day {
			n++
		}
	}
	return n
}

// hold holds a step of a day until it is released.
func (l *learner) hold(step, day string) {
	l.t.Helper()
	file := filepath.Join(l.dir, "hold-"+step+"-"+day)
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		l.t.Fatal(err)
	}
	l.held = append(l.held, file)
}

func (l *learner) release() {
	l.t.Helper()
	for _, file := range l.held {
		if err := os.Remove(file); err != nil {
			l.t.Fatal(err)
		}
	}
	l.held = nil
}

// launch starts the standalone in the first terminal.
func (l *learner) launch(command string) {
	l.t.Helper()
	// The shell becomes the program, so that the process under test has its id.
	l.standalone = launchWith(l.t, l.environ, "carillon-standalone", "/bin/sh", "-c",
		"cd '"+l.dir+"' && exec "+l.filled(command))
	// After a kill, the former worker still answers for a moment.
	eventually(l.t, "the standalone prints its address", func() bool {
		return strings.Contains(l.standalone.Text(), "Carillon is at http://"+l.address) || !l.standalone.Alive()
	})
	l.api = entered(l.t, l.standalone, filepath.Join(l.dir, "data"), l.address)
}

func (l *learner) start(command string) {
	l.t.Helper()
	l.launch(command)
	eventually(l.t, "it prints a link that signs in", func() bool {
		return strings.Contains(l.standalone.Text(), l.api.base+"/#login=")
	})
}
