package health

import "carillon/internal/common"

// StatusLine returns a daemon's status in one line: its most severe active problem, or its activity.
func StatusLine(lasting []common.Condition, otherwise string) string {
	if len(lasting) == 0 {
		return otherwise
	}
	return common.Excerpt(lasting[0].Text)
}
