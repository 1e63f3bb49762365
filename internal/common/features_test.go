package common

import (
	"slices"
	"strings"
	"testing"
)

func TestMustHave(t *testing.T) {
	plain := Job{
		Name:      "a",
		Overlap:   OverlapQueue,
		OnLost:    LostAbandon,
		DST:       &DST{Gap: "skip"},
		CatchUp:   &CatchUp{Policy: CatchUpAll},
		Placement: &Placement{Strategy: StrategyAny},
	}
	detach := Job{Name: "a", OnLost: LostDetach}
	for name, c := range map[string]struct {
		job   Job
		needs []string
		want  []string
	}{
		"nothing new":               {plain, nil, nil},
		"nothing at all":            {Job{}, nil, nil},
		"detach":                    {detach, []string{"detach"}, []string{"detach"}},
		"detach that was not noted": {detach, nil, []string{"detach"}},
		"a flow":                    {Job{OnLost: LostDetach, Steps: []Step{{}}}, nil, []string{"flows"}},
		"several schedules": {Job{Schedules: []JobSchedule{{DST: &DST{Gap: "g"}}}}, []string{"schedules"},
			[]string{"schedules", "schedules[0].dst.gap=g"}},
		"a flow with several schedules": {Job{Steps: []Step{{}}, Schedules: []JobSchedule{{}}}, nil,
			[]string{"flows", "schedules"}},
		"noted by a newer version":     {plain, []string{"teleport"}, []string{"teleport"}},
		"noted, and detach":            {detach, []string{"detach", "teleport"}, []string{"detach", "teleport"}},
		"a newer value that was noted": {Job{Overlap: "merge"}, []string{"merge"}, []string{"merge"}},
		"a newer value, what is noted is": {Job{Overlap: "merge"}, []string{"detach"},
			[]string{"detach", "overlap=merge"}},
		"values that were not noted": {Job{
			OnLost:    "clone",
			Overlap:   "merge",
			DST:       &DST{Gap: "g", Overlap: "o"},
			CatchUp:   &CatchUp{Policy: "some"},
			Placement: &Placement{Strategy: "near\n,by"},
		}, nil,
			[]string{"onLost=clone", "overlap=merge", "dst.gap=g", "dst.overlap=o", "catchUp.policy=some",
				`placement.strategy=near\n,by`}},
	} {
		stored := StoredJob{Job: c.job, Needs: c.needs}
		got := stored.MustHave()
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if terms := stored.Terms(); terms.Needs != strings.Join(c.want, ",") || terms.Policy != c.job.Terms().Policy {
			t.Errorf("%s: terms %+v", name, terms)
		}
	}
}

// The value in etcd of a flow has no steps.
func TestMustHave_FlowWhoseStepsAreStoredElsewhere(t *testing.T) {
	flow := StoredJob{Job: Job{Name: "a", OnLost: LostDetach}, Flow: &FlowRef{Digest: "x", Steps: 3}}
	if got := flow.MustHave(); !slices.Equal(got, []string{"flows"}) || !flow.IsFlow() {
		t.Errorf("a flow must have %q", got)
	}
	replaced := StoredJob{Job: Job{Name: "a", Command: "true"}, Needs: []string{"flows"}, Flow: &FlowRef{Digest: "x"}}
	if got := replaced.MustHave(); !slices.Equal(got, []string{"flows"}) || replaced.IsFlow() {
		t.Errorf("a flow replaced by an older master must have %q; is a flow: %v", got, replaced.IsFlow())
	}
}

// Validation and MustHave know the same values.
func TestUnknownValuesAreFaults(t *testing.T) {
	for _, j := range []Job{{OnLost: "x"}, {Overlap: "x"}, {DST: &DST{Gap: "x"}}, {DST: &DST{Overlap: "x"}},
		{CatchUp: &CatchUp{Policy: "x"}}, {Placement: &Placement{Strategy: "x"}}} {
		stored := StoredJob{Job: j}
		must := stored.MustHave()
		if len(must) != 1 || !slices.ContainsFunc(j.Faults(), func(f Fault) bool {
			return f.Code == "enum" && f.Location+"=x" == must[0]
		}) {
			t.Errorf("%+v: must have %q, faults %+v", j, must, j.Faults())
		}
	}
}

func TestNoteNeeds(t *testing.T) {
	for _, c := range []struct {
		job          Job
		before, want []string
	}{
		{Job{}, nil, nil},
		{Job{OnLost: LostDetach}, nil, []string{"detach"}},
		{Job{OnLost: LostDetach}, []string{"detach"}, []string{"detach"}},
		{Job{}, []string{"detach"}, nil},                                                // no longer needed
		{Job{OnLost: LostDetach}, []string{"teleport"}, []string{"detach", "teleport"}}, // of a newer version
	} {
		stored := StoredJob{Job: c.job}
		stored.NoteNeeds(c.before)
		if !slices.Equal(stored.Needs, c.want) {
			t.Errorf("%+v, %v: %v, want %v", c.job, c.before, stored.Needs, c.want)
		}
	}
}

func TestLacking(t *testing.T) {
	if got := Lacking([]string{"a", "b", "c"}, []string{"b", "x"}); !slices.Equal(got, []string{"a", "c"}) {
		t.Error(got)
	}
	if got := Lacking([]string{FeatureDetach}, Features[:]); got != nil {
		t.Error(got)
	}
}
