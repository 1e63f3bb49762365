package crontab_test

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/crontab"
)

var update = flag.Bool("update", false, "write what becomes of the lines into the corpus")

const corpusFile = "testdata/corpus.txt"

// sample is a line of the corpus.
type sample struct {
	line   int
	source string // as written in the file
	mark   string // {…} at its end
	text   string
	system bool
	want   string
}

var (
	oneByte  = regexp.MustCompile(`⟨([0-9a-f]{2})⟩`)
	manyFold = regexp.MustCompile(`×([0-9]+)`)
	marked   = regexp.MustCompile(` \{(\w+)\}$`)
	pictures = strings.NewReplacer("␤", "\n", "␉", "\t", "␍", "\r", "␠", " ", "␀", "\x00")
)

func corpus(t *testing.T) (samples []sample, lines []string) {
	t.Helper()
	data, err := os.ReadFile(corpusFile)
	if err != nil {
		t.Fatal(err)
	}
	lines = strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	begun, system := false, false
	for i, line := range lines {
		switch {
		case line == "[user]" || line == "[system]":
			begun, system = true, line == "[system]"
		case begun && line != "" && !(strings.HasPrefix(line, "# ") && !strings.Contains(line, "␤")):
			source, want, _ := strings.Cut(line, " ==> ")
			s := sample{line: i + 1, source: source, system: system, want: want}
			if m := marked.FindStringSubmatch(source); m != nil {
				s.mark, source = m[1], strings.TrimSuffix(source, m[0])
			}
			source = manyFold.ReplaceAllStringFunc(source, func(m string) string {
				n, _ := strconv.Atoi(strings.TrimPrefix(m, "×"))
				return strings.Repeat("x", n)
			})
			s.text = oneByte.ReplaceAllStringFunc(pictures.Replace(source), func(m string) string {
				b, _ := strconv.ParseUint(oneByte.FindStringSubmatch(m)[1], 16, 8)
				return string([]byte{byte(b)})
			}) + "\n"
			samples = append(samples, s)
		}
	}
	return samples, lines
}

func (s *sample) parse() crontab.Result {
	return crontab.Parse(s.text, crontab.Options{Prefix: "file", System: s.system, Timezone: "UTC", File: true})
}

// outcome describes the result for a text.
func outcome(r crontab.Result) string {
	var jobs, notices []string
	for _, e := range r.Entries {
		j := e.Job
		var job strings.Builder
		job.WriteString(j.CronExpr + " :: " + short(j.Command))
		for _, rest := range []struct{ name, value string }{
			{"stdin", j.Stdin}, {"user", j.User}, {"shell", j.Shell}, {"workDir", j.WorkDir},
			{"jitter", string(j.Jitter)}, {"title", j.Title}, {"description", j.Description},
		} {
			if rest.value != "" {
				job.WriteString(fmt.Sprintf(" :: %s %q", rest.name, rest.value))
			}
		}
		if j.Timezone != "UTC" {
			job.WriteString(" :: timezone " + j.Timezone)
		}
		for _, name := range slices.Sorted(maps.Keys(j.Env)) {
			job.WriteString(fmt.Sprintf(" :: %s=%q", name, short(j.Env[name])))
		}
		jobs = append(jobs, job.String())
	}
	for _, n := range r.Notices {
		level := map[crontab.Level]string{crontab.Fault: "fault:", crontab.NotTaken: "no:"}[n.Level]
		notices = append(notices, level+n.Code)
	}
	out := strings.Join(jobs, " ;; ")
	if len(notices) > 0 {
		out = strings.TrimSpace(out + " !! " + strings.Join(notices, " "))
	}
	return out
}

func short(text string) string {
	if len(text) > 500 {
		return fmt.Sprintf("%s… (%d bytes)", text[:10], len(text))
	}
	return text
}

func TestParse_Corpus(t *testing.T) {
	samples, lines := corpus(t)
	if len(samples) < 300 {
		t.Fatalf("%d samples", len(samples))
	}
	for _, s := range samples {
		r := s.parse()
		got := outcome(r)
		if *update {
			lines[s.line-1] = s.source + " ==> " + got
			continue
		}
		if got != s.want {
			t.Errorf("%s:%d: %s\n got %s\nwant %s", corpusFile, s.line, s.source, got, s.want)
		}
		if strings.Contains(s.text, "CARILLON_") {
			continue // rejected by the server
		}
		for _, e := range r.Entries {
			if faults := slices.DeleteFunc(e.Job.Faults(), func(f common.Fault) bool {
				return f.Code == "too_large"
			}); len(faults) > 0 {
				t.Errorf("%s:%d: %v", corpusFile, s.line, faults)
			}
			spec, err := schedule.SpecOf(e.Job.Name, &common.JobSchedule{CronExpr: e.Job.CronExpr,
				Timezone: e.Job.Timezone})
			if err == nil {
				_, err = schedule.NewInterner().Parse(spec)
			}
			if err != nil {
				t.Errorf("%s:%d: %v", corpusFile, s.line, err)
			}
		}
	}
	if *update {
		if err := os.WriteFile(corpusFile, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// checker returns the syntax check of the installed cron: crontab -T of cronie and of newer Debian, -n of Debian 12.
func checker(t *testing.T) (argv []string, cronie bool) {
	t.Helper()
	program, err := exec.LookPath("crontab")
	if err != nil {
		t.Skip("no crontab program on this machine")
	}
	version, _ := exec.Command(program, "-V").CombinedOutput()
	cronie = bytes.Contains(version, []byte("cronie"))
	good, bad := tab(t, "* * * * * true\n"), tab(t, "61 * * * * true\n")
	for _, option := range []string{"-T", "-n"} {
		if cronie && option == "-n" {
			break // it means something else there
		}
		// The invalid one first: a program to which the option means something else installs nothing.
		if exec.Command(program, option, bad).Run() != nil && exec.Command(program, option, good).Run() == nil {
			return []string{program, option}, cronie
		}
	}
	t.Skip("the crontab program of this machine checks no syntax without installing it")
	return nil, false
}

func tab(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tab")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// A text that cron's own check accepts is accepted or explained, never a fault; one that it rejects is a fault.
func TestParse_Corpus_AgreesWithCron(t *testing.T) {
	argv, cronie := checker(t)
	samples, _ := corpus(t)
	for _, s := range samples {
		if s.system { // the check takes a user for the beginning of the command
			continue
		}
		answer, err := exec.Command(argv[0], argv[1], tab(t, s.text)).CombinedOutput()
		r := s.parse()
		fault := r.Count(crontab.Fault) > 0
		switch {
		case err == nil && fault && s.mark != "ours":
			t.Errorf("%s:%d: cron accepts %q, the import does not: %q", corpusFile, s.line, s.text, brief(r))
		case err != nil && !fault && !cronie && s.mark != "cronie":
			t.Errorf("%s:%d: cron refuses %q (%s), the import takes it: %s", corpusFile, s.line, s.text, answer,
				outcome(r))
		case err != nil && !fault && cronie && len(r.Entries) > 0 && s.mark == "cronie":
			t.Errorf("%s:%d: cronie refuses %q: %s", corpusFile, s.line, s.text, answer)
		case err == nil && !cronie && s.mark == "cronie":
			t.Errorf("%s:%d: Debian's cron accepts %q, which is marked {cronie}", corpusFile, s.line, s.text)
		}
	}
}
