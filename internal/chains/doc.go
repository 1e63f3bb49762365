// Package chains fires jobs after their parents: a job that names others in its field after gets a fire when each of
// them has succeeded since its last such fire.
//
// The finish of a successful run writes the last success of its job (/cron/succeeded/<job>) if others name the job. A
// second key (/cron/after/<job>) holds which successes of each parent a job has consumed. The Keeper of each worker
// follows both, and requests the fire, which one transaction commits: it consumes the successes and puts the trigger,
// under compares of all that it was decided on. So any worker may request it at any time, and ranks only save work: the
// first live worker in the order of placement.SettleRank acts at once, each further one two seconds later. No key
// records which worker that is.
//
// The pending trigger of a job bounds its fires: successes until it is claimed are consumed together, by the next fire.
//
// Keeper.Run owns all state, in one goroutine, with one commit in flight in another. Parent is safe for concurrent use.
// Messages wait while Run is busy; the memory is proportional to the number of jobs with parents.
package chains
