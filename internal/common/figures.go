package common

import "time"

// JobFigures are what the metrics of a job show.
type JobFigures struct {
	Name string
	UID  string
	// NextFire is the next fire of the schedule; zero where there is none.
	NextFire time.Time
	// LastSuccess is when the newest successful run ended; zero where no run that is kept succeeded.
	LastSuccess time.Time
	// LastStatus is the outcome of the newest fire that was not skipped; "" where there is none.
	LastStatus Status
	// Overdue is how long ago the first fire was due that no worker has claimed; 0 unless the job is overdue.
	Overdue time.Duration
}
