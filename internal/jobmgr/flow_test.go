package jobmgr_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/flow"
	"carillon/internal/jobmgr"
)

// aFlow returns a flow of two steps.
func aFlow(name string) common.Job {
	return common.Job{Name: name, CronExpr: "* * * * *", Timeout: "1h", Steps: []common.Step{
		{Name: "extract", Command: "echo", Outputs: map[string]common.Output{"day": {}}},
		{Name: "load", Args: []string{"/bin/load"}, After: []common.Edge{{Step: "extract"}},
			Env: map[string]string{"DAY": "${{ steps.extract.outputs.day }}"}},
	}}
}

// bulky returns a flow whose body is larger than one transaction.
func bulky(name string, steps, bytesEach int) common.Job {
	random := rand.New(rand.NewPCG(1, 1))
	job := common.Job{Name: name}
	for i := range steps {
		text := make([]byte, bytesEach)
		for n := range text {
			text[n] = byte('a' + random.IntN(26))
		}
		job.Steps = append(job.Steps, common.Step{Name: fmt.Sprintf("s%d", i), Command: string(text)})
	}
	return job
}

func (s *story) whole(name string) common.JobState {
	s.Helper()
	state, err := s.store.Get(s.Context(), name)
	if err == nil {
		err = s.store.Complete(s.Context(), &state.StoredJob)
	}
	if err != nil {
		s.Fatal(err)
	}
	return state
}

func sameSteps(a, b []common.Step) bool {
	one, _ := json.Marshal(a)
	other, _ := json.Marshal(b)
	return string(one) == string(other)
}

func TestFlow_StepsAreStoredApartFromTheJob(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := aFlow("f")
	saved := s.put(job)
	kv := s.under(common.JobKey("f"))[0]
	if strings.Contains(string(kv.Value), "steps.extract") || strings.Contains(string(kv.Value), `"steps":[`) {
		t.Errorf("the job has its steps: %s", kv.Value)
	}
	parts := s.under(common.FlowOf(saved.UID))
	if len(parts) != 1 || parts[0].ModRevision != kv.ModRevision {
		t.Fatalf("%d parts, not put with the job", len(parts))
	}
	stored, err := common.Decode[common.StoredJob](kv.Value)
	if err != nil || stored.Flow == nil || stored.Flow.Steps != 2 || !slices.Equal(stored.Needs, []string{"flows"}) {
		t.Errorf("stored: %s, %v", kv.Value, err)
	}
	if got := s.whole("f"); !sameSteps(got.Steps, job.Steps) || got.Version != saved.Version {
		t.Errorf("read: %+v", got.Steps)
	}
	if !sameSteps(saved.Steps, job.Steps) {
		t.Errorf("saved: %+v", saved.Steps)
	}
	changes := s.changes("f")
	if after, err := common.Decode[common.StoredJob](changes[0].After); err != nil || len(after.Steps) != 2 ||
		after.Flow.Digest != stored.Flow.Digest {
		t.Errorf("the audit entry has %s, %v", changes[0].After, err)
	}
}

func TestFlow_SavedAgain(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	first := s.put(aFlow("f"))
	if again := s.put(aFlow("f")); again.Version != first.Version || len(s.changes("f")) != 1 {
		t.Error("an unchanged flow is written")
	}
	moved := aFlow("f")
	moved.CronExpr = "@hourly"
	second := s.put(moved)
	if second.Flow.Digest != first.Flow.Digest || len(s.under(common.FlowOf(first.UID))) != 1 {
		t.Error("another schedule is another body")
	}
	changed := aFlow("f")
	changed.Steps[1].Args = []string{"/bin/other"}
	third := s.put(changed)
	if third.Flow.Digest == first.Flow.Digest || len(s.under(common.FlowOf(first.UID))) != 2 || third.UID != first.UID {
		t.Error("a flow run that has begun needs the body that it began with")
	}
	plain := s.put(common.Job{Name: "f", Command: "true"})
	if plain.Flow != nil || plain.IsFlow() || len(plain.Needs) > 0 || s.whole("f").Flow != nil {
		t.Errorf("a flow becomes a job: %+v", plain.StoredJob)
	}
}

// Pausing must work for a flow whose steps cannot be read, and must keep them.
func TestFlow_PauseAndResume_KeepTheSteps(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	before := s.put(aFlow("f"))
	for _, change := range []func() (common.JobState, error){
		func() (common.JobState, error) {
			return s.store.Pause(t.Context(), actor, "f", common.PauseRequest{Note: "x"}, any0)
		},
		func() (common.JobState, error) { return s.store.Resume(t.Context(), actor, "f", any0) },
	} {
		if state, err := change(); err != nil || state.Flow == nil || state.Flow.Digest != before.Flow.Digest {
			t.Fatalf("%+v, %v", state.Flow, err)
		}
		if got := s.whole("f"); len(got.Steps) != 2 {
			t.Errorf("%d steps are left", len(got.Steps))
		}
	}
}

func TestFlow_Change_GetsTheSteps(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(aFlow("f"))
	state, err := s.store.Change(t.Context(), actor, "patch", "f", any0, func(old common.Job) (common.Job, error) {
		if len(old.Steps) != 2 {
			t.Errorf("%d steps", len(old.Steps))
		}
		old.Steps = append(slices.Clone(old.Steps), common.Step{Name: "third", Command: "true"})
		return old, nil
	})
	if err != nil || len(state.Steps) != 3 || len(s.whole("f").Steps) != 3 {
		t.Errorf("%d steps, %v", len(state.Steps), err)
	}
}

// A body that is larger than one transaction is put before the job. It may be deleted until a job names it.
func TestFlow_LargeBody_IsStoredAsAWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := bulky("f", 60, 30<<10)
	saved := s.put(job)
	if saved.Flow.Parts < 5 || len(s.under(common.FlowOf(saved.UID))) != saved.Flow.Parts {
		t.Fatalf("%d parts of %d", len(s.under(common.FlowOf(saved.UID))), saved.Flow.Parts)
	}
	if got := s.whole("f"); !sameSteps(got.Steps, job.Steps) {
		t.Error("the steps have changed")
	}
	if size := len(s.under(common.ChangesPrefix)[0].Value); size > 64<<10 {
		t.Errorf("the audit entry has %d bytes", size)
	}
	changed := bulky("f", 61, 30<<10)
	if err := saveWithoutParts(s, changed, saved.UID); err != nil {
		t.Error(err)
	}
	if got := s.whole("f"); len(got.Steps) != 61 {
		t.Errorf("%d steps", len(got.Steps))
	}
}

// saveWithoutParts saves a flow while another process deletes its parts just before the transaction that names them.
func saveWithoutParts(s *story, job common.Job, uid string) error {
	_, digest, err := flow.Encode(&job)
	if err != nil {
		return err
	}
	client := s.server.Client()
	plain, deleted := client.KV, int64(0)
	client.KV = &intercepted{plain, func(ops []clientv3.Op) error {
		if deleted > 0 || !slices.ContainsFunc(ops, func(op clientv3.Op) bool {
			return op.IsPut() && string(op.KeyBytes()) == common.JobKey(job.Name)
		}) {
			return nil
		}
		resp, err := plain.Delete(s.Context(), common.FlowPartsOf(uid, digest), clientv3.WithPrefix())
		if err == nil {
			deleted = resp.Deleted
		}
		return err
	}}
	if _, err := s.with(jobmgr.Config{Client: client}, nil).Apply(s.Context(), actor, job, any0, false); err != nil {
		return err
	}
	if deleted == 0 {
		return errors.New("no part was deleted in between")
	}
	return nil
}

// intercepted calls a function with the writes of each transaction before it is committed.
type intercepted struct {
	clientv3.KV
	before func([]clientv3.Op) error
}

func (k *intercepted) Txn(ctx context.Context) clientv3.Txn {
	return &interceptedTxn{k.KV.Txn(ctx), k, nil}
}

type interceptedTxn struct {
	clientv3.Txn
	by  *intercepted
	ops []clientv3.Op
}

func (t *interceptedTxn) If(cmps ...clientv3.Cmp) clientv3.Txn { t.Txn = t.Txn.If(cmps...); return t }

func (t *interceptedTxn) Then(ops ...clientv3.Op) clientv3.Txn {
	t.Txn, t.ops = t.Txn.Then(ops...), ops
	return t
}

func (t *interceptedTxn) Else(ops ...clientv3.Op) clientv3.Txn { t.Txn = t.Txn.Else(ops...); return t }

func (t *interceptedTxn) Commit() (*clientv3.TxnResponse, error) {
	if err := t.by.before(t.ops); err != nil {
		return nil, err
	}
	return t.Txn.Commit()
}

func TestFlow_MissingBody_IsNamedAndStoredAgain(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	saved := s.put(aFlow("f"))
	fresh := s.with(jobmgr.Config{}, nil) // without the body in memory
	if _, err := s.client.Delete(t.Context(), common.FlowOf(saved.UID), clientv3.WithPrefix()); err != nil {
		t.Fatal(err)
	}
	state, err := fresh.Get(t.Context(), "f")
	if err != nil {
		t.Fatal(err)
	}
	err = fresh.Complete(t.Context(), &state.StoredJob)
	if e, ok := errors.AsType[*common.Error](err); !ok || e.Reason != common.ReasonDefinitionMissing ||
		!errors.Is(err, flow.ErrDefinition) {
		t.Errorf("complete: %v", err)
	}
	if _, err := fresh.Pause(t.Context(), actor, "f", common.PauseRequest{Note: "x"}, any0); err != nil {
		t.Errorf("pause: %v", err)
	}
	again := aFlow("f")
	again.Paused, again.PauseNote = true, "x"
	if _, _, err := fresh.Put(t.Context(), actor, again, any0); err != nil {
		t.Fatal(err)
	}
	if len(s.under(common.FlowOf(saved.UID))) != 1 {
		t.Error("the body is not stored again")
	}
	if err := fresh.Complete(t.Context(), &state.StoredJob); err != nil {
		t.Error(err)
	}
}

func TestFlow_Faults_AreAllReturned_AndNothingIsWritten(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := aFlow("f")
	job.CronExpr, job.Timezone = "61 * * * *", "Nowhere"
	job.Steps[0].Placement = &common.Placement{Selector: "(("}
	job.Steps[1].After = []common.Edge{{Step: "none"}}
	job.Steps[1].Command = "echo ${{ steps.extract.outputs.day }}"
	_, _, err := s.store.Put(t.Context(), actor, job, any0)
	refusal, ok := errors.AsType[*common.Error](err)
	if !ok {
		t.Fatal(err)
	}
	var got []string
	for _, f := range refusal.Faults {
		got = append(got, f.Location)
	}
	for _, want := range []string{"cronExpr", "steps[0].placement.selector", "steps[1].after[0]", "steps[1].command"} {
		if !slices.Contains(got, want) {
			t.Errorf("no fault at %s: %v", want, got)
		}
	}
	many := common.Job{Name: "f", Steps: make([]common.Step, 10_001)}
	_, _, err = s.store.Put(t.Context(), actor, many, any0)
	wantCode(t, "10,001 steps", err, common.CodeInvalid)
	_, _, err = s.store.Put(t.Context(), actor, bulky("f", 150, 60<<10), any0)
	wantCode(t, "more than 8 MiB", err, common.CodeInvalid)
	if keys := s.keys(common.Root); len(keys) > 0 {
		t.Errorf("refused flows wrote %v", keys)
	}
}

func TestFlow_ThatLeadsBackToItself_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	runs := func(name, job string) common.Job {
		return common.Job{Name: name, Steps: []common.Step{{Name: "s", Command: "true"}, {Name: "t", Job: job}}}
	}
	s.put(common.Job{Name: "leaf", Command: "true"})
	s.put(runs("c", "leaf"))
	s.put(runs("b", "c"))
	s.put(runs("a", "b"))
	_, _, err := s.store.Put(t.Context(), actor, runs("c", "a"), any0)
	refusal, ok := errors.AsType[*common.Error](err)
	if !ok || len(refusal.Faults) != 1 || refusal.Faults[0].Location != "steps[1].job" ||
		!strings.Contains(refusal.Faults[0].Message, "c → a → b → c") {
		t.Errorf("%v", err)
	}
	_, _, err = s.store.Put(t.Context(), actor, runs("d", "d"), any0)
	wantCode(t, "a flow that runs itself", err, common.CodeInvalid)
}

// The previous version had no reference: such a flow is read as it is, and a change moves its steps.
func TestFlow_WhoseStepsAreInTheJob_CanBeReadAndChanged(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	saved := s.put(aFlow("f"))
	old := saved.StoredJob
	old.Flow, old.Steps = nil, aFlow("f").Steps
	data, err := json.Marshal(&old)
	if err != nil {
		t.Fatal(err)
	}
	s.raw(common.JobKey("f"), string(data))
	if got := s.whole("f"); len(got.Steps) != 2 {
		t.Errorf("%d steps are read", len(got.Steps))
	}
	state, err := s.store.Pause(t.Context(), actor, "f", common.PauseRequest{Note: "x"}, any0)
	if err != nil || state.Flow == nil || len(s.whole("f").Steps) != 2 {
		t.Errorf("paused: %+v, %v", state.Flow, err)
	}
}

// A cursor in the future gives the job another uid, by which its body is found.
func TestFlow_NewUID_KeepsTheBody(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	saved := s.put(aFlow("f"))
	s.raw(common.CursorKey("f"), common.TimeKey(noon.Add(24*time.Hour)))
	if _, err := s.store.Recover(t.Context(), actor, common.RecoverRequest{}); err != nil {
		t.Fatal(err)
	}
	state, err := s.store.Get(t.Context(), "f")
	if err != nil || state.UID == saved.UID {
		t.Fatalf("the uid is still %s, %v", state.UID, err)
	}
	fresh := s.with(jobmgr.Config{}, nil)
	if err := fresh.Complete(t.Context(), &state.StoredJob); err != nil || len(state.Steps) != 2 {
		t.Errorf("%d steps, %v", len(state.Steps), err)
	}
}

func TestFlow_TenThousandSteps_AreSaved(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	job := common.Job{Name: "f", Steps: make([]common.Step, common.MaxSteps)}
	for i := range job.Steps {
		job.Steps[i] = common.Step{Name: fmt.Sprintf("step-%05d", i), Command: fmt.Sprintf("./work.sh %d", i),
			Env: map[string]string{"RUN": "${{ run.id }}"}}
		for back := 1; back <= 3 && i >= 100*back; back++ {
			job.Steps[i].After = append(job.Steps[i].After, common.Edge{Step: job.Steps[i-100*back].Name})
		}
	}
	begin := time.Now()
	s.put(job)
	t.Logf("saved in %v", time.Since(begin))
	if got := s.with(jobmgr.Config{}, nil); got.Store != nil {
		state, err := got.Get(t.Context(), "f")
		if err == nil {
			begin = time.Now()
			err = got.Complete(t.Context(), &state.StoredJob)
			t.Logf("read and compiled in %v", time.Since(begin))
		}
		if err != nil || !sameSteps(state.Steps, job.Steps) {
			t.Errorf("%d steps, %v", len(state.Steps), err)
		}
	}
}

// A job that steps of flows run, or wait for, is deleted only by force, or after these flows.
func TestFlow_DeleteOfAJobOfItsSteps_NeedsForce(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(common.Job{Name: "leaf", CronExpr: "* * * * *", Command: "true"})
	s.put(common.Job{Name: "runs", Steps: []common.Step{{Name: "s", Job: "leaf"}, {Name: "t", Job: "leaf"}}})
	s.put(common.Job{Name: "waits", CronExpr: "* * * * *", Steps: []common.Step{
		{Name: "s", Wait: &common.Wait{Job: "leaf"}},
		{Name: "own", Wait: &common.Wait{Job: "waits", Fires: "latest"}}}})
	if run, wait := s.catalog.InSteps(t.Context(), "leaf", 10); !slices.Equal(run, []string{"runs"}) ||
		!slices.Equal(wait, []string{"waits"}) {
		t.Errorf("run by %v, waited for by %v", run, wait)
	}
	err := s.store.Delete(t.Context(), actor, "leaf", any0, common.DeleteRequest{})
	wantCode(t, "without force", err, common.CodeConflict)
	if refusal, _ := errors.AsType[*common.Error](err); refusal.Reason != "used_in_steps" ||
		!strings.Contains(refusal.Message, "runs, waits") {
		t.Fatalf("refused with %+v", refusal)
	}
	s.put(common.Job{Name: "runs", Steps: []common.Step{{Name: "s", Command: "true"}}})
	s.remove("waits") // whose step waits for the flow itself
	s.remove("leaf")
	s.put(common.Job{Name: "leaf", Command: "true"})
	s.put(common.Job{Name: "runs", Steps: []common.Step{{Name: "s", Job: "leaf"}}})
	if err := s.store.Delete(t.Context(), actor, "leaf", any0, common.DeleteRequest{Force: true}); err != nil {
		t.Fatal(err)
	}
}
