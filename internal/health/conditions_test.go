package health_test

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/health"
)

// The start and the end of a condition are logged once each, and its start time is kept.
func TestConditions(t *testing.T) {
	var told bytes.Buffer
	var source []common.Condition
	gauges := map[string]bool{}
	log := slog.New(slog.NewTextHandler(&told, nil))
	c := health.NewConditions("north", log, time.Now, func(code string, lasts bool) { gauges[code] = lasts },
		func() []common.Condition { return slices.Clone(source) }, func() []common.Condition { return nil })

	if all := c.Active(); len(all) != 0 || c.Trouble() != "" || told.Len() != 0 {
		t.Fatalf("all is well, and yet %+v, %s", all, &told)
	}
	began := time.Date(2026, 11, 1, 3, 0, 0, 0, time.UTC)
	source = []common.Condition{{Code: common.ConditionLogStoreAway, Text: "it does not answer", From: began}}
	for range 3 {
		if all := c.Active(); len(all) != 1 || all[0].Who != "north" || !all[0].From.Equal(began) {
			t.Fatalf("%+v", all)
		}
	}
	if c.Trouble() != "" || !gauges[common.ConditionLogStoreAway] {
		t.Errorf("trouble %q, gauges %v", c.Trouble(), gauges)
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
	first := c.Active()
	source[0].From, source[0].Text = began.Add(time.Minute), "it still does not answer"
	second := c.Active()
	if len(first) != 4 || first[0].Code != common.ConditionDiskFull || first[0].From.IsZero() ||
		!first[0].From.Equal(second[0].From) ||
		!second[1].From.Equal(began) || second[1].Text != "it still does not answer" ||
		c.Trouble() != "the disk is full" {
		t.Errorf("first %+v\nsecond %+v, trouble %q", first, second, c.Trouble())
	}
	source = source[2:3]
	if all := c.Active(); len(all) != 1 || gauges[common.ConditionDiskFull] || !gauges[common.ConditionWorkerLost] ||
		c.Trouble() != "" {
		t.Errorf("%+v, gauges %v", all, gauges)
	}
	source = nil
	c.Active()
	c.Active()
	if began, ended := strings.Count(told.String(), "condition_began"),
		strings.Count(told.String(), "condition_ended"); began != 4 || ended != 4 {
		t.Errorf("told %d beginnings and %d ends\n%s", began, ended, &told)
	}
}
