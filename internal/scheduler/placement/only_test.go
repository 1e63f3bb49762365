package placement

import (
	"testing"

	"carillon/internal/common"
)

// A program with functions accepts jobs for these, and no others, whatever features they have in common.
func TestOnly_AcceptsJobsOfItsOwnFeatures(t *testing.T) {
	t.Parallel()
	program := Candidate{ID: "p", Slots: 1, Only: true,
		Features: []string{common.FeatureOutputs, "func:billing/invoices"}}
	keeper := Candidate{ID: "k", Slots: 1, Only: true, Features: []string{common.FeatureFlows}}
	worker := Candidate{ID: "w", Slots: 1, Features: []string{common.FeatureOutputs}}
	for _, c := range []struct {
		name  string
		who   Candidate
		needs []string
		want  string
	}{
		{"function", program, []string{"func:billing/invoices"}, ""},
		{"function with outputs", program, []string{"func:billing/invoices", common.FeatureOutputs}, ""},
		{"other function", program, []string{"func:billing/other"}, NeedsFeature},
		{"command", program, nil, OnlyTypes},
		{"command with outputs", program, []string{common.FeatureOutputs}, OnlyTypes},
		{"flow", program, []string{common.FeatureFlows}, NeedsFeature},
		{"flow, of a keeper", keeper, []string{common.FeatureFlows}, ""},
		{"command, of a worker", worker, nil, ""},
		{"function, of a worker", worker, []string{"func:billing/invoices"}, NeedsFeature},
	} {
		verdicts := Explain(&Requirements{Job: "j", Needs: c.needs}, []Candidate{c.who})
		got := ""
		if !verdicts[0].Eligible {
			got = verdicts[0].Reason.Code
		}
		if got != c.want {
			t.Errorf("%s: %q instead of %q", c.name, got, c.want)
		}
	}
}

func TestCandidates_TakeOnlyFromTheRegistration(t *testing.T) {
	t.Parallel()
	member := common.Member{Registration: common.Registration{Life: common.Life{Worker: "p"}, Only: true}}
	if !Candidates([]common.Member{member})[0].Only {
		t.Error("the candidate accepts any job")
	}
}
