package flow_test

import (
	"testing"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// While an item of a map is retried, the map must not be decided: later steps would start by the outcome that is taken
// back.
func TestRetry_OfAnItem_ComparesAnItemThatHasNotEnded(t *testing.T) {
	t.Parallel()
	graph, err := flow.Compile(&common.Job{Name: "etl", Timezone: "UTC", Steps: []common.Step{
		{Name: "load", Command: "true", ForEach: &common.ForEach{Items: []string{"a", "b", "c"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	s := flow.New(graph, &common.Head{Kind: common.KindFlow, Run: "u.t.1", Job: "etl"})
	ended := common.Node{State: common.NodeEnded, Round: 1, Attempt: 1, Status: common.StatusFailed,
		Class: common.ClassFailure}
	s.Load([]flow.Mark{{Node: "load@00000", Value: ended, Revision: 5}, {Node: "load@00001", Value: ended, Revision: 6},
		{Node: "load@00002", Value: common.Node{State: common.NodeStarted, Round: 1, Attempt: 1}, Revision: 7}})
	r, err := s.Retry("load@00000")
	if err != nil || r.Open != "load@00002" || r.OpenRevision != 7 {
		t.Errorf("%+v, %v", r, err)
	}
}
