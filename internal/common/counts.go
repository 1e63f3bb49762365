package common

// GroupCount is the number of jobs of a group.
type GroupCount struct {
	Name   string `json:"name" doc:"Empty for jobs without a group."`
	Jobs   int    `json:"jobs"`
	Paused int    `json:"paused" doc:"Of these, how many are currently paused."`
}

// LabelCount is the number of jobs with a label.
type LabelCount struct {
	Key      string       `json:"key"`
	Jobs     int          `json:"jobs" doc:"Number of jobs with this label, whatever its value."`
	Values   []ValueCount `json:"values" nullable:"false" doc:"Values, those with the most jobs first; at most 100."`
	Distinct int          `json:"distinct" doc:"Total number of values."`
}

// ValueCount is the number of jobs with a value of a label.
type ValueCount struct {
	Value string `json:"value"`
	Jobs  int    `json:"jobs"`
}
