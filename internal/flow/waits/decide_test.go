package waits

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
)

var day = time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)

// at returns a time of that day, such as "02:30" or "02:30:01".
func at(t *testing.T, clock string) time.Time {
	t.Helper()
	if len(clock) == len("15:04") {
		clock += ":00"
	}
	got, err := time.Parse(time.TimeOnly, clock)
	if err != nil {
		t.Fatal(err)
	}
	return day.Add(got.Sub(got.Truncate(24 * time.Hour)))
}

// TestDecide: "ledger" lists the last attempts of fires, "08:00 failed"; the cursor of the job is 12:00, and the flow
// run was planned for 12:00 with the interval from 06:00 to 12:00.
func TestDecide(t *testing.T) {
	const hourly = "0 * * * *"
	full := "07:00 succeeded, 08:00 succeeded, 09:00 succeeded, 10:00 succeeded, 11:00 succeeded, 12:00 succeeded"
	var seconds []string
	for i := range common.MaxAwaited + 1 {
		seconds = append(seconds, day.Add(7*time.Hour+time.Duration(i)*time.Second).Format(time.TimeOnly)+" failed")
	}
	dense := strings.Join(seconds, ", ")
	tests := []struct {
		name     string
		schedule string
		wait     common.Wait
		ledger   string
		want     string // the status and the code of the reason, or what is missing
	}{
		{"all of the interval have succeeded", hourly, common.Wait{}, full, "succeeded fires_succeeded"},
		{"the start is not part of the interval", hourly, common.Wait{}, "06:00 failed, " + full,
			"succeeded fires_succeeded"},
		{"what is after the interval does not count", hourly, common.Wait{}, full + ", 13:00 failed",
			"succeeded fires_succeeded"},
		{"one has failed", hourly, common.Wait{}, strings.Replace(full, "08:00 succeeded", "08:00 failed", 1),
			"1 of 6: 08:00 failed"},
		{"one has failed, onFailure: fail", hourly, common.Wait{OnFailure: common.FailureFails},
			strings.Replace(full, "08:00 succeeded", "08:00 failed", 1), "failed fire_failed"},
		{"one runs again, onFailure: fail", hourly, common.Wait{OnFailure: common.FailureFails},
			strings.Replace(full, "08:00 succeeded", "08:00 running", 1), "1 of 6: 08:00 running"},
		{"one was missed", hourly, common.Wait{}, strings.Replace(full, "08:00 succeeded", "08:00 missed", 1),
			"1 of 6: 08:00 missed"},
		{"one had nothing to do", hourly, common.Wait{},
			strings.Replace(full, "08:00 succeeded", "08:00 skipped skipped_by_function", 1),
			"succeeded fires_succeeded"},
		{"one was skipped for another run", hourly, common.Wait{},
			strings.Replace(full, "08:00 succeeded", "08:00 skipped overlap", 1), "1 of 6: 08:00 skipped"},
		{"one has no entry", hourly, common.Wait{}, strings.Replace(full, "08:00 succeeded, ", "", 1), "1 of 6: 08:00"},
		{"it keeps its runs for three hours", hourly + "; 3h", common.Wait{}, "12:00 missed",
			"6 of 6: 07:00 expired, 08:00 expired, 09:00, 10:00, 11:00"},
		{"an earlier schedule had one more", hourly, common.Wait{}, full + ", 07:15 failed", "1 of 7: 07:15 failed"},
		{"no fire in the interval", "0 3 * * *", common.Wait{}, "", "succeeded fires_succeeded"},
		{"more than are named", "*/5 * * * *", common.Wait{}, "",
			"72 of 72: 06:05, 06:10, 06:15, 06:20, 06:25"},
		{"too many", "*/2 * * * * * *", common.Wait{}, "", "refused too_many_fires"},
		{"the same time has succeeded", hourly, common.Wait{Fires: common.WaitSame}, "11:00 failed, 12:00 succeeded",
			"succeeded fires_succeeded"},
		{"the same time has not", hourly, common.Wait{Fires: common.WaitSame}, "11:00 succeeded, 12:00 waiting",
			"1 of 1: 12:00 waiting"},
		{"no fire at the same time", "30 * * * *", common.Wait{Fires: common.WaitSame}, "", "refused no_such_fire"},
		{"an earlier schedule had the same time", "30 * * * *", common.Wait{Fires: common.WaitSame}, "12:00 succeeded",
			"succeeded fires_succeeded"},
		{"the latest is the same", hourly, common.Wait{Fires: common.WaitLatest}, "11:00 failed, 12:00 succeeded",
			"succeeded fires_succeeded"},
		{"the latest was before", "0 3 * * *", common.Wait{Fires: common.WaitLatest}, "03:00 failed",
			"1 of 1: 03:00 failed"},
		{"the latest by an earlier schedule", "0 3 * * *", common.Wait{Fires: common.WaitLatest},
			"03:00 failed, 09:00 succeeded", "succeeded fires_succeeded"},
		{"the latest of the flow is the one before", hourly, common.Wait{Job: "flow", Fires: common.WaitLatest},
			"11:00 succeeded, 12:00 running", "succeeded fires_succeeded"},
		{"the one before the flow's own has failed", hourly, common.Wait{Job: "flow", Fires: common.WaitLatest},
			"11:00 failed, 12:00 running", "1 of 1: 11:00 failed"},
		{"before the first fire of the flow there is none",
			"0 0 * * *", common.Wait{Job: "flow", Fires: common.WaitLatest},
			"", "succeeded fires_succeeded"},
		{"the schedule of the flow begins with its fire", "0 12 * * *@12:00", common.Wait{Job: "flow",
			Fires: common.WaitLatest}, "12:00 running", "succeeded fires_succeeded"},
		{"the flow has had its schedule since this morning only", "0 */3 * * *", common.Wait{Job: "flow",
			Fires: common.WaitLatest}, "12:00 running", "succeeded fires_succeeded"},
		{"the flow had another schedule before", "0 */3 * * *", common.Wait{Job: "flow", Fires: common.WaitLatest},
			"07:30 failed, 12:00 running", "1 of 1: 07:30 failed"},
		{"the flow fired each second before", hourly, common.Wait{Job: "flow", Fires: common.WaitLatest},
			dense + ", 11:00 succeeded", "succeeded fires_succeeded"},
		{"the job fired each second before", "0 3 * * *", common.Wait{Fires: common.WaitLatest},
			dense + ", 11:00 failed", "1 of 1: 11:00 failed"},
		{"it fired each second in the interval", hourly, common.Wait{}, dense, "refused too_many_fires"},
		{"a job without a schedule", "", common.Wait{}, "", "refused no_such_fire"},
		{"no fire before, ever", "0 0 1 1 * 2030", common.Wait{Fires: common.WaitLatest}, "", "refused no_such_fire"},
		{"no schedule", "", common.Wait{Fires: common.WaitLatest}, "", "refused no_such_fire"},
		{"no schedule any more", "", common.Wait{}, "08:00 failed", "1 of 1: 08:00 failed"},
		{"planned by the last run", "@every 1h", common.Wait{}, "07:10 succeeded, 12:00 failed",
			"1 of 2: 12:00 failed"},
		{"the latest without fixed times", "@every 1h", common.Wait{Fires: common.WaitLatest}, "",
			"refused no_such_fire"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.wait.Job == "" {
				test.wait.Job = "import"
			}
			noon := at(t, "12:00")
			run := common.FlowRun{Head: common.Head{UID: "f", Run: "f.1.1", Job: "flow", PlannedAt: noon,
				Interval: &common.Interval{Start: at(t, "06:00"), End: noon}}}
			wait := common.NewFiresWait(&run, run.Node("orders", 1, "f"), &test.wait, noon)
			line, keeps, _ := strings.Cut(test.schedule, "; ")
			line, begins, bounded := strings.Cut(line, "@1")
			var startAt *time.Time
			if bounded {
				startAt = new(at(t, "1"+begins))
			}
			job := &common.JobState{StoredJob: common.StoredJob{UID: "i", CreatedAt: at(t, "01:00"),
				Job: common.Job{Name: "import", CronExpr: line, Timezone: "UTC", StartAt: startAt,
					Retention: &common.Retention{Age: common.Duration(keeps)}}}, Cursor: noon}
			got := judged(t, &wait, job, entries(t, test.ledger))
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// entries parses a ledger.
func entries(t *testing.T, ledger string) map[int64]*common.Run {
	ends := map[int64]*common.Run{}
	for entry := range strings.SplitSeq(ledger, ", ") {
		if fields := strings.Fields(entry); len(fields) > 0 {
			run := &common.Run{PlannedAt: at(t, fields[0]), Status: common.Status(fields[1])}
			if len(fields) > 2 {
				run.Reason = &common.Reason{Code: fields[2]}
			}
			ends[run.PlannedAt.UnixNano()] = run
		}
	}
	return ends
}

// judged returns what follows for a wait, as a text.
func judged(t *testing.T, wait *common.FlowWait, job *common.JobState, ends map[int64]*common.Run) string {
	t.Helper()
	plan, err := schedule.NewInterner().OfJob(&job.Job)
	if err != nil {
		t.Fatal(err)
	}
	v := noFire(wait)
	if in, err := spanOf(wait, plan); err == nil {
		if v, err = decide(wait, job, plan, in, ends, wait.Since); err != nil {
			t.Fatal(err)
		}
	}
	if v.status != "" {
		return string(v.status) + " " + v.reason.Code
	}
	var missing []string
	for _, f := range v.now.Missing {
		status := string(f.Status)
		if f.Expired {
			status = "expired"
		}
		missing = append(missing, strings.TrimSpace(f.At.Format("15:04")+" "+status))
	}
	wait.Awaited.Found = &v.now
	text := wait.Awaited.Reason().Text
	for _, f := range v.now.Missing {
		words := string(f.Status)
		switch {
		case f.Expired:
			words = "older than the retention"
		case words == "":
			words = "not run"
		}
		if !strings.Contains(text, f.At.Format(time.RFC3339)+" ("+words+")") {
			t.Errorf("the reason %q does not name the fire of %v, which is %s", text, f.At, words)
		}
	}
	return fmt.Sprintf("%d of %d: %s", v.now.Open, v.now.Total, strings.Join(missing, ", "))
}
