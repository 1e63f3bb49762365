package common

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func ofGroup(group string, d Defaults) GroupDefaults { return GroupDefaults{Group: group, Defaults: d} }

// inherited lists what a job inherits as field=origin.
func inheritedBy(from []Inheritance) (all []string) {
	for i := range from {
		data, _ := json.Marshal(&from[i].Defaults)
		var fields map[string]json.RawMessage
		_ = json.Unmarshal(data, &fields)
		for field := range fields {
			all = append(all, field+"="+from[i].From)
		}
	}
	slices.Sort(all)
	return all
}

func TestInherit(t *testing.T) {
	shop := ofGroup("shop", Defaults{
		Retry: &Retry{Max: 3}, Timeout: "1h", LostAfter: "90s", Timezone: "Asia/Tokyo",
		Placement: &Placement{Selector: "zone=a"}, Env: map[string]string{"A": "shop", "B": "shop", "P": "secret:p"},
	})
	all := ofGroup(AllGroups, Defaults{
		Notify: &Notify{On: []Event{EventFailed}, To: []string{"ops"}}, Retry: &Retry{Max: 9},
		Retention: &Retention{Age: "90d"}, Env: map[string]string{"B": "all", "C": "all"},
	})
	for name, c := range map[string]struct {
		job  Job
		from []GroupDefaults
		want string
	}{
		"nothing to inherit": {Job{}, nil, ""},
		"the nearest that has a value": {Job{}, []GroupDefaults{shop, all},
			"env=* env=shop lostAfter=shop notify=* placement=shop retention=* retry=shop timeout=shop timezone=shop"},
		"what the job sets is its own": {
			Job{Retry: &Retry{}, Timeout: "0s", Notify: &Notify{}, Timezone: "UTC", Placement: &Placement{},
				LostAfter: "30s", Env: map[string]string{"A": "", "P": "x"}, Retention: &Retention{}},
			[]GroupDefaults{shop, all}, "env=* env=shop"},
		"a group that opts out hides the outer one": {Job{},
			[]GroupDefaults{ofGroup("shop", Defaults{Notify: &Notify{}}), all},
			"env=* notify=shop retention=* retry=*"},
		"a daemon has no retry and no timeout": {Job{Daemon: &Daemon{Count: 1}}, []GroupDefaults{shop},
			"env=shop lostAfter=shop placement=shop timezone=shop"},
		"a flow, whose inline steps have its values": {Job{Steps: []Step{{}}}, []GroupDefaults{shop},
			"env=shop lostAfter=shop placement=shop retry=shop timeout=shop timezone=shop"},
		"a parameter is the job's own variable": {Job{Params: Params{"A": {}, "B": {}, "P": {}}},
			[]GroupDefaults{ofGroup("shop", Defaults{Env: shop.Env})}, ""},
		"schedules without a time zone": {
			Job{Schedules: []JobSchedule{{CronExpr: "@daily"}, {CronExpr: "@hourly", Timezone: "UTC"}}},
			[]GroupDefaults{ofGroup("shop", Defaults{Timezone: "Asia/Tokyo"})}, "timezone=shop"},
		"schedules with time zones": {Job{Schedules: []JobSchedule{{CronExpr: "@daily", Timezone: "UTC"}}},
			[]GroupDefaults{ofGroup("shop", Defaults{Timezone: "Asia/Tokyo"})}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before, _ := json.Marshal(&c.job)
			effective, from := c.job.Inherit(c.from)
			if got := strings.Join(inheritedBy(from), " "); got != c.want {
				t.Errorf("inherits %s\nwant     %s", got, c.want)
			}
			if after, _ := json.Marshal(&c.job); string(after) != string(before) {
				t.Errorf("the job itself has changed: %s", after)
			}
			data, err := json.Marshal(&StoredJob{Job: effective, Inherited: from})
			if err != nil {
				t.Fatal(err)
			}
			stored, err := Decode[StoredJob](data)
			if err != nil {
				t.Fatal(err)
			}
			own, again := stored.Own()
			if !Same(&own, &c.job) || !Same(&again, &from) {
				t.Errorf("stored and read: own %+v, inherited %+v", own, again)
			}
		})
	}
	effective, _ := (&Job{Env: map[string]string{"A": "own"}}).Inherit([]GroupDefaults{shop, all})
	if e := effective.Env; e["A"] != "own" || e["B"] != "shop" || e["C"] != "all" {
		t.Errorf("environment %v", e)
	}
	function := Job{Type: TypeFunc}
	if e, _ := function.Inherit([]GroupDefaults{shop}); e.Env["P"] != "" || e.Env["A"] != "shop" {
		t.Errorf("a function gets no secrets: %v", e.Env)
	}
}

// An older master replaces fields without knowing that they were inherited: they are the author's then.
func TestOwn_SavedByAnOlderMaster(t *testing.T) {
	effective, from := (&Job{}).Inherit([]GroupDefaults{ofGroup("shop", Defaults{Retry: &Retry{Max: 3}, Timeout: "1h",
		Timezone: "Asia/Tokyo", Env: map[string]string{"A": "shop", "B": "shop"}})})
	effective.Retry, effective.Timeout, effective.Env = &Retry{Max: 5}, "", map[string]string{"A": "new", "B": "shop"}
	stored := StoredJob{Job: effective, Inherited: from}
	own, inherited := stored.Own()
	want := Job{Retry: &Retry{Max: 5}, Env: map[string]string{"A": "new"}}
	if !Same(&own, &want) {
		t.Errorf("own: %+v", own)
	}
	if got := strings.Join(inheritedBy(inherited), " "); got != "env=shop timezone=shop" || len(inherited[0].Env) != 1 {
		t.Errorf("inherited: %s %+v", got, inherited)
	}
}

func TestGroups(t *testing.T) {
	for group, want := range map[string]string{"": "", "shop": "shop", "shop/eu/de": "shop/eu/de shop/eu shop"} {
		if got := strings.Join(GroupLine(group), " "); got != want {
			t.Errorf("line of %q: %q", group, got)
		}
	}
	for group, valid := range map[string]bool{"shop": true, "shop/eu": true, "a.b/c-d": true, "": false, "/shop": false,
		"shop/": false, "shop//eu": false, "shop/../x": false, "Shop": false, "shop/-eu": false, "shop/eu ": false} {
		if ValidGroup(group) != valid {
			t.Errorf("%q: valid %v", group, !valid)
		}
	}
	if !InGroup("shop/eu", "shop") || !InGroup("shop", "shop") || InGroup("shop.eu", "shop") || InGroup("shop", "") ||
		InGroup("shop", "shop/eu") {
		t.Error("InGroup")
	}
	nested := Job{Group: "shop/eu", Command: "true"}
	if needs := nested.NeededFeatures(); !slices.Contains(needs, FeatureGroups) {
		t.Errorf("a job of a nested group needs %v", needs)
	}
	flat := Job{Group: "shop", Command: "true"}
	if needs := flat.NeededFeatures(); len(needs) > 0 {
		t.Errorf("a job of a group needs %v", needs)
	}
}
