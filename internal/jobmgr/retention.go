package jobmgr

import "carillon/internal/common"

// Whole reports whether the catalog has received a complete list of the jobs: a job that is not in it does
// not exist then.
func (c *Catalog) Whole() bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.revision > 0
}

// Retention returns how long a job's runs are kept. exists is false if there is no such job; an error reports
// why a job cannot be read.
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
		_, err = r.Age.Value() // an unreadable value must not become the default
	}
	return r, true, err
}
