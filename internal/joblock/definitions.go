package joblock

import (
	"sync"

	"carillon/internal/common"
)

// definitions remember jobs as they were claimed last, so that one that fires often is
// not read and decoded each time: a claim compares the job's version anyway. The zero value is ready.
type definitions struct {
	mu   sync.Mutex
	jobs map[string]definition // by name
}

// definition is read only: runs share it.
type definition struct {
	version, created int64
	stored           common.StoredJob
}

// mostDefinitions bounds the memory, at a kilobyte or so for each.
const mostDefinitions = 10_000

// get gives the definition of the version that a claim is for.
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
