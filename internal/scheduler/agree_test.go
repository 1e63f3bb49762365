package scheduler

import (
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
)

// A flow that needs a feature begins when all workers that keep flow runs have it: an older one would advance the flow
// run by its own rules.
func TestAction_Flow_WaitsForTheFeaturesOfAllKeepers(t *testing.T) {
	worker := func(id string, features ...string) common.Member {
		return common.Member{Registration: common.Registration{Life: common.Life{Worker: id}, Slots: 1,
			Features: features}}
	}
	able := worker("w", common.FeatureFlows, common.FeatureValues)
	for name, c := range map[string]struct {
		other common.Member
		needs []string
		held  bool
	}{
		"an older one keeps flow runs": {worker("o", common.FeatureFlows), []string{common.FeatureValues}, true},
		"an older one keeps none":      {worker("o"), []string{common.FeatureValues}, false},
		"all have it":                  {worker("o", able.Features...), []string{common.FeatureValues}, false},
		"nothing is needed":            {worker("o", common.FeatureFlows), nil, false},
	} {
		cluster := &fakeCluster{}
		cluster.alive(able, c.other)
		ranking := NewRanking(able.Life, cluster, func() OwnReplicas { return OwnReplicas{} })
		action := func(now time.Time) Action {
			f := Fire{Job: "f", UID: "u", At: noon, Due: noon, Since: noon, Terms: terms(), Flow: &Flow{Needs: c.needs}}
			if eligible, _ := ranking.Recheck(&f, now); eligible == c.held {
				t.Errorf("%s: it may be claimed: %t", name, eligible)
			}
			return ranking.Action(&f, now)
		}
		now := noon.Add(10 * time.Second) // whatever its rank
		if got := action(now); got.HoldUntil.After(now) != c.held {
			t.Errorf("%s: %+v", name, got)
		}
		got := action(noon.Add(deadline + time.Minute))
		if got.Expire != c.held || c.held && (got.Reason.Code != common.ReasonNoWorker ||
			got.Reason.Data["needs"] != common.FeatureValues) {
			t.Errorf("%s, after its deadline: %+v", name, got)
		}
	}
}

// A flow run that is tried or run again needs the features of its own definition, whatever the job has become.
func TestFire_FlowNeeds_AreThoseOfItsDefinition(t *testing.T) {
	now, own := []string{common.FeatureFinally}, []string{common.FeatureJoins}
	for name, c := range map[string]struct {
		trigger *Trigger
		want    []string
	}{
		"of the plan":                    {nil, now},
		"by hand":                        {&Trigger{}, now},
		"of an earlier definition":       {&Trigger{Trigger: common.Trigger{Digest: "d", Needs: own}}, own},
		"requested by an earlier master": {&Trigger{Trigger: common.Trigger{Digest: "d"}}, now},
	} {
		f := Fire{Flow: &Flow{Needs: now}, Trigger: c.trigger}
		if got := f.FlowNeeds(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
