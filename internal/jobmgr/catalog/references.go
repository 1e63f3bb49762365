package catalog

import (
	"context"
	"slices"
	"strings"
	"unique"

	"carillon/internal/common"
)

// noNames is the handle of jobs that refer to nothing.
var noNames = unique.Make("")

// channelsOf returns the channels that a job notifies.
func channelsOf(job *common.Job) []string {
	if job.Notify == nil {
		return nil
	}
	return slices.Clone(job.Notify.To)
}

// namesText encodes a set of names, which contain no spaces, so that equal sets have equal texts.
func namesText(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

// names returns the objects of a kind that the job refers to.
func (e *Entry) names(kind common.Referent) unique.Handle[string] {
	switch kind {
	case common.ReferentChannel:
		return e.channels
	case common.ReferentSecret:
		return e.secrets
	}
	return noNames
}

// References counts the jobs that refer to each object of a kind, by the object's name.
func (c *Catalog) References(ctx context.Context, kind common.Referent) map[string]int {
	c.Sync(ctx)
	sets := map[unique.Handle[string]]int{} // many jobs share the same names
	c.mu.RLock()
	for _, job := range c.jobs {
		sets[job.names(kind)]++
	}
	c.mu.RUnlock()
	counts := map[string]int{}
	for set, jobs := range sets {
		for name := range strings.FieldsSeq(set.Value()) {
			counts[name] += jobs
		}
	}
	return counts
}

// Referring returns the jobs that refer to an object, by name, at most so many.
func (c *Catalog) Referring(ctx context.Context, kind common.Referent, object string, most int) (jobs []string) {
	c.Sync(ctx)
	refers := map[unique.Handle[string]]bool{noNames: false}
	c.mu.RLock()
	defer c.mu.RUnlock()
	for job := range c.names.after("") {
		set := job.job.names(kind)
		is, known := refers[set]
		if !known {
			is = slices.Contains(strings.Fields(set.Value()), object)
			refers[set] = is
		}
		if !is {
			continue
		}
		if len(jobs) == most {
			break
		}
		jobs = append(jobs, job.job.Name)
	}
	return jobs
}
