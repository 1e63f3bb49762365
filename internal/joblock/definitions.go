package joblock

import (
	"sync"

	"carillon/internal/common"
)

// definitions caches jobs as they were claimed last, so that a job that fires often is not read and decoded each time:
// a claim compares the job's version anyway. The zero value is ready to use.
type definitions struct {
	mu   sync.Mutex
	jobs map[string]definition // by name
}

// definition is shared by runs, and must not be changed.
type definition struct {
	version, created int64
	stored           common.StoredJob
}

// mostDefinitions bounds the memory, at about a kilobyte per definition.
const mostDefinitions = 10_000

// get returns the definition in the version of a claim.
func (d *definitions) get(claim *common.Claim) (definition, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	known, found := d.jobs[claim.Job]
	return known, found && known.version == claim.Version
}

func (d *definitions) put(job string, def definition) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.jobs == nil || len(d.jobs) >= mostDefinitions {
		d.jobs = map[string]definition{}
	}
	d.jobs[job] = def
}
