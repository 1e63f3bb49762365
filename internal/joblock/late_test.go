package joblock_test

import (
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/joblock"
)

// late reads the notes of this worker's late ends, and removes what was read.
func (s *story) late() []common.LateEnd {
	s.Helper()
	pending, err := joblock.NewOutbox(s.client, me).Pending(s.Context(), 1000)
	if err != nil || len(pending.Bad) > 0 {
		s.Fatal(err, pending.Bad)
	}
	if err := pending.Ack(s.Context()); err != nil {
		s.Fatal(err)
	}
	return pending.Batch.Late
}

// A survivor writes a run down as lost, and then its owner comes to its end: the outcome
// stays, and a note is left of how it ended, once.
func TestLateFinisher(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	claim := planned("a", s.put("a", t0), t0, t1)
	result := s.verdict(common.Claimed, claim)
	survivor := joblock.NewRecoverer(s.client, "worker2")
	if _, err := s.client.Delete(t.Context(), common.LockKey("a", claim.Record.Run)); err != nil {
		t.Fatal(err)
	}
	orphans, _, err := survivor.Unresolved(t.Context())
	if err != nil || len(orphans) != 1 {
		t.Fatal(err, orphans)
	}
	if done, err := survivor.Resolve(t.Context(), orphans[0], claim.Record.AsRun(common.StatusLost), nil); err != nil ||
		!done {
		t.Fatal(done, err)
	}

	at := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
	ended := claim.Record.AsRun(common.StatusFailed)
	ended.ExitCode, ended.StartedAt, ended.EndedAt, ended.OutputBytes = new(3), &t1, &at, 42
	other := claim
	other.Record.Run = common.RunID(common.PlannedFire("uid-b", t1), 1)
	other.Record.Job = "b"
	finish := func(outcomes ...common.Outcome) {
		t.Helper()
		for _, err := range s.finish.Finish(t.Context(), outcomes) {
			if err != common.ErrNotOurs {
				t.Fatalf("a late finish: %v", err)
			}
		}
	}
	// What its own worker takes for lost as well adds nothing.
	finish(common.Outcome{Run: ended, Token: result.Fence}, common.Outcome{
		Run:   other.Record.AsRun(common.StatusLost),
		Token: 7,
	})
	again := ended
	again.Status = common.StatusSucceeded
	finish(common.Outcome{Run: again, Token: result.Fence})

	if got := s.outbox(); len(got) != 0 {
		t.Fatalf("this worker's outbox has the outcomes %+v", got)
	}
	pending, err := joblock.NewOutbox(s.client, "worker2").Pending(t.Context(), 10)
	if err != nil || len(pending.Batch.Runs) != 1 || pending.Batch.Runs[0].Status != common.StatusLost ||
		len(pending.Batch.Late) != 0 {
		t.Fatalf("%v, the survivor's outbox has %+v", err, pending.Batch)
	}
	late := s.late()
	if len(late) != 1 || late[0].Run != ended.ID || late[0].Status != common.StatusFailed || *late[0].ExitCode != 3 ||
		late[0].Worker != me || !late[0].EndedAt.Equal(at) || late[0].OutputBytes != 42 {
		t.Fatalf("late ends %+v", late)
	}
	if left := s.keys(common.OutboxOf(me)); len(left) != 0 {
		t.Fatalf("left after the ack: %v", left)
	}
}

// A finish that is repeated after a lost answer leaves no note while its outcome waits.
// Once that was delivered it leaves one, which nothing shows beside the outcome.
func TestNoteOfAFinishThatIsRepeated(t *testing.T) {
	t.Parallel()
	for _, delivered := range []bool{false, true} {
		s := newStory(t)
		claim := planned("a", s.put("a", t0), t0, t1)
		result := s.verdict(common.Claimed, claim)
		outcome := common.Outcome{Run: claim.Record.AsRun(common.StatusSucceeded), Token: result.Fence}
		if err := s.finish.Finish(t.Context(), []common.Outcome{outcome})[0]; err != nil {
			t.Fatal(err)
		}
		want := error(nil)
		if delivered {
			if err := joblock.NewOutbox(s.client, me).Ack(t.Context(), []string{claim.Record.Run}); err != nil {
				t.Fatal(err)
			}
			want = common.ErrNotOurs
		}
		if err := s.finish.Finish(t.Context(), []common.Outcome{outcome})[0]; err != want {
			t.Fatalf("delivered %v: repeated: %v", delivered, err)
		}
		if late := s.late(); (len(late) == 1) != delivered || len(late) > 1 {
			t.Fatalf("delivered %v: late ends %+v", delivered, late)
		}
	}
}
