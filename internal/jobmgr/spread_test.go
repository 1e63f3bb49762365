package jobmgr_test

import (
	"slices"
	"testing"

	"carillon/internal/common"
)

// onAll returns a job that runs on all workers.
func onAll(name string) common.Job {
	return common.Job{Name: name, CronExpr: "* * * * *", Command: "logrotate",
		RunOn: &common.RunOn{Workers: common.AllWorkers}}
}

func TestRunOn_DefinitionIsStoredWithTheJob(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	saved := s.put(onAll("j"))
	kv := s.under(common.JobKey("j"))[0]
	stored, err := common.Decode[common.StoredJob](kv.Value)
	if err != nil || stored.Flow == nil || stored.Command != "logrotate" ||
		!slices.Equal(stored.Needs, []string{common.FeatureSpread}) {
		t.Fatalf("stored: %s, %v", kv.Value, err)
	}
	parts := s.under(common.FlowOf(saved.UID))
	if len(parts) != 1 || parts[0].ModRevision != kv.ModRevision {
		t.Fatalf("%d parts, not put with the job", len(parts))
	}
	if again := s.put(onAll("j")); again.Version != saved.Version {
		t.Error("an unchanged job is written")
	}
	moved := onAll("j")
	moved.CronExpr = "@hourly"
	if second := s.put(moved); second.Flow.Digest != saved.Flow.Digest {
		t.Error("another schedule is another definition")
	}
	changed := onAll("j")
	changed.Command = "true"
	third := s.put(changed)
	if third.Flow.Digest == saved.Flow.Digest || len(s.under(common.FlowOf(saved.UID))) != 2 {
		t.Error("a flow run that has begun needs the definition that it began with")
	}
	plain := s.put(common.Job{Name: "j", CronExpr: "* * * * *", Command: "true"})
	if plain.Flow != nil || len(plain.Needs) > 0 {
		t.Errorf("a job that runs on one worker again has %+v, %q", plain.Flow, plain.Needs)
	}
}

// Pause and resume replace the stored job: its definition stays.
func TestRunOn_Paused_KeepsItsDefinition(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	saved := s.put(onAll("j"))
	paused, err := s.store.Pause(s.Context(), actor, "j", common.PauseRequest{Note: "n"}, any0)
	if err != nil || paused.Flow == nil || paused.Flow.Digest != saved.Flow.Digest {
		t.Errorf("paused: %+v, %v", paused.Flow, err)
	}
	stored, err := common.Decode[common.StoredJob](s.under(common.JobKey("j"))[0].Value)
	if err != nil || stored.Flow == nil || stored.RunOn == nil {
		t.Errorf("stored: %+v, %v", stored, err)
	}
}
