package model

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"carillon/internal/common"
)

var fireText = regexp.MustCompile(`[a-z2-7]{16}(\.[t0-9][a-z0-9]*)?`)

// trace tells what history and diary have of the fires, or jobs, that a complaint names.
func (w *world) trace(broken string) string {
	var lines []string
	for _, what := range fireText.FindAllString(broken, -1) {
		for _, x := range w.diary {
			if strings.HasPrefix(x.run, what) {
				lines = append(lines, fmt.Sprintf("%s ran on %s until %s: %s of %s", wallTime(x.began), x.life,
					wallTime(x.ended), x.run, x.job))
			}
		}
		for _, e := range w.history {
			if strings.Contains(e.key, what) || e.created != 0 && strings.Contains(e.value, what) ||
				e.created == 0 && under([]byte(e.key), common.MovesPrefix) {
				value := e.value
				if e.created == 0 {
					value = "is deleted"
				}
				lines = append(lines, fmt.Sprintf("%s rev %d by %s: %s %.800s", wallTime(e.at), e.rev, e.by,
					e.key, value))
			}
		}
	}
	for _, r := range w.remarks {
		if strings.Contains(broken, r.life) {
			lines = append(lines, fmt.Sprintf("%s %s %s", wallTime(r.at), r.life, r.what))
		}
	}
	slices.SortStableFunc(lines, func(a, b string) int { return strings.Compare(a[:12], b[:12]) })
	return strings.Join(lines, "\n")
}
