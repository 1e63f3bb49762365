package scheduler

import (
	"fmt"
	"testing"

	"carillon/internal/common"
)

// The items of a map have one job, and are ranked each on its own: else one worker would be the first for all of them.
// The other nodes of a step are ranked by the job, as its fires are.
func TestEligible_ItemsOfAMap_SpreadOverTheWorkers(t *testing.T) {
	const items, workers = 400, 4
	cluster := &fakeCluster{}
	var members []common.Member
	for i := range workers {
		members = append(members, common.Member{Registration: common.Registration{
			Life: common.Life{Worker: fmt.Sprint("w", i)}, Slots: 1}})
	}
	cluster.alive(members...)
	ranking := NewRanking(members[0].Life, cluster, func() OwnReplicas { return OwnReplicas{} })
	first := func(node string) string {
		f := Fire{Job: "etl:load", At: noon, Due: noon, Since: noon, Terms: terms()}
		f.Trigger = &Trigger{Trigger: common.Trigger{Job: f.Job, Cause: common.CauseFlow,
			Flow: &common.FlowNode{Job: "etl", Node: node}}}
		return ranking.Eligible(&f)[0].ID
	}
	shares := map[string]int{}
	for i := range items {
		shares[first(fmt.Sprintf("load@%05d", i))]++
	}
	for _, m := range members {
		if n := shares[m.Worker]; n < items/workers/2 {
			t.Errorf("%s is the first for %d of %d items: %v", m.Worker, n, items, shares)
		}
	}
	f := Fire{Job: "etl:load", At: noon, Due: noon, Since: noon, Terms: terms()}
	if step, job := first("load"), ranking.Eligible(&f)[0].ID; step != job {
		t.Errorf("the first worker for the step is %s, for its job %s", step, job)
	}
}
