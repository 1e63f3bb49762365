package placement

import (
	"slices"
	"strings"

	"carillon/internal/common"
)

// Lacking returns why no flow run that needs some features may begin: a worker that keeps flow runs lacks one, and
// could advance it by other rules. It returns nil if all of them have all.
func Lacking(needs []string, all []Candidate) *common.Reason {
	if len(needs) == 0 {
		return nil
	}
	var lacking []string
	for i := range all {
		if c := &all[i]; slices.Contains(c.Features, common.FeatureFlows) {
			for _, feature := range common.Lacking(needs, c.Features) {
				lacking = common.Adding(lacking, feature)
			}
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	what := strings.Join(lacking, ", ")
	return &common.Reason{Code: common.ReasonNoWorker, Data: map[string]string{"needs": what},
		Text: "not all workers that keep flow runs have the feature " + what + ", which the flow run needs"}
}
