package dispatch

import (
	"maps"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/scheduler"
)

// Whatever claims a fire of several schedules, the record has the parameters and the label of the first schedule that
// fires then.
func TestClaim_SeveralSchedules_HasParamsAndLabelOfTheFirstThatFires(t *testing.T) {
	midnight := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // the time in a new bubble
	parsed, err := schedule.NewInterner().OfJob(&common.Job{Name: "a", Schedules: []common.JobSchedule{
		{CronExpr: "*/2 * * * *", Timezone: "UTC", Label: "even", Params: map[string]string{"MODE": "light"}},
		{CronExpr: "* * * * *", Timezone: "UTC", Label: "all"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	light := map[string]string{"MODE": "light"}
	for _, c := range []struct {
		name   string
		at     time.Time
		fire   func(f *scheduler.Fire)
		params map[string]string
		label  string
	}{
		{"in time, both", midnight, nil, light, "even"},
		{"the second one", midnight.Add(-time.Minute), nil, nil, "all"},
		{"caught up", midnight.Add(-20 * time.Minute), func(f *scheduler.Fire) { f.Cursor = f.At.Add(-time.Minute) },
			light, "even"}, // the last fire before midnight is at midnight
		{"queued before", midnight, func(f *scheduler.Fire) { trigger(f, common.CauseCron, nil) }, light, "even"},
		{"of a backfill, with a value", midnight, func(f *scheduler.Fire) {
			trigger(f, common.CauseBackfill, map[string]string{"MODE": "full"})
		}, map[string]string{"MODE": "full"}, "even"},
		{"a retry", midnight, func(f *scheduler.Fire) { trigger(f, common.CauseRetry, light) }, light, "even"},
		{"a manual run", midnight, func(f *scheduler.Fire) {
			trigger(f, common.CauseManual, nil)
			f.Trigger.Fire = common.TriggeredFire(f.UID, "x")
		}, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, nil, func(r *rig) {
				f := r.fire("a")
				f.Schedule, f.At, f.Due, f.Cursor = parsed, c.at, c.at, c.at.Add(-time.Minute)
				if c.fire != nil {
					c.fire(&f)
				}
				r.hand(f)
				var got common.Record
				r.claimer.set(func(fake *fakeClaimer) {
					if len(fake.batches) == 1 {
						got = fake.batches[0][0].Record
					}
				})
				if got.Run == "" || !maps.Equal(got.Params, c.params) || got.Schedule != c.label {
					t.Errorf("the record has %v of %q, want %v of %q", got.Params, got.Schedule, c.params, c.label)
				}
			})
		})
	}
}

// trigger makes a fire one of a trigger, with the id of the planned fire.
func trigger(f *scheduler.Fire, cause common.Cause, params map[string]string) {
	f.Trigger = &scheduler.Trigger{Revision: 7, Trigger: common.Trigger{ID: "x", Job: f.Job, JobUID: f.UID,
		Fire: common.PlannedFire(f.UID, f.At), PlannedAt: f.At, Attempt: 1, Cause: cause, Params: params}}
}
