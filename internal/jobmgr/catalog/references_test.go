package catalog_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/catalog"
)

func TestReferences_CountJobsByChannelAndSecret(t *testing.T) {
	tells := func(to ...string) *common.Notify { return &common.Notify{On: []common.Event{"failed"}, To: to} }
	var jobs []common.JobState
	raises := tells("ops-2")
	raises.After = map[common.Duration][]string{"1h": {"boss", "ops-2"}}
	for name, job := range map[string]common.Job{
		"a": {Notify: tells("ops", "dev", "ops"), Env: map[string]string{"X": "secret:db", "Y": "secret:db"}},
		"b": {Notify: tells("dev", "ops")},
		"c": {Notify: raises, Env: map[string]string{"X": "secret:db", "Y": "secret:api", "Z": "plain"}},
		"d": {Type: "sql", With: common.With{"dsn": "secret:dsn"}},
	} {
		job.Name, job.Command = name, "true"
		jobs = append(jobs, common.JobState{
			StoredJob: common.StoredJob{Job: job, UID: common.NewID()},
			Version:   int64(len(jobs) + 1),
		})
	}
	all := catalog.New(nil, schedule.NewInterner(), time.Now)
	all.Fill(jobs, false)
	for _, c := range []struct {
		kind common.Referent
		want map[string]int
	}{
		{common.ReferentChannel, map[string]int{"ops": 2, "dev": 2, "ops-2": 1, "boss": 1}},
		{common.ReferentSecret, map[string]int{"db": 2, "api": 1, "dsn": 1}},
		{"none", map[string]int{}},
	} {
		if got := all.References(t.Context(), c.kind); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.kind, got, c.want)
		}
	}
	for _, c := range []struct {
		kind   common.Referent
		object string
		most   int
		want   []string
	}{
		{common.ReferentChannel, "ops", 10, []string{"a", "b"}},
		{common.ReferentChannel, "ops", 1, []string{"a"}},
		{common.ReferentSecret, "db", 10, []string{"a", "c"}},
		{common.ReferentChannel, "db", 10, nil},
		{common.ReferentChannel, "", 10, nil},
	} {
		if got := all.Referring(t.Context(), c.kind, c.object, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%s %s, at most %d: %v, want %v", c.kind, c.object, c.most, got, c.want)
		}
	}
	if told, _ := all.Notifying(); len(told) != 3 {
		t.Errorf("%d jobs have notifications", len(told))
	}
	all.Remove("a")
	if got := all.References(t.Context(), common.ReferentSecret); got["db"] != 1 {
		t.Errorf("after the deletion of a job: %v", got)
	}
}

func TestInSteps_FollowsTheFlows(t *testing.T) {
	all := catalog.New(nil, schedule.NewInterner(), time.Now)
	stored := map[string]common.JobState{}
	save := func(name string, ref *common.FlowRef, command string) {
		stored[name] = common.JobState{Version: int64(len(stored) + 1), StoredJob: common.StoredJob{
			Job: common.Job{Name: name, Command: command}, UID: "uid-" + name, Flow: ref}}
		all.Fill(slices.Collect(maps.Values(stored)), false)
	}
	check := func(job string, most int, runs, waits []string) {
		t.Helper()
		if run, wait := all.InSteps(t.Context(), job, most); !slices.Equal(run, runs) || !slices.Equal(wait, waits) {
			t.Errorf("%s: run by %v, waited for by %v; want %v and %v", job, run, wait, runs, waits)
		}
	}
	save("f", &common.FlowRef{Digest: "1", Runs: []string{"a", "b"}, WaitsFor: []string{"b"}}, "")
	save("g", &common.FlowRef{Digest: "2", Runs: []string{"b"}}, "")
	check("a", 10, []string{"f"}, nil)
	check("b", 10, []string{"f", "g"}, []string{"f"})
	check("b", 1, []string{"f"}, []string{"f"})
	check("f", 10, nil, nil)
	save("f", &common.FlowRef{Digest: "3", Runs: []string{"a"}}, "")
	check("b", 10, []string{"g"}, nil)
	save("g", &common.FlowRef{Digest: "2", Runs: []string{"b"}}, "true") // an older master has replaced its steps
	check("b", 10, nil, nil)
	all.Remove("f")
	check("a", 10, nil, nil)
}
