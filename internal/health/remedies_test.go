package health

import (
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
