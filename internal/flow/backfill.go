package flow

import (
	"strconv"

	"carillon/internal/common"
)

// BackfillStep is the step of which the fires of a backfill are the items.
const BackfillStep = "fire"

// Backfill returns the graph of a backfill: a map over its fires. After head.MaxFailures failures no further fire is
// started; 0: there is no limit.
func Backfill(head *common.Head) (*Graph, []common.BackfillFire, error) {
	fires, err := common.UnpackFires(head.Fires)
	if err != nil {
		return nil, nil, err
	}
	items := make([]string, len(fires))
	for i := range items {
		items[i] = strconv.Itoa(i)
	}
	each := &common.ForEach{Items: items, MaxFailures: len(items)}
	if head.MaxFailures > 0 {
		each.MaxFailures, each.Stop = head.MaxFailures-1, true
	}
	// The step is a node besides its items.
	graph, err := compile(&common.Job{Name: "backfill", Steps: []common.Step{
		{Name: BackfillStep, Command: ":", ForEach: each}}, Concurrency: max(1, head.Concurrency)},
		common.MaxBackfill+1)
	return graph, fires, err
}
