package notify

import (
	"os"
	"strings"
	"testing"

	"carillon/internal/common"
)

// Each outcome is the event that the table in docs/history.md names.
func TestOutcomes_AreTheEventsOfTheDocs(t *testing.T) {
	data, err := os.ReadFile("../../docs/history.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(data), "## Outcomes and problems\n")
	for _, s := range common.Statuses {
		if !s.Terminal() {
			continue
		}
		_, row, found := strings.Cut(table, "\n| *"+strings.ReplaceAll(string(s), "_", " ")+"*")
		row, _, _ = strings.Cut(row, "\n")
		cells := strings.Split(strings.TrimSuffix(row, " |"), " | ")
		want := strings.Trim(cells[len(cells)-1], "`–")
		outcome := Outcome{Run: common.Run{Status: s, Cause: common.CauseCron}}
		if got, _ := outcome.event(); !found || string(got) != want {
			t.Errorf("%s is the event %q, and the table says %q", s, got, want)
		}
	}
}
