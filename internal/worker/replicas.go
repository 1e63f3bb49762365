package worker

import (
	"maps"
	"slices"

	"carillon/internal/common"
	"carillon/internal/scheduler"
)

// ownReplicas returns what this worker runs of daemon jobs.
func (w *Worker) ownReplicas() scheduler.OwnReplicas { return w.dispatcher.Replicas() }

// replicaConditions returns the conditions of this worker's handovers; none while it is being created.
func (w *Worker) replicaConditions() []common.Condition {
	if w.replicas == nil {
		return nil
	}
	return w.replicas.Conditions()
}

// mostReplicaJobs bounds the jobs in a registration.
const mostReplicaJobs = 500

// bounded returns the numbers of replicas of at most mostReplicaJobs jobs, of the others none.
func bounded(replicas map[string]int) map[string]int {
	if len(replicas) <= mostReplicaJobs {
		return replicas
	}
	few := make(map[string]int, mostReplicaJobs)
	for _, job := range slices.Sorted(maps.Keys(replicas))[:mostReplicaJobs] {
		few[job] = replicas[job]
	}
	return few
}
