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

// EndedBackfill returns what the outcome of a backfill keeps, given the state of its fires.
func EndedBackfill(head *common.Head, state *State) *common.EndedBackfill {
	ended := &common.EndedBackfill{Range: head.Range, Concurrency: head.Concurrency, MaxFailures: head.MaxFailures}
	fires, err := common.UnpackFires(head.Fires)
	if err != nil {
		return ended
	}
	for v := range state.Nodes() {
		if v.Item < 0 || v.Item >= len(fires) {
			continue
		}
		f := &fires[v.Item]
		if f.Status = v.Status; v.Fire != "" {
			f.Last = max(f.Attempt, v.Attempt)
		}
	}
	if packed, err := common.PackEnds(fires); err == nil {
		ended.Fires = packed
	}
	return ended
}
