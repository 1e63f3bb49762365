package etcd

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"carillon/internal/common"
)

// refusal is why a job keeps the values that it had before a change of defaults: it would not be valid otherwise.
type refusal struct {
	why   string
	since time.Time
}

// remember adds jobs that refused what they inherit, with the reasons.
func (s *Service) remember(why map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, text := range why {
		r, known := s.refusals[name]
		if !known {
			r.since = s.cfg.Now().UTC()
		}
		r.why = text
		s.refusals[name] = r
	}
}

// forget removes the jobs that do not differ from these defaults any more; without defaults, all of them.
func (s *Service) forget(all map[string]common.GroupDefaults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.refusals, func(name string, _ refusal) bool {
		job, exists := s.cfg.Catalog.Job(name)
		return !exists || all == nil || !s.differs(all, &job)
	})
}

// Conditions reports the jobs that are not stored with the values that they inherit, since these are refused, as the
// elected master has found.
func (s *Service) Conditions() []common.Condition {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := slices.Sorted(maps.Keys(s.refusals))
	if len(names) == 0 {
		return nil
	}
	first := s.refusals[names[0]]
	c := common.Condition{Code: common.ConditionRefused, From: first.since, Data: common.Words{
		"job": names[0], "count": strconv.Itoa(len(names)), "error": first.why}}
	for _, name := range names {
		if since := s.refusals[name].since; since.Before(c.From) {
			c.From = since
		}
	}
	c.Text = fmt.Sprintf("%s the previous defaults: %s (%s)",
		common.Count(len(names), "job keeps", "jobs keep"), names[0], first.why)
	return []common.Condition{c}
}
