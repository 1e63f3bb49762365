package joblock_test

import (
	"testing"

	"carillon/internal/common"
)

// Another life of the same worker writes a run down as lost: the outcome of who comes
// back later with another one is not taken for what stands in the outbox.
func TestFinishOfARunThatAnotherLifeResolved(t *testing.T) {
	s := newStory(t)
	claim := planned("a", s.put("a", t0), t0, t1)
	result := s.claim(claim)[0]
	lost, killed := claim.Record.AsRun(common.StatusLost), claim.Record.AsRun(common.StatusKilled)
	if err := s.finish.Finish(t.Context(), []common.Outcome{{Run: lost, Token: result.Fence}})[0]; err != nil {
		t.Fatal(err)
	}
	if err := s.finish.Finish(t.Context(), []common.Outcome{{Run: killed, Token: result.Fence}})[0]; err != common.ErrNotOurs {
		t.Fatalf("the later outcome: %v", err)
	}
	if got := s.outbox()[lost.ID]; got.Status != common.StatusLost {
		t.Fatalf("the outbox holds %+v", got)
	}
}
