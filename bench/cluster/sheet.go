package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"

	"carillon/test/harness"
)

type verdict string

const (
	met    verdict = "met"
	missed verdict = "MISSED"
	noGoal verdict = ""
)

func reached(ok bool) verdict {
	if ok {
		return met
	}
	return missed
}

// figure is a line of the table.
type figure struct {
	row, what, value, goal string
	verdict                verdict
}

// footprint is the resource usage of a process during a row.
type footprint struct {
	row, process string
	harness.Usage
	during time.Duration
}

// sheet collects the results that are printed at the end.
type sheet struct {
	at         time.Time
	load       string
	figures    []figure
	footprints []footprint
}

func (s *sheet) began(at time.Time) { s.at, s.load = at, loadAverage() }

func (s *sheet) add(row, what, value, goal string, v verdict) {
	s.figures = append(s.figures, figure{row, what, value, goal, v})
}

// took records the usage of processes since an earlier reading.
func (s *sheet) took(row string, since map[*harness.Process]harness.Usage, during time.Duration,
	processes ...*harness.Process) {
	for _, p := range processes {
		if !p.Alive() {
			continue
		}
		u := p.Usage()
		u.CPU -= since[p].CPU
		s.footprints = append(s.footprints, footprint{row, p.Name, u, during})
	}
}

// look reads the usage of processes.
func look(processes ...*harness.Process) map[*harness.Process]harness.Usage {
	all := map[*harness.Process]harness.Usage{}
	for _, p := range processes {
		all[p] = p.Usage()
	}
	return all
}

func (s *sheet) print(out io.Writer) {
	fmt.Fprintf(out, "\n%s, load %s (%s at the end)\n%d cores, %s, Linux %s, %s\n\n",
		s.at.UTC().Format("2006-01-02 15:04 MST"), s.load,
		loadAverage(), runtime.NumCPU(), cpuModel(), kernel(), runtime.Version())
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "row\twhat\tfigure\tgoal\tverdict")
	for _, f := range s.figures {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", f.row, f.what, strings.ReplaceAll(f.value, "\n", " "), f.goal, f.verdict)
	}
	fmt.Fprintln(w)
	fmt.Fprintln(w, "row\tprocess\tCPU\tof a core\tmemory\tpeak")
	for _, f := range s.footprints {
		fmt.Fprintf(w, "%s\t%s\t%.1f s\t%.0f %%\t%s\t%s\n", f.row, f.process, f.CPU.Seconds(),
			100*f.CPU.Seconds()/f.during.Seconds(), mib(f.RSS), mib(f.Peak))
	}
	_ = w.Flush() // to a terminal, or a pipe that was closed
}

func mib(bytes int64) string { return fmt.Sprintf("%.0f MiB", float64(bytes)/(1<<20)) }

// ms formats a duration in milliseconds.
func ms(d time.Duration) string { return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)) }

func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}

func kernel() string {
	data, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(data))
}

func cpuModel() string {
	data, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(data)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
