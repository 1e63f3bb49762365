package keep

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// A backfill has failed if one of its fires has, or could not run since its job is gone.
func TestOutcome_OfABackfill_FailsWithItsFires(t *testing.T) {
	fires, err := common.PackFires([]common.BackfillFire{{At: time.Unix(60, 0)}, {At: time.Unix(120, 0)}})
	if err != nil {
		t.Fatal(err)
	}
	second := map[string]struct {
		status  common.Status
		reason  string
		want    common.Status
		because string
	}{
		"success":  {common.StatusSucceeded, "", common.StatusSucceeded, ""},
		"failure":  {common.StatusFailed, "exit_code", common.StatusFailed, "1 of 2 fires failed"},
		"deletion": {common.StatusSkipped, common.ReasonDeleted, common.StatusFailed, "1 of 2 fires failed"},
	}
	for name, k := range second {
		run := &common.FlowRun{Head: common.Head{Kind: common.KindBackfill, Job: "x@backfill", Fires: fires,
			Concurrency: 2, Range: &common.BackfillRange{From: time.Unix(60, 0)}}}
		graph, _, err := flow.Backfill(&run.Head)
		if err != nil {
			t.Fatal(err)
		}
		state := flow.New(graph, &run.Head)
		var all []flow.Mark
		for i, node := range []string{"fire@00000", "fire@00001"} {
			mark := common.Node{State: common.NodeEnded, Round: 1, Status: common.StatusSucceeded,
				Class: common.ClassSuccess}
			if i == 1 {
				mark.Status, mark.Reason, mark.Class = k.status, k.reason, common.ClassOf(k.status, k.reason)
			}
			all = append(all, flow.Mark{Node: node, Value: mark, Revision: int64(i + 1)})
		}
		if unknown := state.Load(all); len(unknown) > 0 {
			t.Fatal(unknown)
		}
		end := state.Next(1).Complete
		if end == nil {
			t.Fatalf("%s: it has not ended", name)
		}
		got := outcomeOf(run, state, end, time.Now())
		text := ""
		if got.Reason != nil {
			text = got.Reason.Text
		}
		if got.Status != k.want || text != k.because {
			t.Errorf("%s: it is %s (%s)", name, got.Status, text)
		}
		kept, err := got.EndedFires()
		if err != nil || len(kept) != 2 || kept[0].Status != common.StatusSucceeded || kept[1].Status != k.status ||
			got.Backfill.Concurrency != 2 || got.Backfill.Range.From.Unix() != 60 {
			t.Errorf("%s: it keeps %+v of %+v, %v", name, kept, got.Backfill, err)
		}
	}
}
