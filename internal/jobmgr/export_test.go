package jobmgr

import (
	"time"

	"carillon/internal/common"
)

// SetSilence shortens how long the watcher tolerates a silent watch.
func (w *Watcher) SetSilence(d time.Duration) { w.silence = d }

// UpToDate reports whether the catalog has received the store's writes.
func (s *Store) UpToDate() bool {
	s.cfg.Catalog.mu.RLock()
	defer s.cfg.Catalog.mu.RUnlock()
	return s.cfg.Catalog.revision >= s.written.Load()
}

// Fill gives the catalog a complete list, or a part of one if more follow.
func (c *Catalog) Fill(jobs []common.JobState, more bool) {
	c.apply(JobsUpdate{Whole: c.next == nil, More: more, Revision: 1, Jobs: jobs})
}

// Limits that tests reach.
const (
	MaxTriggers = maxTriggers
	MostCounted = mostCounted
)

// Remove deletes a job from the catalog.
func (c *Catalog) Remove(name string) {
	c.apply(JobsUpdate{Revision: c.revision + 1, Gone: []string{name}})
}
