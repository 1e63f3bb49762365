package etcd

import (
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/defaults"
)

// review returns what a change of defaults would change.
func (s *Service) review(ctx context.Context, group string, wanted *common.Defaults) (*defaults.Review, error) {
	s.cfg.Catalog.Sync(ctx)
	if _, err := s.cfg.Table.For(ctx, group); err != nil {
		return nil, err
	}
	all := s.with(common.GroupDefaults{Group: group, Defaults: *wanted})
	r, now := &defaults.Review{}, s.cfg.Now()
	jobs, _ := s.cfg.Catalog.Since(0)
	var found []defaults.Affected
	var deep []deepCheck
	for i := range jobs {
		job := &jobs[i]
		if !defaults.Cover(group, job.Group) {
			continue
		}
		r.Jobs++
		c := defaults.Of(job, defaults.Line(all, job.Group), s.cfg.Timezone)
		if c == nil {
			continue
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		a, err := c.Affected(s.cfg.Interner, now)
		if err != nil {
			return nil, err
		}
		effective := c.Effective()
		if len(a.Faults) == 0 && (job.IsFlow() || len(effective.SecretRefs()) > 0) {
			deep = append(deep, deepCheck{len(found), effective, job})
		}
		found = append(found, a)
	}
	if err := s.deepen(ctx, deep, found); err != nil {
		return nil, err
	}
	return r, r.List(found)
}

// deepCheck is a changed job with faults that only a store finds: those of the steps of a flow, and of secrets.
type deepCheck struct {
	at    int // in the list of changed jobs
	job   common.Job
	state *common.JobState
}

// deepen adds the faults of jobs that only a store finds.
func (s *Service) deepen(ctx context.Context, checks []deepCheck, found []defaults.Affected) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, c := range checks {
		group.Go(func() error {
			if c.state.IsFlow() {
				whole := c.state.StoredJob
				if err := s.cfg.Jobs.Complete(ctx, &whole); err != nil {
					return nil //nolint:nilerr // the change of the job is refused
				}
				c.job.Steps = whole.Steps
			}
			faults, err := s.cfg.Jobs.Check(ctx, c.job)
			found[c.at].Faults = slices.DeleteFunc(faults, func(f common.Fault) bool {
				return f.Code == schedule.CodePast // it may be saved with an unchanged schedule
			})
			return err
		})
	}
	return group.Wait()
}
