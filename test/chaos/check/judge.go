package check

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// defaults fills in missing values.
func (r Rules) defaults() Rules {
	fill := func(d *time.Duration, usual time.Duration) {
		if *d == 0 {
			*d = usual
		}
	}
	fill(&r.TTL, 15*time.Second)
	fill(&r.Survive, time.Second)
	fill(&r.Linger, 3*time.Second)
	fill(&r.Flush, time.Second)
	fill(&r.Precision, 500*time.Millisecond)
	fill(&r.Finish, 3*time.Second)
	fill(&r.Rerun, 5*time.Second)
	fill(&r.Return, 5*time.Second)
	fill(&r.TakeBack, 10*time.Second)
	fill(&r.Restart, 15*time.Second)
	return r
}

// judge evaluates one history.
type judge struct {
	*History
	Rules
	jobs     map[string]*Job // by uid
	names    map[string]bool
	runs     map[string]*Run
	commands map[string]*command // by run
	nodes    map[string]*command // by run, of nodes of flow runs
	order    []*command          // in order of start
	troubles []trouble
	report   Report

	reruns, returns, lateness, outlived, lostText, replaced []time.Duration
}

// command holds what is known of the process of a run.
type command struct {
	Line          // its first start
	last     Boot // when it, or a remaining child, was last seen alive
	end      *Line
	printed  []Line // out, term and end, in order
	starts   int
	metOther bool
}

// Check evaluates a history.
func Check(h History) Report {
	j := &judge{
		History:  &h,
		nodes:    map[string]*command{},
		Rules:    h.Rules.defaults(),
		jobs:     map[string]*Job{},
		names:    map[string]bool{},
		runs:     map[string]*Run{},
		commands: map[string]*command{},
	}
	j.report.ByStatus = map[string]int{}
	for i := range h.Jobs {
		j.jobs[h.Jobs[i].UID] = &h.Jobs[i]
		j.names[h.Jobs[i].Name] = true
	}
	j.readCommands()
	j.troubles = troublesOf(h.Journal, j.TTL)
	j.starts()
	j.survivors()
	j.lingering()
	fires := j.accounts()
	j.follow(fires)
	j.outcomes()
	j.outputs()
	j.restores()
	j.flows()
	j.chains()
	j.daemons()
	j.measure(fires)
	r := &j.report
	r.Starts = len(j.order)
	r.Reruns, r.Returns, r.Lateness = SpreadOf(j.reruns), SpreadOf(j.returns), SpreadOf(j.lateness)
	r.Outlived, r.LostText, r.Replaced = SpreadOf(j.outlived), SpreadOf(j.lostText), SpreadOf(j.replaced)
	slices.SortStableFunc(r.Violations, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Job, b.Job), cmp.Compare(a.What, b.What))
	})
	return *r
}

func (j *judge) broken(rule Rule, job, what, format string, args ...any) {
	j.report.Violations = append(j.report.Violations, Violation{rule, job, what, fmt.Sprintf(format, args...)})
}

// readCommands collects the lines of each command.
func (j *judge) readCommands() {
	lines := slices.Clone(j.Lines)
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(a.At, b.At) })
	for i := range lines {
		l := &lines[i]
		of := j.commands
		if ofNode(l.Run) {
			of = j.nodes
		}
		c := of[l.Run]
		if c == nil {
			c = &command{Line: *l}
			of[l.Run] = c
			if !ofNode(l.Run) {
				j.order = append(j.order, c)
			}
		}
		c.last = max(c.last, l.At)
		switch l.What {
		case Start:
			c.starts++
		case Met:
			c.metOther = true
		case Out, Term:
			c.printed = append(c.printed, *l)
		case End:
			c.end = l
			c.printed = append(c.printed, Line{At: l.At, A: l.B, B: l.C})
		}
	}
	for i := range j.Journal {
		e := &j.Journal[i]
		if c := j.commands[e.Run]; c != nil && e.Kind == Seen {
			c.last = max(c.last, e.At)
		}
	}
}

// splitRun splits a run's id into its job's uid, its fire and its attempt.
func splitRun(id string) (uid, fire string, attempt int) {
	dot := strings.LastIndexByte(id, '.')
	if dot < 0 {
		return "", "", 0
	}
	attempt, _ = strconv.Atoi(id[dot+1:])
	uid, _, _ = strings.Cut(id, ".")
	return uid, id[:dot], attempt
}

func (j *judge) jobOf(run string) *Job {
	uid, _, _ := splitRun(run)
	return j.jobs[uid]
}

// SpreadOf sorts its argument.
func SpreadOf(all []time.Duration) Spread {
	if len(all) == 0 {
		return Spread{}
	}
	slices.Sort(all)
	rank := func(percent int) time.Duration { return all[min(len(all)-1, len(all)*percent/100)] }
	return Spread{N: len(all), P50: rank(50), P99: rank(99), Max: all[len(all)-1]}
}
