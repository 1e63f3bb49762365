package jobs

// For the tests of this folder.
const (
	MaxApplyBody   = maxApplyBody
	MaxLabelKeys   = maxLabelKeys
	MaxLabelValues = maxLabelValues
	MaxMany        = maxMany
	ResultRefused  = resultRefused
	ResultUnknown  = resultUnknown
)

var (
	Merge = merge
)
