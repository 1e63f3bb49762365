package clock

import (
	"fmt"
	"time"

	"carillon/internal/common"
)

// Conditions reports a clock that differs from the cluster's, or that cannot be compared, or that jumped ahead.
func (v Verdict) Conditions(wall time.Time) []common.Condition {
	doubts := v.SelfCheck.conditions(wall)
	if !v.Stop && !v.Disagree {
		return doubts
	}
	return append(doubts, common.Condition{Code: common.ConditionClockOff, Text: v.Reason, StopsClaims: v.Stop,
		Data: common.Words{"skew": v.Skew.Round(time.Millisecond).String()}})
}

// conditions reports a clock that jumped ahead.
func (c *SelfCheck) conditions(wall time.Time) []common.Condition {
	if !c.Ahead(wall) {
		return nil
	}
	ahead, left := wall.Sub(c.Time).Round(time.Second), c.Left.Round(time.Second)
	text := fmt.Sprintf("its clock jumped ahead by %v; it is trusted again once synchronised by NTP, or in %v",
		ahead, left)
	if c.Cold {
		text += "; until then this worker claims nothing"
	} else {
		text += "; until then jobs fire by the time from before the jump"
	}
	return []common.Condition{{Code: common.ConditionClockUnproven, StopsClaims: c.Cold, Text: text,
		Data: common.Words{"ahead": ahead.String(), "left": left.String()}}}
}
