package chains

import (
	"slices"

	"carillon/internal/common"
)

// Job is a job with parents, as the keeper needs it.
type Job struct {
	Name, UID, Group string
	Version, Created int64
	Parents          []string
}

// Jobs is a set of changes of jobs. With Whole set, Put is the complete list, or its first part if More is set.
type Jobs struct {
	Whole, More bool
	Put         []Job
	Gone        []string
}

// JobsOf returns the changes of jobs as the keeper needs them: a changed job without parents counts as gone, and so
// does one that cannot be decoded (bad).
func JobsOf(whole, more bool, jobs []common.JobState, gone, bad []string) Jobs {
	u := Jobs{Whole: whole, More: more, Gone: slices.Concat(gone, bad)}
	for i := range jobs {
		j := &jobs[i]
		if len(j.After) == 0 {
			u.Gone = append(u.Gone, j.Name)
			continue
		}
		u.Put = append(u.Put, Job{Name: j.Name, UID: j.UID, Group: j.Group, Version: j.Version, Created: j.Created,
			Parents: j.After})
	}
	return u
}

// Successes are changes of the last successes of parents, Consumed of the successes that jobs have consumed.
type (
	Successes = common.JobValues[common.Success]
	Consumed  = common.JobValues[common.After]
)
