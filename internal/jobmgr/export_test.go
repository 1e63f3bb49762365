package jobmgr

import (
	"time"

	"carillon/internal/common"
)

// SetSilence shortens how long the watcher bears a silent watch.
func (w *Watcher) SetSilence(d time.Duration) { w.silence = d }

// UpToDate tells whether the catalog has seen what the store wrote.
func (s *Store) UpToDate() bool {
	s.cfg.Catalog.mu.RLock()
	defer s.cfg.Catalog.mu.RUnlock()
	return s.cfg.Catalog.revision >= s.written.Load()
}

// Fill gives the catalog a whole table, or a part of one after which more come.
func (c *Catalog) Fill(jobs []common.JobState, more bool) {
	c.apply(JobsUpdate{Whole: c.next == nil, More: more, Revision: 1, Jobs: jobs})
}

// Limits that tests go up to.
const (
	MaxTriggers = maxTriggers
	MostCounted = mostCounted
)

// Remove takes a job out of the catalog.
func (c *Catalog) Remove(name string) {
	c.apply(JobsUpdate{Revision: c.revision + 1, Gone: []string{name}})
}
