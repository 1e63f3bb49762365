package common

// GroupCount is how many jobs a group has; the name of no group is "".
type GroupCount struct {
	Name         string
	Jobs, Paused int
}

// LabelCount is how many jobs have a label.
type LabelCount struct {
	Key      string
	Jobs     int
	Distinct int          // values that there are
	Values   []ValueCount // those with the most jobs first
}

// ValueCount is how many jobs have a value of a label.
type ValueCount struct {
	Value string
	Jobs  int
}
