package contract

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
	"carillon/internal/httpapi/view"
)

// The table of outcomes in docs/history.md is what the code does: the server, and the console.
func TestOutcomes_TableOfTheDocs(t *testing.T) {
	rows := tableOf(t, "## Outcomes and problems")
	var problems []string
	for _, s := range common.Statuses {
		if !s.Terminal() {
			continue
		}
		name := "*" + strings.ReplaceAll(string(s), "_", " ") + "*"
		i := slices.IndexFunc(rows, func(cells []string) bool { return strings.HasPrefix(cells[0], name) })
		if i < 0 {
			t.Errorf("%s is not in the table", s)
			continue
		}
		ran, problem, rate := rows[i][1] == "yes", rows[i][2] == "yes", rows[i][3]
		if s.NeedsAttention() != problem {
			t.Errorf("%s is a problem: %t", s, s.NeedsAttention())
		}
		if problem {
			problems = append(problems, string(s))
		}
		counts := view.CountsOf(one(s))
		if got := counts.Ran() == 1; got != ran || counts.Total() != 1 {
			t.Errorf("%s counts as one that ran: %t", s, got)
		}
		want := map[string]*float64{"left out": nil, "counts": new(0.), "counts as success": new(1.)}
		got, known := counts.SuccessRate(), want[rate]
		if (got == nil) != (known == nil) || got != nil && *got != *known {
			t.Errorf("%s: a success rate of %v, and the table says %q", s, got, rate)
		}
	}
	console, err := os.ReadFile(filepath.Join("..", "..", "..", "web", "src", "lib", "troubles.ts"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`troubleStatuses = \[(.*?)\]`).FindSubmatch(console)
	if list == nil {
		t.Fatal("the console has no list of problems")
	}
	shown := regexp.MustCompile(`\w+`).FindAllString(string(list[1]), -1)
	slices.Sort(shown)
	slices.Sort(problems)
	if !slices.Equal(shown, problems) {
		t.Errorf("problems in the console are %v, want %v", shown, problems)
	}
}

func one(s common.Status) (by [len(common.Statuses)]int64) {
	by[slices.Index(common.Statuses[:], s)] = 1
	return by
}

// tableOf returns the cells of the first table below a heading of docs/history.md.
func tableOf(t *testing.T, heading string) (rows [][]string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "history.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, found := strings.Cut(string(data), heading+"\n")
	if !found {
		t.Fatalf("no %q", heading)
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "| *"):
			cells := strings.Split(strings.Trim(line, "|"), "|")
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows = append(rows, cells)
		case len(rows) > 0:
			return rows
		}
	}
	return rows
}
