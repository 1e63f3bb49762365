package daemon

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/cluster/clock"
	"carillon/internal/common"
)

// The start and the end of a condition are logged once each, and its start time is kept.
func TestConditions(t *testing.T) {
	var told bytes.Buffer
	var source []common.Condition
	gauges := map[string]bool{}
	c := newConditions("north", slog.New(slog.NewTextHandler(&told, nil)), func(code string, lasts bool) {
		gauges[code] = lasts
	},
		func() []common.Condition { return slices.Clone(source) }, func() []common.Condition { return nil })

	if all := c.now(); len(all) != 0 || c.trouble() != "" || told.Len() != 0 {
		t.Fatalf("all is well, and yet %+v, %s", all, &told)
	}
	began := time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
	source = []common.Condition{{Code: common.ConditionLogStoreAway, Text: "it does not answer", From: began}}
	for range 3 {
		if all := c.now(); len(all) != 1 || all[0].Who != "north" || !all[0].From.Equal(began) {
			t.Fatalf("%+v", all)
		}
	}
	if c.trouble() != "" || !gauges[common.ConditionLogStoreAway] {
		t.Errorf("trouble %q, gauges %v", c.trouble(), gauges)
	}
	// What stops claims stands first; a source that does not know since when is remembered.
	source = append(source, common.Condition{
		Code:        common.ConditionDiskFull,
		Text:        "the disk is full",
		StopsClaims: true,
	},
		common.Condition{
			Code: common.ConditionWorkerLost,
			Data: common.Words{"worker": "a"},
		}, common.Condition{Code: common.ConditionWorkerLost, Data: common.Words{"worker": "b"}})
	first := c.now()
	source[0].From, source[0].Text = began.Add(time.Minute), "it still does not answer"
	second := c.now()
	if len(first) != 4 || first[0].Code != common.ConditionDiskFull || first[0].From.IsZero() ||
		!first[0].From.Equal(second[0].From) ||
		!second[1].From.Equal(began) || second[1].Text != "it still does not answer" ||
		c.trouble() != "the disk is full" {
		t.Errorf("first %+v\nsecond %+v, trouble %q", first, second, c.trouble())
	}
	source = source[2:3]
	if all := c.now(); len(all) != 1 || gauges[common.ConditionDiskFull] || !gauges[common.ConditionWorkerLost] ||
		c.trouble() != "" {
		t.Errorf("%+v, gauges %v", all, gauges)
	}
	source = nil
	c.now()
	c.now()
	if began, ended := strings.Count(told.String(), "condition_began"),
		strings.Count(told.String(), "condition_ended"); began != 4 || ended != 4 {
		t.Errorf("told %d beginnings and %d ends\n%s", began, ended, &told)
	}
}

func TestClockConditions(t *testing.T) {
	if all := clockConditions(clock.Verdict{Skew: time.Second}); len(all) != 0 {
		t.Errorf("a clock that is right: %+v", all)
	}
	off := clockConditions(clock.Verdict{Skew: 90 * time.Second, Stop: true, Reason: "it is ahead"})
	if len(off) != 1 || off[0].Code != common.ConditionClockOff || !off[0].StopsClaims ||
		off[0].Data["skew"] != "1m30s" || off[0].Text != "it is ahead" {
		t.Errorf("a clock that is off: %+v", off)
	}
	if unsure := clockConditions(clock.Verdict{Disagree: true}); len(unsure) != 1 || unsure[0].StopsClaims {
		t.Errorf("clocks that disagree must not stop claims: %+v", unsure)
	}
}

func TestStaleWatch(t *testing.T) {
	var f freshness
	if f.fault() == nil {
		t.Error("before the first list a daemon is not ready")
	}
	f.mark()
	if f.fault() != nil {
		t.Error("a fresh watch is at fault")
	}
	f.at.Store(time.Now().Add(-2 * stale).UnixNano())
	if f.fault() == nil {
		t.Error("a watch that is silent is no fault")
	}
}
