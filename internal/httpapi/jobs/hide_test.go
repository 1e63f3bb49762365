package jobs

import (
	"reflect"
	"slices"
	"testing"

	"carillon/internal/common"
)

// Who has no role in a job's group sees these fields of its definition, and no others. A new field is hidden, or added
// here on purpose.
var visible = []string{
	"After", "AutoPause", "CatchUp", "ConfirmRun", "CronExpr",
	"DST", "Daemon", "EndAt", "Group", "Jitter", "KillGrace", "Labels", "LostAfter", "MemoryMax", "Name",
	"Notify", "OnLost", "Output", "Overlap", "PauseUntil", "Paused", "Placement", "Pool", "PoolSlots", "Priority",
	"Retention", "Retry", "RunOn", "Schedules", "Shell", "Slots", "StartAt", "StartDeadline", "SuccessExitCodes",
	"TasksMax", "Timeout", "Timezone", "Title", "Type",
}

func TestHideRemovesAllButTheListedFields(t *testing.T) {
	var job Job
	fields := reflect.ValueOf(&job.Definition).Elem()
	for i := range fields.NumField() {
		fill(t, fields.Field(i))
		if fields.Field(i).IsZero() {
			t.Fatalf("%s is not filled", fields.Type().Field(i).Name)
		}
	}
	job.hide()
	var left []string
	for i := range fields.NumField() {
		if !fields.Field(i).IsZero() {
			left = append(left, fields.Type().Field(i).Name)
		}
	}
	slices.Sort(left)
	if !slices.Equal(left, visible) || !job.Meta.Hidden {
		t.Errorf("visible are %q, want %q", left, visible)
	}
}

// The parameters of the job's schedules are hidden like its own, and the job they were copied from keeps them.
func TestHide_ParamsOfSchedules_AreRemoved(t *testing.T) {
	var job Job
	schedules := []common.JobSchedule{{CronExpr: "0 3 * * *", Params: map[string]string{"TOKEN": "x"}}}
	job.Schedules = schedules
	job.hide()
	if got := job.Schedules[0]; got.CronExpr == "" || got.Params != nil || schedules[0].Params == nil {
		t.Errorf("hidden: %+v, of %+v", got, schedules[0])
	}
}

// fill sets a value to something that is not its zero value.
func fill(t *testing.T, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1)
	case reflect.Float64:
		v.SetFloat(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.Struct:
		fill(t, v.Field(0))
	default:
		t.Fatalf("a field of kind %v", v.Kind())
	}
}
