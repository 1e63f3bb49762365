package common

import "time"

// JobFigures are the values of the metrics of a job.
type JobFigures struct {
	Name string
	UID  string
	// NextFire is the next fire of the schedule; zero if there is none.
	NextFire time.Time
	// LastSuccess is the end of the newest successful run; zero if no stored run succeeded.
	LastSuccess time.Time
	// LastStatus is the outcome of the newest fire that was not skipped; "" if there is none.
	LastStatus Status
	// Overdue is how long the first unclaimed fire has been due; 0 unless the job is overdue.
	Overdue time.Duration
	// Replicas are those of a daemon job; nil for other jobs, and until they have been counted.
	Replicas *ReplicaFigures
	// Daemon is the number of replicas that a daemon job is to have; 0 for other jobs. Paused jobs have none.
	Daemon Fleet
	Paused bool
}

// ReplicaFigures are the numbers of replicas of a daemon job.
type ReplicaFigures struct {
	Wanted int
	ReplicaCounts
}
