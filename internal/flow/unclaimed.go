package flow

import "carillon/internal/common"

// Unclaimed is the trigger of a node that the worker for which it was put has not claimed, and what follows: another
// worker, or an outcome.
type Unclaimed struct {
	Trigger  common.Trigger
	Revision int64  // its ModRevision
	Worker   string // id of the worker that replaces the other; empty if there is none
	Moved    int    // value of Spread.Moved that uses it
	Reason   *common.Reason
}
