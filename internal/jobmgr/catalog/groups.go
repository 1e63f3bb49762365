package catalog

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unique"

	"carillon/internal/common"
	"carillon/internal/jobmgr/forecast"
)

// Groups counts the jobs of each group, by name; the name of no group is "".
func (c *Catalog) Groups(ctx context.Context) ([]common.GroupCount, error) {
	c.Sync(ctx)
	now := c.now().UnixNano()
	c.mu.RLock()
	defer c.mu.RUnlock()
	counts := map[unique.Handle[string]]*common.GroupCount{}
	for job := range c.names.after("") {
		g := counts[job.group]
		if g == nil {
			g = &common.GroupCount{Name: job.group.Value()}
			counts[job.group] = g
		}
		g.Jobs++
		if now < job.pausedUntil {
			g.Paused++
		}
	}
	groups := make([]common.GroupCount, 0, len(counts))
	for _, g := range counts {
		groups = append(groups, *g)
	}
	slices.SortFunc(groups, func(a, b common.GroupCount) int { return cmp.Compare(a.Name, b.Name) })
	return groups, nil
}

// Labels counts the jobs that have each label, of one group if a group is given: at most so many keys, and so
// many values of each, those with the most jobs. cut reports whether there are more keys.
func (c *Catalog) Labels(ctx context.Context, group string, keys, values int) (labels []common.LabelCount, cut bool,
	err error) {
	c.Sync(ctx)
	counts := map[string]map[string]int{}
	for text, jobs := range c.labels(group) {
		for key, value := range labelsOf(text.Value()) {
			of := counts[key]
			if of == nil {
				of = map[string]int{}
				counts[key] = of
			}
			of[value] += jobs
		}
	}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		l := common.LabelCount{Key: key, Distinct: len(counts[key])}
		for value, jobs := range counts[key] {
			l.Jobs += jobs
			l.Values = append(l.Values, common.ValueCount{Value: value, Jobs: jobs})
		}
		slices.SortFunc(l.Values, func(a, b common.ValueCount) int {
			return cmp.Or(cmp.Compare(b.Jobs, a.Jobs), strings.Compare(a.Value, b.Value))
		})
		l.Values = slices.Clone(l.Values[:min(len(l.Values), values)])
		labels = append(labels, l)
	}
	if len(labels) > keys {
		slices.SortStableFunc(labels, func(a, b common.LabelCount) int { return cmp.Compare(b.Jobs, a.Jobs) })
		labels, cut = labels[:keys], true
		slices.SortFunc(labels, func(a, b common.LabelCount) int { return cmp.Compare(a.Key, b.Key) })
	}
	return labels, cut, nil
}

// labels counts the jobs with the same labels.
func (c *Catalog) labels(group string) map[unique.Handle[string]]int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	counts, wanted := map[unique.Handle[string]]int{}, unique.Make(group)
	for job := range c.names.after("") {
		if group == "" || job.group == wanted {
			counts[job.labels]++
		}
	}
	return counts
}

// Firing returns the scheduled jobs that a query matches, and the number of those that are paused without an
// end, all as of a revision.
func (c *Catalog) Firing(q common.JobQuery) (jobs []forecast.Job, paused int, revision int64, err error) {
	f, err := c.filter(q)
	if err != nil {
		return nil, 0, 0, err
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	jobs = make([]forecast.Job, 0, len(c.jobs))
	for r := range c.names.after("") {
		if r.job.Timetable.IsZero() || !f.matches(r) {
			continue
		}
		job := forecast.Job{
			Name:      r.job.Name,
			Group:     r.job.Group(),
			Timetable: r.job.Timetable,
			Cursor:    r.job.Cursor,
			Slots:     int(r.job.slots),
		}
		if r.job.Paused {
			if r.job.PauseUntil == nil {
				paused++
				continue
			}
			job.Resumes = *r.job.PauseUntil
		}
		jobs = append(jobs, job)
	}
	return jobs, paused, c.revision, nil
}
