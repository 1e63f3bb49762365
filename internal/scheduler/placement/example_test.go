package placement_test

import (
	"fmt"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

// candidates returns three live workers, one of which is draining.
func candidates() []placement.Candidate {
	return []placement.Candidate{
		{ID: "w1", Name: "alpha", Labels: map[string]string{"zone": "a"}, Slots: 8, Running: 3},
		{ID: "w2", Name: "beta", Labels: map[string]string{"zone": "b"}, Slots: 8, Running: 1},
		{ID: "w3", Name: "gamma", Labels: map[string]string{"zone": "b"}, Slots: 8, Draining: true},
	}
}

// Each worker computes its own rank from the same candidates. Rank 0 claims at once, the others later.
func ExampleRank() {
	req := placement.Requirements{Job: "report", Strategy: common.StrategyLeast}
	for _, w := range candidates() {
		rank, eligible := placement.Rank(&req, candidates(), w.ID)
		fmt.Println(w.Name, rank, eligible)
	}
	// Output:
	// alpha 1 true
	// beta 0 true
	// gamma 0 false
}

func ExampleExplain() {
	selector, err := placement.ParseSelector("zone=b")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, v := range placement.Explain(&placement.Requirements{Job: "report", Selector: selector}, candidates()) {
		if v.Eligible {
			fmt.Println(v.Name, "has rank", v.Rank)
		} else {
			fmt.Printf("%s: %s (%s)\n", v.Name, v.Reason.Text, v.Reason.Code)
		}
	}
	// Output:
	// beta has rank 0
	// alpha: it has the label zone=a (required: zone=b) (selector)
	// gamma: it is draining: it finishes its runs and claims no more (draining)
}

func ExampleWhy() {
	req := placement.Requirements{Job: "report", Slots: 20}
	fmt.Println(placement.Why(&req, candidates()).Text)
	// Output:
	// no eligible worker: 3 online, of which 3 have fewer slots than a run uses
}

func ExampleSelector() {
	selector, err := placement.ParseSelector("zone in (a, b), disk != slow")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(selector.Matches(map[string]string{"zone": "a"}))
	fmt.Println(selector.Matches(map[string]string{"zone": "a", "disk": "slow"}))
	// Output:
	// true
	// false
}
