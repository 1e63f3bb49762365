package clock_test

import (
	"testing"
	"time"

	"carillon/internal/cluster/clock"
	"carillon/internal/common"
)

func TestClockConditions(t *testing.T) {
	if all := conditions(clock.Verdict{Skew: time.Second}); len(all) != 0 {
		t.Errorf("a clock that is right: %+v", all)
	}
	off := conditions(clock.Verdict{Skew: 90 * time.Second, Stop: true, Reason: "it is ahead"})
	if len(off) != 1 || off[0].Code != common.ConditionClockOff || !off[0].StopsClaims ||
		off[0].Data["skew"] != "1m30s" || off[0].Text != "it is ahead" {
		t.Errorf("a clock that is off: %+v", off)
	}
	if unsure := conditions(clock.Verdict{Disagree: true}); len(unsure) != 1 || unsure[0].StopsClaims {
		t.Errorf("clocks that disagree must not stop claims: %+v", unsure)
	}
}

func conditions(v clock.Verdict) []common.Condition { return v.Conditions(time.Now()) }
