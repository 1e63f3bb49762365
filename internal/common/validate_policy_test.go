package common

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestPolicyFaults(t *testing.T) {
	at := func(text string) *time.Time {
		v, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return &v
	}
	for _, c := range []struct {
		name   string
		change func(*Job)
		want   []string // "location code"
	}{
		{"everything", func(j *Job) {
			j.CronExpr, j.StartAt, j.EndAt, j.Jitter = "@daily", at("2026-01-01T00:00:00Z"),
				at("2026-01-01T00:00:01Z"), "24h"
			j.Overlap, j.StartDeadline, j.CatchUp = OverlapQueue, "7d",
				&CatchUp{Policy: CatchUpAll, Window: "366d", Max: 1000}
			j.Retry = &Retry{Max: 20, Backoff: "1m", MaxBackoff: "1m", ExitCodes: []int{0, 255}, Elsewhere: new(false)}
			j.OnLost, j.LostAfter, j.KillGrace = LostAbandon, "1h", "20m"
			j.Placement = &Placement{
				Strategy: StrategyWeight,
				Selector: "not looked at here",
				Workers:  slices.Repeat([]string{"worker-1.example"}, MaxPinned),
			}
			j.Priority, j.Slots, j.Paused, j.PauseNote, j.PauseUntil = 9, 1000, true, strings.Repeat("é", MaxPauseNote),
				at("2099-12-31T00:00:00Z")
		}, nil},
		{"all empty", func(j *Job) { j.CatchUp, j.Retry, j.Placement = &CatchUp{}, &Retry{}, &Placement{} }, nil},
		{"overlap", func(j *Job) { j.Overlap = "kill" }, []string{"overlap enum"}},

		{"ends as it starts", func(j *Job) {
			j.StartAt, j.EndAt = at("2026-01-01T00:00:00Z"), at("2026-01-01T01:00:00+01:00")
		}, []string{"endAt range"}},
		{"out of time", func(j *Job) {
			j.StartAt, j.EndAt = at("1969-12-31T23:59:59Z"), at("2100-01-01T00:00:00Z")
		}, []string{"startAt range", "endAt range"}},
		{"jitter without a line", func(j *Job) { j.Jitter = "1s" }, []string{"jitter exclusive"}},
		{"several schedules", func(j *Job) {
			j.Params = Params{"MODE": {Default: "full", Pattern: "full|light"}}
			j.Schedules = slices.Repeat([]JobSchedule{{CronExpr: "@daily", Timezone: "UTC", Jitter: "1m",
				Label: "night", StartAt: at("2026-01-01T00:00:00Z"),
				Params: map[string]string{"MODE": "light"}}}, MaxSchedules)
		}, nil},
		{"schedules beside the single fields", func(j *Job) {
			j.CronExpr, j.Timezone, j.Jitter, j.DST = "@daily", "UTC", "1s", &DST{}
			j.StartAt, j.EndAt = at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:01Z")
			j.Schedules = []JobSchedule{{CronExpr: "@hourly"}}
		}, []string{"cronExpr exclusive", "timezone exclusive", "dst exclusive", "startAt exclusive", "endAt exclusive",
			"jitter exclusive"}},
		{"faults of one of several schedules", func(j *Job) {
			j.Params = Params{"MODE": {Default: "full", Pattern: "full|light"}}
			j.Schedules = []JobSchedule{{CronExpr: "@daily"}, {CronExpr: "@hourly", Jitter: "25h", DST: &DST{Gap: "x"},
				StartAt: at("2026-01-02T00:00:00Z"), EndAt: at("2026-01-01T00:00:00Z"), Label: strings.Repeat("é", 101),
				Params: map[string]string{"MODE": "half", "SIZE": "1"}}}
		}, []string{"schedules[1].dst.gap enum", "schedules[1].endAt range", "schedules[1].jitter range",
			"schedules[1].label too_long", "schedules[1].params.MODE pattern", "schedules[1].params.SIZE unknown"}},
		{"too many schedules", func(j *Job) {
			j.Schedules = slices.Repeat([]JobSchedule{{CronExpr: "@daily"}}, MaxSchedules+1)
		}, []string{"schedules too_many"}},
		{"jitter too long", func(j *Job) { j.CronExpr, j.Jitter = "@daily", "24h1s" }, []string{"jitter range"}},
		{"startDeadline too short", func(j *Job) { j.StartDeadline = "999ms" }, []string{"startDeadline range"}},
		{"startDeadline too long", func(j *Job) { j.StartDeadline = "7d1s" }, []string{"startDeadline range"}},

		{"catchUp", func(j *Job) { j.CatchUp = &CatchUp{Policy: "some", Window: "0s", Max: 1001} },
			[]string{"catchUp.policy enum", "catchUp.window range", "catchUp.max range"}},
		{"catchUp below", func(j *Job) {
			j.CatchUp = &CatchUp{Window: "367d", Max: -1}
		}, []string{"catchUp.window range", "catchUp.max range"}},

		{"retry", func(j *Job) {
			j.Retry = &Retry{Max: 21, Backoff: "25h", MaxBackoff: "x", ExitCodes: []int{-1, 256}}
		},
			[]string{"retry.max range", "retry.backoff range", "retry.maxBackoff duration", "retry.exitCodes[0] range",
				"retry.exitCodes[1] range"}},
		{"retry below", func(j *Job) { j.Retry = &Retry{Max: -1} }, []string{"retry.max range"}},
		{"backoff that shrinks", func(j *Job) {
			j.Retry = &Retry{Backoff: "10s", MaxBackoff: "9s"}
		}, []string{"retry.maxBackoff range"}},
		{"backoff above the default", func(j *Job) {
			j.Retry = &Retry{Backoff: "6m"}
		}, []string{"retry.maxBackoff range"}},
		{"maxBackoff below the default", func(j *Job) {
			j.Retry = &Retry{MaxBackoff: "4s"}
		}, []string{"retry.maxBackoff range"}},
		{"no backoff", func(j *Job) { j.Retry = &Retry{Backoff: "0s", MaxBackoff: "0s"} }, nil},
		{"too many exit codes", func(j *Job) {
			j.Retry = &Retry{ExitCodes: make([]int, MaxExitCodes+1)}
		}, []string{"retry.exitCodes too_many"}},

		{"onLost", func(j *Job) { j.OnLost = "ignore" }, []string{"onLost enum"}},
		{"lostAfter too short", func(j *Job) { j.LostAfter = "19s" }, []string{"lostAfter range"}},
		{"lostAfter too long", func(j *Job) { j.LostAfter = "61m" }, []string{"lostAfter range"}},
		{"lostAfter with its grace", func(j *Job) { j.LostAfter, j.KillGrace = "20s", "6s" }, nil},
		{"lostAfter below the default grace", func(j *Job) { j.LostAfter = "20s" }, []string{"lostAfter range"}},
		{"lostAfter above the default grace", func(j *Job) { j.LostAfter = "30s" }, nil},
		{"grace above its third", func(j *Job) {
			j.LostAfter, j.KillGrace = "30s", "10001ms"
		}, []string{"killGrace range"}},
		{"grace above all", func(j *Job) { j.KillGrace = "21m" }, []string{"killGrace range"}},

		{"placement", func(j *Job) { j.Placement = &Placement{Strategy: "random", Workers: []string{"a", "B", ""}} },
			[]string{"placement.strategy enum", "placement.workers[1] name", "placement.workers[2] name"}},
		{"too many workers", func(j *Job) {
			j.Placement = &Placement{Workers: slices.Repeat([]string{"w"}, MaxPinned+1)}
		},
			[]string{"placement.workers too_many"}},
		{"priority and slots", func(j *Job) {
			j.Priority, j.Slots = 10, 1001
		}, []string{"priority range", "slots range"}},
		{"limits of a run", func(j *Job) { j.MemoryMax, j.TasksMax = "1MiB", 65536 }, nil},
		{"limits out of range", func(j *Job) {
			j.MemoryMax, j.TasksMax = "1KiB", 65537
		}, []string{"tasksMax range", "memoryMax range"}},
		{"memory of no size", func(j *Job) {
			j.MemoryMax, j.TasksMax = "lots", -1
		}, []string{"tasksMax range", "memoryMax size"}},
		{"priority and slots below", func(j *Job) {
			j.Priority, j.Slots = -1, -1
		}, []string{"priority range", "slots range"}},

		{"pause of a job that is not", func(j *Job) { j.PauseNote, j.PauseUntil = "x", at("2026-01-01T00:00:00Z") },
			[]string{"pauseNote exclusive", "pauseUntil exclusive"}},
		{"pause note", func(j *Job) {
			j.Paused, j.PauseNote = true, strings.Repeat("x", MaxPauseNote+1)
		}, []string{"pauseNote too_long"}},
		{"pause note of two lines", func(j *Job) {
			j.Paused, j.PauseNote = true, "a\nb"
		}, []string{"pauseNote control"}},

		{"params", func(j *Job) {
			j.Params = map[string]Param{
				"DAY":     {Default: "2026-01-01", Description: "which", Pattern: `\d{4}-\d\d-\d\d`},
				"PLAIN":   {},
				"EMPTY":   {Pattern: "a*"},
				"GIT_REF": {Default: "main"},
			}
		}, nil},
		{"too many params", func(j *Job) {
			j.Params = map[string]Param{}
			for name := range entries(MaxParams + 1) {
				j.Params[name] = Param{}
			}
		}, []string{"params too_many"}},
		{"param names", func(j *Job) { j.Params = map[string]Param{"": {}, "1A": {}, "A-B": {}} },
			[]string{"params env_name", "params env_name", "params env_name"}},
		{"param that decides what runs", func(j *Job) {
			j.Params = map[string]Param{
				"PATH":         {},
				"IFS":          {},
				"ENV":          {},
				"BASH_ENV":     {},
				"SHELLOPTS":    {},
				"LD_PRELOAD":   {},
				"CARILLON_JOB": {},
				"PYTHONPATH":   {},
				"GOFLAGS":      {},
				"BORG_RSH":     {},
				"PIP_TARGET":   {},
			}
		}, []string{"params.BASH_ENV env_reserved", "params.BORG_RSH env_reserved",
			"params.CARILLON_JOB env_reserved", "params.ENV env_reserved", "params.GOFLAGS env_reserved",
			"params.IFS env_reserved", "params.LD_PRELOAD env_reserved", "params.PATH env_reserved",
			"params.PIP_TARGET env_reserved", "params.PYTHONPATH env_reserved",
			"params.SHELLOPTS env_reserved"}},
		{"param that is in env", func(j *Job) {
			j.Env, j.Params = map[string]string{"A": "x"}, map[string]Param{"A": {}}
		}, []string{"params.A exclusive"}},
		{"pattern", func(j *Job) {
			j.Params = map[string]Param{"A": {Pattern: "("}}
		}, []string{"params.A.pattern pattern"}},
		{"pattern that only backtracking reads", func(j *Job) {
			j.Params = map[string]Param{"A": {Pattern: `(a)\1`}}
		}, []string{"params.A.pattern pattern"}},
		{"pattern too long", func(j *Job) {
			j.Params = map[string]Param{"A": {Pattern: strings.Repeat("a", 257)}}
		}, []string{"params.A.pattern too_long"}},
		{"default against its pattern", func(j *Job) {
			j.Params = map[string]Param{"A": {Default: "12x", Pattern: `\d+`}}
		}, []string{"params.A.default pattern"}},
		{"no default, though the pattern wants one", func(j *Job) {
			j.Params = map[string]Param{"A": {Pattern: `\d+`}}
		}, []string{"params.A.default pattern"}},
		{"default of bad text", func(j *Job) {
			j.Params = map[string]Param{
				"A": {Default: "\x00"},
				"B": {Default: "\xff"},
				"C": {Default: strings.Repeat("x", 4097)},
			}
		},
			[]string{"params.A.default nul", "params.B.default utf8", "params.C.default too_long"}},
		{"description of two lines", func(j *Job) {
			j.Params = map[string]Param{"A": {Description: "a\nb"}}
		}, []string{"params.A.description control"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			job := &Job{Name: "a", Command: "true"}
			c.change(job)
			var got []string
			for _, f := range job.Faults() {
				got = append(got, f.Location+" "+f.Code)
				if f.Message == "" {
					t.Errorf("%s says nothing", f.Location)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("faults %q, want %q", got, c.want)
			}
		})
	}
}

func TestNotifyAndRetention(t *testing.T) {
	for location, job := range map[string]Job{
		"": {
			Notify:    &Notify{On: []Event{EventFailed, EventRecovered}, To: []string{"ops"}},
			Retention: &Retention{Age: "7d", Runs: 100},
		},
		"notify":       {Notify: &Notify{On: []Event{EventFailed}}},
		"notify.on[0]": {Notify: &Notify{On: []Event{"succeeded"}, To: []string{"ops"}}},
		"notify.quiet.from": {Notify: &Notify{On: []Event{EventLost}, To: []string{"ops"},
			Quiet: &Quiet{From: "24:00", To: "07:00"}}},
		"notify.quiet.to": {Notify: &Notify{On: []Event{EventLost}, To: []string{"ops"},
			Quiet: &Quiet{From: "07:00", To: "07:00"}}},
		"notify.quiet.timezone": {Notify: &Notify{On: []Event{EventLost}, To: []string{"ops"},
			Quiet: &Quiet{From: "22:00", To: "07:00", Timezone: "Mars/Base"}}},
		"notify.after.5s": {Notify: &Notify{On: []Event{EventLost}, To: []string{"ops"},
			After: map[Duration][]string{"5s": {"boss"}}}},
		"notify.after.soon": {Notify: &Notify{On: []Event{EventLost}, To: []string{"ops"},
			After: map[Duration][]string{"soon": {"boss"}}}},
		"notify.after.1h": {Notify: &Notify{On: []Event{EventLost}, To: []string{"ops"},
			After: map[Duration][]string{"1h": {}}}},
		"notify.after.60m": {Notify: &Notify{On: []Event{EventLost}, To: []string{"ops"},
			After: map[Duration][]string{"1h": {"boss"}, "60m": {"boss"}}}},
		"notify.after.2h[1]": {Notify: &Notify{On: []Event{EventLost}, To: []string{"ops"},
			After: map[Duration][]string{"2h": {"boss", "a b"}}}},
		"notify.to[1]":   {Notify: &Notify{On: []Event{EventLost}, To: []string{"ops", "a b"}}},
		"retention.age":  {Retention: &Retention{Age: "5m"}},
		"retention.runs": {Retention: &Retention{Runs: -1}},
	} {
		job.Name, job.Command = "a", "true"
		faults := job.Faults()
		if location == "" && len(faults) > 0 || location != "" && (len(faults) != 1 || faults[0].Location != location) {
			t.Errorf("%q: %+v", location, faults)
		}
	}
}
