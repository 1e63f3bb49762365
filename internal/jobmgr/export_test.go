package jobmgr

// Limits that tests reach.
const (
	MaxTriggers = maxTriggers
	MostCounted = mostCounted
)
