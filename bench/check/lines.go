package check

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// Line is the record that a started command wrote about itself.
type Line struct {
	Fire
	Run, Worker string
	Attempt     int
	Start       time.Time
}

// ReadLines reads the file to which the commands append. A missing file has no lines.
func ReadLines(path string) ([]Line, error) {
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var lines []Line
	for text := range strings.Lines(string(data)) {
		l, err := parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, len(lines)+1, err)
		}
		lines = append(lines, l)
	}
	return lines, nil
}

func parse(text string) (Line, error) {
	f := strings.Fields(text)
	if len(f) != 6 || !strings.HasSuffix(text, "\n") {
		return Line{}, fmt.Errorf("%q is not what a command writes", text)
	}
	planned, err := time.Parse(time.RFC3339Nano, f[1])
	if err != nil {
		return Line{}, err
	}
	attempt, err := strconv.Atoi(f[3])
	if err != nil {
		return Line{}, err
	}
	start, err := strconv.ParseInt(f[5], 10, 64)
	if err != nil {
		return Line{}, err
	}
	return Line{
		Fire:    Fire{Job: f[0], Planned: planned.UTC()},
		Run:     f[2],
		Attempt: attempt,
		Worker:  f[4],
		Start:   time.Unix(0, start).UTC(),
	}, nil
}

// Started is the result for the lines of a plan.
type Started struct {
	Planned, Ran int
	Missed       int // fires of the plan without a line
	Doubled      int // lines of a fire and attempt beyond the first
	Stray        int // lines of the plan's jobs at other times
	Late         Spread
	ByWorker     map[string]int
}

// Compare compares lines with a plan. A worker whose wall clock is ahead by an offset starts early by as
// much: its lateness is measured by its own clock. Lines of the plan's jobs outside its time are checked for
// doubles only.
func (p Plan) Compare(lines []Line, offsets map[string]time.Duration) Started {
	type once struct {
		Fire
		attempt int
	}
	jobs, first := map[string]bool{}, map[Fire]bool{}
	for _, j := range p.Jobs {
		jobs[j] = true
	}
	v := Started{Planned: p.Count(), ByWorker: map[string]int{}}
	seen := map[once]bool{}
	var late []time.Duration
	for _, l := range lines {
		if !jobs[l.Job] {
			continue
		}
		key := once{l.Fire, l.Attempt}
		if seen[key] {
			v.Doubled++
			continue
		}
		seen[key] = true
		if !p.contains(l.Planned) {
			continue
		}
		if l.Planned.Truncate(p.step()) != l.Planned {
			v.Stray++
			continue
		}
		if first[l.Fire] {
			continue // a later attempt
		}
		first[l.Fire] = true
		v.ByWorker[l.Worker]++
		late = append(late, l.Start.Add(offsets[l.Worker]).Sub(l.Planned))
	}
	v.Ran = len(first)
	v.Missed = v.Planned - v.Ran
	v.Late = SpreadOf(late)
	return v
}
