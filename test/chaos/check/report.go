package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// mostShown is how many violations of a rule are printed.
const mostShown = 10

// String returns the report as text: the violations, and the figures.
func (r *Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d fires planned, %d commands started, %d runs lost (%d seen to end late)", r.Planned, r.Starts,
		r.Lost, r.Orphaned)
	for _, status := range slices.Sorted(maps.Keys(r.ByStatus)) {
		fmt.Fprintf(&b, ", %d %s", r.ByStatus[status], status)
	}
	if r.FlowRuns > 0 {
		fmt.Fprintf(&b, "; %d flow runs with %d nodes", r.FlowRuns, r.FlowNodes)
	}
	if r.Replicas > 0 {
		fmt.Fprintf(&b, "; %d starts of replicas", r.Replicas)
	}
	b.WriteByte('\n')
	for _, s := range []struct {
		what string
		Spread
	}{{"started late", r.Lateness}, {"run again after their worker's death", r.Reruns},
		{"run again after their worker's return", r.Returns},
		{"replicas without a run", r.Replaced},
		{"seen alive after their worker's death", r.Outlived}, {"lost output", r.LostText}} {
		if s.N > 0 {
			fmt.Fprintf(&b, "%s: %d, p50 %v, p99 %v, at most %v\n", s.what, s.N, s.P50.Round(time.Millisecond),
				s.P99.Round(time.Millisecond), s.Max.Round(time.Millisecond))
		}
	}
	for _, late := range r.Late {
		fmt.Fprintf(&b, "late: %s\n", late)
	}
	shown := map[Rule]int{}
	for _, v := range r.Violations {
		if shown[v.Rule]++; shown[v.Rule] <= mostShown {
			fmt.Fprintf(&b, "BROKEN %s: %s: %s: %s\n", v.Rule, v.Job, v.What, v.Detail)
		}
	}
	for _, rule := range slices.Sorted(maps.Keys(shown)) {
		if shown[rule] > mostShown {
			fmt.Fprintf(&b, "BROKEN %s: %d more\n", rule, shown[rule]-mostShown)
		}
	}
	return b.String()
}
