package jobmgr

import (
	"fmt"

	"carillon/internal/common"
)

// Limits bounds the number of jobs and the size of their definitions; 0 is unlimited. Only growth is refused:
// existing jobs continue, and can be changed as long as they do not grow.
type Limits struct {
	Jobs, GroupJobs   int   // in total, and in one group
	Bytes, GroupBytes int64 // of their definitions
}

// within refuses a job that exceeds a limit; old is the job that it replaces, nil if none. It counts what
// this master has received, so concurrent saves may exceed a limit by a little.
func (s *Store) within(d, old *definition) error {
	limits := s.cfg.Limits
	if limits == (Limits{}) {
		return nil
	}
	more, bytes := 1, d.size()
	whole := bytes
	if old != nil {
		more, bytes = 0, bytes-old.size()
	}
	all, _ := s.cfg.Catalog.Usage("")
	switch {
	case limits.Jobs > 0 && more > 0 && all.Jobs+more > limits.Jobs:
		return overLimit("jobs_limit", "jobs", "maxJobs", "", int64(limits.Jobs))
	case limits.Bytes > 0 && bytes > 0 && all.Bytes+bytes > limits.Bytes:
		return overLimit("job_bytes_limit", "bytes of jobs", "maxJobBytes", "", limits.Bytes)
	}
	for _, name := range common.GroupLine(d.job.Group) { // what is within a group counts for it
		moreIn, bytesIn := 1, whole
		if old != nil && common.InGroup(old.job.Group, name) {
			moreIn, bytesIn = more, bytes
		}
		_, group := s.cfg.Catalog.Usage(name)
		switch {
		case limits.GroupJobs > 0 && moreIn > 0 && group.Jobs+moreIn > limits.GroupJobs:
			return overLimit("group_jobs_limit", "jobs", "maxGroupJobs", name, int64(limits.GroupJobs))
		case limits.GroupBytes > 0 && bytesIn > 0 && group.Bytes+bytesIn > limits.GroupBytes:
			return overLimit("group_job_bytes_limit", "bytes of jobs", "maxGroupJobBytes", name, limits.GroupBytes)
		}
	}
	return nil
}

func overLimit(reason, what, setting, group string, most int64) error {
	where := "there may be"
	if group != "" {
		where = fmt.Sprintf("the group %q may have", group)
	}
	return common.Errorf(common.CodeConflict, "%s at most %d %s", where, most, what).WithReason(reason).
		With("most", most, "group", group, "setting", setting).
		WithHint("delete jobs that are not needed, or let an operator of the masters raise " + setting)
}
