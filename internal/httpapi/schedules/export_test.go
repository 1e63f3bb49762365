package schedules

// For the tests of this folder.
const (
	MaxAheadHours     = maxAheadHours
	MaxAheadMinutes   = maxAheadMinutes
	MaxCrontabEntries = maxCrontabEntries
)
