package jobmgr

import "carillon/internal/common"

// Whole tells whether the catalog has had a whole list of the jobs: one that is not in it
// does not exist then.
func (c *Catalog) Whole() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.revision > 0
}

// Retention tells how long a job's runs are kept. exists is false where there is no such
// job; why one cannot be read is an error.
func (c *Catalog) Retention(name string) (r common.Retention, exists bool, err error) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if err, bad := c.bad[name]; bad {
		return common.Retention{}, true, err
	}
	job, exists := c.jobs[name]
	if !exists || job.retention == nil {
		return common.Retention{}, exists, nil
	}
	if r = *job.retention; r.Age != "" {
		_, err = r.Age.Value() // what nobody can read must not become the default
	}
	return r, true, err
}
