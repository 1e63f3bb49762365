package health

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"carillon/internal/common"
)

// mostFull bounds the workers that a finding names, and mostDaemons the jobs of each.
const (
	mostFull    = 5
	mostDaemons = 5
)

// Daemons reports the workers whose slots are all used by daemon jobs, if fires were missed for lack of a slot. missed
// are the outcomes of missed fires within a time, such as "the last hour".
func Daemons(members []common.Member, missed []common.Run, within string) []Finding {
	fires := int64(0)
	for i := range missed {
		if r := &missed[i]; r.Reason != nil && r.Reason.Code == common.ReasonNoSlot {
			if fires++; r.Gap != nil {
				fires += max(1, r.Gap.Count) - 1
			}
		}
	}
	var full []string
	for i := range members {
		if m := &members[i]; m.Lease != 0 && m.DaemonSlots > 0 && m.DaemonSlots >= m.EffectiveSlots() {
			full = append(full, fmt.Sprintf("%s (%s)", cmp.Or(m.Name, m.Worker), daemonsOf(m)))
		}
	}
	if fires == 0 || len(full) == 0 {
		return nil
	}
	slices.Sort(full)
	return []Finding{Fault(FindingWarning, "daemons", "",
		"Give the workers more slots (cronctl set worker WORKER --slots N), start more workers, place the daemons on "+
			"workers of their own with a selector, or lower their number (cronctl scale JOB N).",
		"%s missed within %s for lack of a slot, while daemons use all slots of %s: %s",
		common.Count(int(fires), "fire was", "fires were"), within, common.Count(len(full), "worker", "workers"),
		listed(full, mostFull))}
}

// daemonsOf lists the daemon jobs of a worker, those with the most replicas first.
func daemonsOf(m *common.Member) string {
	jobs := slices.SortedFunc(maps.Keys(m.Replicas), func(a, b string) int {
		return cmp.Or(cmp.Compare(m.Replicas[b], m.Replicas[a]), cmp.Compare(a, b))
	})
	for i, job := range jobs {
		jobs[i] = fmt.Sprintf("%s × %d", job, m.Replicas[job])
	}
	return listed(jobs, mostDaemons)
}

// listed lists at most so many texts.
func listed(all []string, most int) string {
	if over := len(all) - most; over > 0 {
		all = append(slices.Clip(all[:most]), fmt.Sprintf("%d more", over))
	}
	return strings.Join(all, ", ")
}
