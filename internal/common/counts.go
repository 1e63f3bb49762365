package common

// GroupCount is the number of jobs of a group; the name "" counts jobs without a group.
type GroupCount struct {
	Name         string
	Jobs, Paused int
}

// LabelCount is the number of jobs with a label.
type LabelCount struct {
	Key      string
	Jobs     int
	Distinct int          // number of different values
	Values   []ValueCount // those with the most jobs first
}

// ValueCount is the number of jobs with a value of a label.
type ValueCount struct {
	Value string
	Jobs  int
}
