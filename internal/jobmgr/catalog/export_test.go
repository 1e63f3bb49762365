package catalog

import "carillon/internal/common"

// Fill gives the catalog a complete list, or a part of one if more follow.
func (c *Catalog) Fill(jobs []common.JobState, more bool) {
	c.apply(Update{Whole: c.next == nil, More: more, Revision: 1, Jobs: jobs})
}

// Remove deletes a job from the catalog.
func (c *Catalog) Remove(name string) {
	c.apply(Update{Revision: c.revision + 1, Gone: []string{name}})
}
