// Package jobs serves the definitions of jobs: one by one and in bulk, their versions, groups, labels and placement.
//
// A change is refused unless the caller has the role in the group that the job has when the change is committed. An
// operation on many jobs treats each of them independently.
package jobs
