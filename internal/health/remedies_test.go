package health

import (
	"strings"
	"testing"

	"carillon/internal/common"
)

func TestRemedies_CoverEveryCondition(t *testing.T) {
	for _, code := range common.ConditionCodes() {
		if r, known := remedies[code]; !known || !r.covered && (r.advice == "" || r.check == "") {
			t.Errorf("no remedy for %s", code)
		}
	}
}

// The advice names the job or the channel that a condition is about, and keeps its placeholder without one.
func TestRemedies_FillNames(t *testing.T) {
	for _, c := range []struct {
		condition common.Condition
		want      string
	}{
		{common.Condition{Code: common.ConditionOverdue, Data: common.Words{"first": "ops.gpu"}},
			"cronctl describe job ops.gpu lists"},
		{common.Condition{Code: common.ConditionNotifyFailing, Data: common.Words{"channels": "pager, ops"}},
			"cronctl get deliveries --channel pager -o wide"},
		{common.Condition{Code: common.ConditionNotifyFailing, Data: common.Words{"channels": "pager, ops"}},
			"cronctl test channel pager."},
		{common.Condition{Code: common.ConditionOverdue}, "cronctl describe job NAME lists"},
	} {
		if got := Remedies([]common.Condition{c.condition})[0].Advice; !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.want, got)
		}
	}
}
