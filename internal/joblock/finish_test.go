package joblock_test

import (
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
)

// Another life of the same worker writes a run down as lost: the outcome of who comes
// back later with another one is not taken for what stands in the outbox.
func TestFinishOfARunThatAnotherLifeResolved(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	claim := planned("a", s.put("a", t0), t0, t1)
	result := s.claim(claim)[0]
	lost, killed := claim.Record.AsRun(common.StatusLost), claim.Record.AsRun(common.StatusKilled)
	if err := s.finish.Finish(t.Context(), []common.Outcome{{Run: lost, Token: result.Fence}})[0]; err != nil {
		t.Fatal(err)
	}
	if err := s.finish.Finish(t.Context(),
		[]common.Outcome{{Run: killed, Token: result.Fence}})[0]; err != common.ErrNotOurs {
		t.Fatalf("the later outcome: %v", err)
	}
	if got := s.outbox()[lost.ID]; got.Status != common.StatusLost {
		t.Fatalf("the outbox holds %+v", got)
	}
}

// A run that was not begun is given back without an outcome, once, as long as its job stands and
// there is no kill request; otherwise the outcome is written.
func TestGiveBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile func(s *story, claim common.Claim)
		want      common.Status // of the outcome; none where it is given back
	}{
		"given back": {func(*story, common.Claim) {}, ""},
		"the job is deleted": {func(s *story, claim common.Claim) {
			s.etcd(clientv3.OpDelete(common.JobKey(claim.Job)))
		}, common.StatusLost},
		"kill request": {func(s *story, claim common.Claim) {
			s.etcd(clientv3.OpPut(common.KillKey(claim.Record.Owner.Worker, claim.Record.Run), "{}"))
		}, common.StatusLost},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStory(t)
			claim := planned("a", s.put("a", t0), t0, t1)
			result := s.claim(claim)[0]
			c.meanwhile(s, claim)
			again := claim.Record.Again(nil, t1, t1)
			back := common.Outcome{
				Run:     claim.Record.AsRun(common.StatusLost),
				Token:   result.Fence,
				Created: result.Created,
				Next:    &again,
				Unbegun: true,
			}
			if err := s.finish.Finish(t.Context(), []common.Outcome{back})[0]; err != nil {
				t.Fatal(err)
			}
			if got := s.outbox()[claim.Record.Run].Status; got != c.want {
				t.Errorf("outcome %q, want %q", got, c.want)
			}
			if n := len(s.keys(common.RunsPrefix)) + len(s.keys(common.LockPrefix)) +
				len(s.keys(common.KillerPrefix)); n != 0 {
				t.Errorf("%d keys of the claim are left", n)
			}
			if n := len(s.keys(common.TriggersPrefix)); (n == 1) != (c.want == "") {
				t.Errorf("%d triggers", n)
			}
			if c.want != "" {
				return
			}
			if err := s.finish.Finish(t.Context(), []common.Outcome{back})[0]; err != common.ErrNotOurs {
				t.Errorf("a second time: %v", err)
			}
			if n := len(s.keys(common.OutboxPrefix)); n != 0 {
				t.Errorf("%d notes are left of it", n)
			}
		})
	}
}
