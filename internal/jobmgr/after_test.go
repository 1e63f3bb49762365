package jobmgr_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// following returns a job without a schedule that runs after others.
func following(name string, parents ...string) common.Job {
	return common.Job{Name: name, Timezone: "UTC", Command: "true", After: parents}
}

func (s *story) refusal(job common.Job) common.Faults {
	s.Helper()
	_, _, err := s.store.Put(s.Context(), actor, job, any0)
	if refusal, ok := errors.AsType[*common.Error](err); ok {
		return refusal.Faults
	}
	s.Fatalf("put %s: %v", job.Name, err)
	return nil
}

func (s *story) after(name string) common.After {
	s.Helper()
	kvs := s.under(common.AfterKey(name))
	if len(kvs) != 1 {
		s.Fatalf("%d values of consumed successes of %s", len(kvs), name)
	}
	a, err := common.DecodeAfter(kvs[0].Value, kvs[0].ModRevision)
	if err != nil {
		s.Fatal(err)
	}
	return a
}

// succeed writes a success as a finish does.
func (s *story) succeed(job string) int64 {
	s.Helper()
	return s.raw(common.SucceededKey(job), encode(s, common.Success{Run: job + "-run", PlannedAt: noon, EndedAt: noon}))
}

func TestAfter_UnknownParent_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(following("p"))
	faults := s.refusal(following("c", "p", "import-stok"))
	if len(faults) != 1 || faults[0].Location != "after[1]" || faults[0].Code != "unknown_job" ||
		!strings.Contains(faults[0].Message, `"import-stok"`) {
		t.Fatalf("faults: %+v", faults)
	}
	if n := len(s.keys(common.AfterPrefix)) + len(s.keys(common.JobKey("c"))); n != 0 {
		t.Errorf("%d keys were written", n)
	}
	if _, faults, err := s.store.Validate(t.Context(), following("c", "import-stok")); err != nil || len(faults) != 1 {
		t.Errorf("validation: %v, %v", faults, err)
	}
}

func TestAfter_Cycle_IsRefusedAndNamed(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(following("a"))
	s.put(following("b", "a"))
	s.put(following("c", "b"))
	faults := s.refusal(following("a", "c"))
	if len(faults) != 1 || faults[0].Code != "after_cycle" || faults[0].Location != "after[0]" ||
		!strings.Contains(faults[0].Message, "a after c after b after a") {
		t.Fatalf("faults: %+v", faults)
	}
	if faults := s.refusal(following("a", "a")); len(faults) != 1 || faults[0].Code != "itself" {
		t.Fatalf("faults: %+v", faults)
	}
	s.put(following("b")) // the chain is cut
	s.put(following("a", "c"))
}

// Of saves at the same time that would make a cycle together, one is refused.
func TestAfter_ConcurrentSaves_MakeNoCycle(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	names := []string{"a", "b", "c", "d"}
	for range 10 {
		for _, name := range names {
			s.put(following(name))
		}
		errs := make([]error, len(names))
		var saving sync.WaitGroup
		for i, name := range names {
			store := s.master(s.catalog)
			saving.Go(func() {
				_, _, errs[i] = store.Put(t.Context(), actor, following(name, names[(i+1)%len(names)]), any0)
			})
		}
		saving.Wait()
		refused := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
		if len(refused) != 1 || common.CodeOf(refused[0]) != common.CodeInvalid {
			t.Fatalf("the saves ended with %v", errs)
		}
	}
}

// starting returns a flow whose steps run jobs, after others.
func starting(name string, jobs []string, after ...string) common.Job {
	job := common.Job{Name: name, Timezone: "UTC", Timeout: "1h", After: after}
	for i, runs := range jobs {
		job.Steps = append(job.Steps, common.Step{Name: fmt.Sprintf("step%d", i), Job: runs})
	}
	return job
}

// The run of a job as a step is a success of that job: a flow after it, or after what runs after it, would start itself
// for ever.
func TestAfter_FlowThatRunsItsParents_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	for _, name := range []string{"other", "p"} {
		s.put(following(name))
	}
	s.put(following("q", "p"))
	s.put(starting("inner", []string{"p"}))
	for _, c := range []struct {
		flow     common.Job
		at, path string
	}{
		{starting("f", []string{"other", "p"}, "p"), "steps[1].job", "f → p → f"},
		{starting("f", []string{"p"}, "other", "q"), "steps[0].job", "f → p → q → f"},
		{starting("f", []string{"inner"}, "q"), "steps[0].job", "f → inner → p → q → f"},
		{starting("f", []string{"inner"}, "inner"), "steps[0].job", "f → inner → f"},
	} {
		faults := s.refusal(c.flow)
		if len(faults) != 1 || faults[0].Code != "loop" || faults[0].Location != c.at ||
			faults[0].Data["path"] != c.path {
			t.Errorf("%v after %v: %+v", flow.Jobs(&c.flow), c.flow.After, faults)
		}
	}
	s.put(starting("f", []string{"p"}, "other"))
	faults := s.refusal(following("other", "q"))
	if len(faults) != 1 || faults[0].Code != "loop" || faults[0].Location != "after[0]" ||
		faults[0].Data["path"] != "other → f → p → q → other" {
		t.Errorf("%+v", faults)
	}
	s.put(starting("f", []string{"other"}, "q"))
}

// Of a save of steps and one of parents that would make a flow start itself together, one is refused.
func TestAfter_ConcurrentSavesOfStepsAndParents_MakeNoLoop(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(following("p"))
	s.put(following("other"))
	for range 10 {
		s.put(following("x"))
		s.put(starting("f", []string{"other"}, "x"))
		saves := []common.Job{starting("f", []string{"p"}, "x"), following("x", "p")}
		errs := make([]error, len(saves))
		var saving sync.WaitGroup
		for i, job := range saves {
			store := s.master(s.catalog)
			saving.Go(func() { _, _, errs[i] = store.Put(t.Context(), actor, job, any0) })
		}
		saving.Wait()
		refused := slices.DeleteFunc(slices.Clone(errs), func(err error) bool { return err == nil })
		if len(refused) != 1 || common.CodeOf(refused[0]) != common.CodeInvalid {
			t.Fatalf("the saves ended with %v", errs)
		}
	}
}

// Successes count from the save that names the parent; those of parents that were named before stay as they are.
func TestAfter_Save_KeepsWhatWasConsumed(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	for _, name := range []string{"p", "q", "r"} {
		s.put(following(name))
	}
	before := s.succeed("p")
	child := s.put(following("c", "p", "q"))
	if a := s.after("c"); a.Created != child.Created || a.Consumed["p"] <= before || len(a.Consumed) != 2 {
		t.Fatalf("after the creation: %+v", a)
	}
	s.raw(common.AfterKey("c"), encode(t, common.After{Created: child.Created,
		Consumed: map[string]int64{"p": 7, "q": 8}}))
	changed := following("c", "q", "p")
	changed.Title = "another title"
	s.put(changed)
	if a := s.after("c"); a.Consumed["p"] != 7 || a.Consumed["q"] != 8 {
		t.Fatalf("after a save with the same parents: %+v", a)
	}
	saved := s.put(following("c", "q", "r"))
	if a := s.after("c"); a.Consumed["q"] != 8 || a.Consumed["r"] != saved.Version || len(a.Consumed) != 2 ||
		a.Created != child.Created {
		t.Fatalf("after another save: %+v, version %d", a, saved.Version)
	}
	s.put(following("c"))
	if n := len(s.keys(common.AfterPrefix)); n != 0 {
		t.Errorf("%d values are left of a job without parents", n)
	}
}

// A save of the parents and a fire at the same time: the fire that was decided on the earlier parents is refused.
func TestAfter_Save_ChangesWhatAFireCompares(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(following("p"))
	s.put(following("q"))
	s.put(following("c", "p"))
	seen := s.under(common.AfterKey("c"))[0].ModRevision
	s.put(following("c", "p", "q"))
	if now := s.under(common.AfterKey("c"))[0].ModRevision; now == seen {
		t.Error("the value that a fire compares was not written")
	}
}

// Workers that cannot write successes must not run a parent: the save stores that with the parent, once.
func TestAfter_ParentsNeedWorkersThatWriteSuccesses(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	parent := s.put(minutely("p"))
	child := s.put(following("c", "p"))
	if !slices.Contains(child.Needs, common.FeatureAfter) {
		t.Errorf("the child needs %v", child.Needs)
	}
	named, err := s.store.Get(t.Context(), "p")
	if err != nil || !slices.Contains(named.Needs, common.FeatureSuccesses) || named.Number != parent.Number+1 ||
		!named.Cursor.Equal(parent.Cursor) || named.UID != parent.UID {
		t.Fatalf("the parent is %+v, %v", named, err)
	}
	changes := s.changes("p")
	if last := changes[len(changes)-1]; last.Verb != "replace" || last.Actor.Note != "job c runs after it" {
		t.Errorf("the last change of the parent: %+v", last)
	}
	s.put(following("d", "p"))
	if again, _ := s.store.Get(t.Context(), "p"); again.Version != named.Version {
		t.Error("the parent was written again")
	}
	edited := minutely("p")
	edited.Title = "edited"
	if state := s.put(edited); !slices.Contains(state.Needs, common.FeatureSuccesses) {
		t.Errorf("after a save the parent needs %v", state.Needs)
	}
}

// Older workers would write the success of a run that is to start no others: the first such request stores with the
// job that it needs workers which do not, and later saves keep that.
func TestAfter_RunWithoutIt_NeedsWorkersThatKnowIt(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	before := s.put(minutely("p"))
	s.put(following("c", "p"))
	request := func(no bool) common.Trigger {
		t.Helper()
		trigger, err := s.store.Trigger(t.Context(), actor, common.TriggerRequest{Job: "p", NoAfter: no})
		if err != nil || trigger.NoAfter != no {
			t.Fatalf("%+v, %v", trigger, err)
		}
		kvs := s.under(common.TriggerKey("p", trigger.ID))
		if stored, err := common.Decode[common.Trigger](kvs[0].Value); err != nil || stored.NoAfter != no {
			t.Fatalf("stored %+v, %v", stored, err)
		}
		return trigger
	}
	get := func() common.JobState {
		t.Helper()
		state, err := s.store.Get(t.Context(), "p")
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	if request(false); slices.Contains(get().Needs, common.FeatureNoAfter) {
		t.Error("another run added the need")
	}
	request(true)
	named := get()
	if !slices.Contains(named.Needs, common.FeatureNoAfter) || !slices.Contains(named.Needs, common.FeatureSuccesses) ||
		named.UID != before.UID || !named.Cursor.Equal(before.Cursor) {
		t.Errorf("the job is %+v", named)
	}
	if request(true); get().Version != named.Version {
		t.Error("the job was written again")
	}
	edited := minutely("p")
	edited.Title = "edited"
	if state := s.put(edited); !slices.Contains(state.Needs, common.FeatureNoAfter) {
		t.Errorf("after a save it needs %v", state.Needs)
	}
}

// A job that others name is deleted only by force. They then wait for a job of the name, whose successes count.
func TestAfter_DeleteOfAParent_NeedsForce(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(following("p"))
	s.put(following("c", "p"))
	s.put(following("d", "p"))
	s.succeed("p")
	err := s.store.Delete(t.Context(), actor, "p", any0, common.DeleteRequest{})
	wantCode(t, "without force", err, common.CodeConflict)
	if refusal, _ := errors.AsType[*common.Error](err); refusal.Reason != "named_in_after" ||
		!strings.Contains(refusal.Message, "c, d") {
		t.Fatalf("refused with %+v", refusal)
	}
	s.remove("d")
	if err := s.store.Delete(t.Context(), actor, "p", any0, common.DeleteRequest{Force: true}); err != nil {
		t.Fatal(err)
	}
	if n := len(s.keys(common.SucceededPrefix)); n != 0 {
		t.Errorf("%d successes are left of a deleted job", n)
	}
	state := s.put(following("c", "p")) // as it is
	parents, err := s.store.Parents(t.Context(), &state)
	if err != nil || len(parents) != 1 || !parents[0].Missing || !parents[0].Waiting {
		t.Fatalf("parents: %+v, %v", parents, err)
	}
	edited := following("c", "p")
	edited.Title = "edited"
	s.put(edited)
	eventually(t, "the catalog knows the child", func() bool { return s.catalog.IsParent("p") && s.catalog.UpToDate() })
	if again := s.put(following("p")); !slices.Contains(again.Needs, common.FeatureSuccesses) {
		t.Errorf("the new parent needs %v", again.Needs)
	}
}

// A parent is not deleted while another master saves a job that names it: either the deletion is refused, or the save.
func TestAfter_DeleteRacingWithSave_LeavesNoDanglingName(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	other := s.master(s.catalog)
	s.put(following("z"))
	for i := range 20 {
		parent, child := fmt.Sprint("p", i), fmt.Sprint("c", i)
		s.put(following(parent))
		s.put(following(child, parent))
		s.put(following(child)) // so that the parent was named before
		var racing sync.WaitGroup
		var deleted, saved error
		racing.Go(func() { deleted = s.store.Delete(t.Context(), actor, parent, any0, common.DeleteRequest{}) })
		racing.Go(func() { _, _, saved = other.Put(t.Context(), actor, following(child, parent), any0) })
		racing.Wait()
		if (deleted == nil) == (saved == nil) {
			t.Fatalf("deletion: %v, save: %v", deleted, saved)
		}
	}
}

// The state of the parents tells apart which have succeeded since the last fire.
func TestAfter_Parents_ShowWhatTheJobWaitsFor(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(following("p"))
	s.put(following("q"))
	child := s.put(following("c", "p", "q"))
	waiting := func() (names []string) {
		t.Helper()
		parents, err := s.store.Parents(t.Context(), &child)
		if err != nil || len(parents) != 2 {
			t.Fatal(parents, err)
		}
		for _, p := range parents {
			if p.Waiting {
				names = append(names, p.Job)
			}
		}
		return names
	}
	if got := waiting(); !slices.Equal(got, []string{"p", "q"}) {
		t.Errorf("at first it waits for %v", got)
	}
	at := s.succeed("p")
	if got := waiting(); !slices.Equal(got, []string{"q"}) {
		t.Errorf("after a success it waits for %v", got)
	}
	s.raw(common.AfterKey("c"), encode(t, common.After{Created: child.Created,
		Consumed: map[string]int64{"p": at, "q": child.Version}}))
	if got := waiting(); !slices.Equal(got, []string{"p", "q"}) {
		t.Errorf("after a fire it waits for %v", got)
	}
	s.remove("c")
	if n := len(s.keys(common.AfterPrefix)); n != 0 {
		t.Errorf("%d values are left of a deleted job", n)
	}
}

// A pending fire of a paused job says so.
func TestAfter_PendingWhilePaused_HasThatReason(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(following("p"))
	job := following("c", "p")
	job.Paused = true
	state := s.put(job)
	s.raw(common.TriggerKey("c", common.AfterTrigger), encode(t, common.Trigger{ID: common.AfterTrigger, Job: "c",
		JobUID: state.UID, Fire: common.TriggeredFire(state.UID, "x"), PlannedAt: noon, NotBefore: noon, Attempt: 1,
		Cause: common.CauseAfter}))
	eventually(t, "the catalog knows the job", s.catalog.UpToDate)
	runs, err := liveRuns(t.Context(), s.store)
	if err != nil || len(runs) != 1 || runs[0].Reason == nil || runs[0].Reason.Code != common.ReasonPaused {
		t.Fatalf("%+v, %v", runs, err)
	}
	if _, err := s.client.Delete(t.Context(), common.TriggersPrefix, clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
}
