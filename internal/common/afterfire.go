package common

// AfterFire requests the fire of a job whose parents have succeeded. It is granted if nothing has changed that it was
// decided on.
type AfterFire struct {
	Job     string
	Version int64 // ModRevision of the job
	Seen    int64 // ModRevision of /cron/after/<job>; 0: it does not exist
	// Successes are the revisions of the successes to consume, by parent.
	Successes map[string]int64
	After     After    // the new value of /cron/after/<job>
	Trigger   *Trigger // nil: only the value is missing
}

// JobValue is a stored value of a job.
type JobValue[T any] struct {
	Job      string
	Revision int64 // its ModRevision
	Value    T
}

// JobValues is a set of changes of such values. With Whole set, Put is the complete list.
type JobValues[T any] struct {
	Whole bool
	Put   []JobValue[T]
	Gone  []string
}
