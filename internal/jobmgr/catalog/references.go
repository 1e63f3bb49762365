package catalog

import (
	"context"
	"maps"
	"slices"
	"strings"
	"unique"

	"carillon/internal/common"
)

// references holds the names of what a job refers to, by kind, as namesText encodes them: many jobs share the same.
type references struct{ channels, secrets, parents, pool, steps, waits string }

func referencesOf(job *common.StoredJob) unique.Handle[references] {
	secrets := slices.Collect(maps.Values(job.SecretRefs()))
	r := references{
		channels: namesText(channelsOf(&job.Job)),
		parents:  namesText(slices.Clone(job.After)),
		pool:     job.Pool,
	}
	if job.Flow != nil {
		secrets = append(secrets, job.Flow.Secrets...)
	}
	if job.Flow != nil && job.IsFlow() {
		r.steps, r.waits = namesText(slices.Clone(job.Flow.Runs)), namesText(slices.Clone(job.Flow.WaitsFor))
	}
	r.secrets = namesText(secrets)
	return unique.Make(r)
}

// channelsOf returns the channels that a job notifies.
func channelsOf(job *common.Job) []string {
	return job.Notify.Channels()
}

// namesText encodes a set of names, which contain no spaces, so that equal sets have equal texts.
func namesText(names []string) string {
	slices.Sort(names)
	return strings.Join(slices.Compact(names), " ")
}

// names returns the objects of a kind.
func (r references) names(kind common.Referent) string {
	switch kind {
	case common.ReferentChannel:
		return r.channels
	case common.ReferentSecret:
		return r.secrets
	case common.ReferentJob:
		return r.parents
	case common.ReferentPool:
		return r.pool
	case common.ReferentStep:
		return r.steps
	case common.ReferentWait:
		return r.waits
	}
	return ""
}

// References counts the jobs that refer to each object of a kind, by the object's name.
func (c *Catalog) References(ctx context.Context, kind common.Referent) map[string]int {
	c.Sync(ctx)
	sets := map[unique.Handle[references]]int{}
	c.mu.RLock()
	for _, job := range c.jobs {
		sets[job.refers]++
	}
	c.mu.RUnlock()
	counts := map[string]int{}
	for set, jobs := range sets {
		for name := range strings.FieldsSeq(set.Value().names(kind)) {
			counts[name] += jobs
		}
	}
	return counts
}

// Referring returns the jobs that refer to an object, by name, at most so many.
func (c *Catalog) Referring(ctx context.Context, kind common.Referent, object string, most int) (jobs []string) {
	c.Sync(ctx)
	refers := map[unique.Handle[references]]bool{}
	c.mu.RLock()
	defer c.mu.RUnlock()
	for job := range c.names.after("") {
		set := job.job.refers
		is, known := refers[set]
		if !known {
			is = slices.Contains(strings.Fields(set.Value().names(kind)), object)
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

// InSteps returns the flows whose steps run a job, and those whose steps wait for its fires, by name, at most so many
// of each. Flows that earlier versions have saved are left out until their steps change.
func (c *Catalog) InSteps(ctx context.Context, job string, most int) (run, wait []string) {
	c.Sync(ctx)
	c.mu.RLock()
	used := c.inSteps[job] > 0
	c.mu.RUnlock()
	if !used {
		return nil, nil
	}
	return c.Referring(ctx, common.ReferentStep, job, most), c.Referring(ctx, common.ReferentWait, job, most)
}

// Children returns, by the name of a parent, the jobs that name it in after.
func (c *Catalog) Children() map[string][]string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	children := map[string][]string{}
	for name, job := range c.jobs {
		if parents := job.refers.Value().parents; parents != "" {
			for parent := range strings.FieldsSeq(parents) {
				children[parent] = append(children[parent], name)
			}
		}
	}
	return children
}

// Pooled returns the jobs that use a pool.
func (c *Catalog) Pooled(ctx context.Context) (jobs []*Entry) {
	c.Sync(ctx)
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, job := range c.jobs {
		if job.refers.Value().pool != "" {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// Pool returns the pool that the job uses; empty if it uses none.
func (e *Entry) Pool() string { return e.refers.Value().pool }
