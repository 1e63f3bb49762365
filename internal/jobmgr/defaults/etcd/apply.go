package etcd

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"carillon/internal/common"
	"carillon/internal/jobmgr/defaults"
)

// pending returns the jobs saved after a revision, to which the defaults of a group apply, that are not stored with the
// values that they inherit, and the revision up to which it has seen the jobs.
func (s *Service) pending(all map[string]common.GroupDefaults, since int64, group string) (names []string,
	received int64) {
	jobs, received := s.cfg.Catalog.Since(since)
	for i := range jobs {
		job := &jobs[i]
		if defaults.Cover(group, job.Group) && s.differs(all, job) {
			names = append(names, job.Name)
		}
	}
	return names, received
}

// differs reports whether a job is not stored with the values that it inherits.
func (s *Service) differs(all map[string]common.GroupDefaults, job *common.JobState) bool {
	return defaults.Of(job, defaults.Line(all, job.Group), s.cfg.Timezone) != nil
}

// apply changes jobs, and notes in the review which were refused; without one it remembers them for Conditions.
func (s *Service) apply(ctx context.Context, actor common.Actor, review *defaults.Review, names []string) error {
	var mu sync.Mutex
	var failed error
	changed := 0
	var refusals []defaults.Affected
	why := map[string]string{}
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, name := range names {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			err := s.inherit(ctx, actor, name)
			mu.Lock()
			defer mu.Unlock()
			switch refusal, ok := errors.AsType[*common.Error](err); {
			case err == nil:
				changed++
			case common.CodeOf(err) == common.CodeNotFound: // deleted in the meantime
			case ok && refuses(refusal):
				faults := refusal.Faults
				if len(faults) == 0 {
					faults = common.Faults{common.NewFault("", cmp.Or(refusal.Reason, string(refusal.Code)), nil, "%s",
						refusal.Message)}
				}
				why[name] = common.Excerpt(refusal.Error())
				refusals = append(refusals, defaults.Affected{Name: name, Fields: []string{}, Faults: faults})
			default:
				failed = cmp.Or(failed, err)
			}
			return nil
		})
	}
	_ = group.Wait()
	if review != nil {
		review.Applied(changed, refusals)
	} else {
		s.remember(why)
	}
	return cmp.Or(failed, context.Cause(ctx))
}

// refuses reports whether an error would occur again: the job is not valid, exceeds a limit, or is damaged.
func refuses(err *common.Error) bool {
	switch err.Code {
	case common.CodeInvalid, common.CodeTooLarge, common.CodeInternal:
		return true
	case common.CodeConflict:
		return err.Reason != "busy"
	}
	return false
}

// inherit stores a job with the values that it inherits now.
func (s *Service) inherit(ctx context.Context, actor common.Actor, name string) error {
	_, err := s.cfg.Jobs.Change(ctx, actor, "inherit", name, common.Precondition{},
		func(own common.Job) (common.Job, error) { return own, nil })
	return err
}

// Run changes the jobs that are not stored with the values that they inherit, until the context ends. The elected
// master calls it. It leaves each change of defaults to the request that has made it for a while. Jobs that are refused
// stay as they are until they, or the defaults, are changed.
func (s *Service) Run(ctx context.Context) error {
	var seen, done int64 // of the jobs, and of the defaults
	defer s.forget(nil)  // the next elected master finds them
	for {
		revision, grows := s.cfg.Table.changed()
		wait := again
		if revision != done {
			wait = patience
		}
		if revision == 0 {
			s.cfg.Report(errUnknown)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grows:
			s.cfg.Report(nil)
			continue
		case <-time.After(wait):
		}
		if revision == 0 {
			continue
		}
		if revision != done {
			seen = 0
		}
		received, err := s.settle(ctx, seen)
		if err == nil {
			seen, done = received, revision
		}
		s.cfg.Report(err)
	}
}

var errUnknown = errors.New("defaults not read yet")

// settle changes the jobs saved after a revision that are not stored with the values that they inherit. It returns the
// revision up to which it has seen the jobs.
func (s *Service) settle(ctx context.Context, since int64) (received int64, err error) {
	all := s.cfg.Table.read()
	s.forget(all)
	names, received := s.pending(all, since, common.AllGroups)
	if len(names) == 0 {
		return received, nil
	}
	return received, s.apply(ctx, common.Actor{Name: "carillon", Note: "defaults"}, nil, names)
}
