package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

func TestPauseAndResume(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "hello", "--cron", "* * * * *", "--", "true").want(t, exitOK)
	s.run("pause", "hello").want(t, exitOK, "paused hello\n")
	s.run("pause", "hello", "--note", "the database moves", "--until", "2099-01-02T03:04:05Z").want(t, exitOK,
		"paused hello until ")
	if j := s.jobs["hello"]; !j.Paused || j.PauseNote != "the database moves" ||
		!j.PauseUntil.Equal(time.Date(2099, 1, 2, 3, 4, 5, 0, time.UTC)) {
		t.Errorf("%+v", j.Job)
	}
	s.run("pause", "hello", "--note", "x", "--until", "2h").want(t, exitOK, "paused hello until ")
	if in := time.Until(*s.jobs["hello"].PauseUntil); in < time.Hour || in > 2*time.Hour {
		t.Errorf("paused for %v", in)
	}
	s.run("pause", "hello", "--note", "x").want(t, exitOK, "paused hello\n")
	s.run("get", "jobs").want(t, exitOK, "paused")
	s.run("get", "jobs", "-o", "wide").want(t, exitOK, "STATE", "paused: x")
	s.run("pause", "hello", "--note", "x", "--until", "soon").want(t, exitUsage, "is not a time")
	s.run("resume", "hello").want(t, exitOK, "resumed hello, next fire ")
	if j := s.jobs["hello"]; j.Paused || j.PauseNote != "" || j.PauseUntil != nil {
		t.Errorf("%+v", j.Job)
	}
	s.run("resume", "none").want(t, exitNotFound)
	s.run("resume", "A/B").want(t, exitUsage)
	s.run("resume", "hello", "-o", "json").want(t, exitOK, `"state": "active"`)
}

func TestRunWithParameters(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "hello", "--", "true").want(t, exitOK)
	s.run("run", "hello", "--param", "DAY=a=b", "--param", "EMPTY=", "--worker", "alpha", "--note", "please",
		"--idempotency-key", "k1").want(t, exitOK)
	want := common.TriggerRequest{
		Job:    "hello",
		Note:   "please",
		Params: map[string]string{"DAY": "a=b", "EMPTY": ""},
		Worker: "alpha",
		Key:    "k1",
	}
	if len(s.asked) != 1 || !maps.Equal(s.asked[0].Params, want.Params) || s.asked[0].Worker != want.Worker ||
		s.asked[0].Note != want.Note || s.asked[0].Key != want.Key {
		t.Errorf("asked %+v", s.asked)
	}
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	s.runWith([]string{"CARILLON_SERVER=" + s.server.URL, "CARILLON_TOKEN=" + goodToken, "TRACEPARENT=" + parent},
		"run", "hello").want(t, exitOK)
	if got := s.asked[len(s.asked)-1].Traceparent; got != parent {
		t.Errorf("the run continues %q, want %q", got, parent)
	}
	s.run("run", "hello", "--param", "DAY").want(t, exitUsage, "NAME=VALUE")
	s.run("run", "hello", "--worker", "unknown").want(t, exitUsage, "no live worker has this name or id")
	s.run("run", "hello", "--idempotency-key", strings.Repeat("k", 129)).want(t, exitUsage, "at most 128")
}

func TestFires(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "hello", "--cron", "0 * * * *", "--", "true").want(t, exitOK)
	at := time.Now().UTC().Truncate(time.Hour)
	for i := range 100 {
		planned := at.Add(time.Duration(90-i) * time.Hour)
		f := common.Fire{
			ID:        common.PlannedFire("u", planned),
			Job:       "hello",
			JobUID:    "u",
			PlannedAt: planned,
			Cause:     common.CauseCron,
			Attempts:  []string{},
		}
		switch {
		case planned.After(time.Now()):
			f.Status = common.StatusPlanned
		case i == 95:
			f.Status, f.Reason = common.StatusMissed, &common.Reason{Code: "late", Text: "no worker was alive"}
			f.Gap = &common.Gap{From: at, To: planned, Count: 7}
		default:
			f.Status, f.Attempts = common.StatusFailed, []string{f.ID + ".1", f.ID + ".2"}
		}
		s.ledger = append(s.ledger, f)
	}
	out := s.run("fires", "hello").want(t, exitOK, "PLANNED", "failed", "7 fires after", "no worker was alive").out
	if n := strings.Count(out, "\n"); n != 11 {
		t.Errorf("%d lines:\n%s", n, out)
	}
	s.run("fires", "-o", "wide", "--status", "failed,missed", "--group", "ops", "--from", "-12h", "--to", "+2d").want(t,
		exitOK, "LAST RUN")
	q := s.wanted[len(s.wanted)-1]
	if q.Job != "" || q.Group != "ops" || !slices.Equal(q.Statuses, []common.Status{"failed", "missed"}) ||
		q.To.Sub(q.From).Round(time.Minute) != 60*time.Hour {
		t.Errorf("asked for %+v", q)
	}
	// The soonest first, whatever page and order the server has.
	raw := s.run("fires", "hello", "--next", "30", "-o", "json").want(t, exitOK).out
	var next struct{ Items []common.Fire }
	if err := json.Unmarshal([]byte(raw), &next); err != nil || len(next.Items) != 30 {
		t.Fatalf("%d fires, %v", len(next.Items), err)
	}
	for i, f := range next.Items {
		if want := at.Add(time.Duration(i+1) * time.Hour); !f.PlannedAt.Equal(want) {
			t.Errorf("fire %d at %v, want %v", i, f.PlannedAt, want)
		}
	}
	s.run("fires", "--next", "3").want(t, exitUsage, "needs a job")
	s.run("fires", "none", "--next", "3").want(t, exitNotFound)
	s.run("fires", "hello", "--status", "dead").want(t, exitUsage, "must be one of")
	if len(s.wanted) == 0 || s.wanted[0].Limit != 50 {
		t.Errorf("asked for %+v", s.wanted)
	}
	s.run("get", "runs", "--fire", "u.tabc").want(t, exitOK)
}

func TestDescribeJob(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "hello", "--cron", "* * * * *", "--", "true").want(t, exitOK)
	s.run("pause", "hello", "--note", "why not").want(t, exitOK)
	for id, name := range map[string]string{"w3": "gamma", "w4": "delta"} {
		s.idle = append(s.idle, common.Member{Registration: common.Registration{
			Life:  common.Life{Worker: id, Name: name},
			Slots: 8,
			Lease: 8,
		}})
	}
	s.run("describe", "job", "hello").want(t, exitOK, "State:", "paused: why not", "Placement:  hash",
		"1.  delta  would run it", "2.  gamma  takes over", "-   alpha  it claims no runs: the disk is full")
	raw := s.run("describe", "job", "hello", "-o", "json").want(t, exitOK).out
	var d description
	if err := json.Unmarshal([]byte(raw), &d); err != nil || !strings.Contains(string(d.Placement), `"gamma"`) ||
		!strings.Contains(string(d.Job), `"hello"`) {
		t.Errorf("%v: %s", err, raw)
	}
	s.jobs["etl"] = common.JobState{StoredJob: common.StoredJob{Job: common.Job{Name: "etl", Timezone: "UTC",
		Timeout: "2h", Retry: &common.Retry{Max: 2, Backoff: "1m"}, Steps: []common.Step{{Name: "a", Command: "true"}}},
		UID: "u"}, Version: 1}
	s.run("describe", "job", "etl").want(t, exitOK, "Timeout:    2h", "Retry:      up to 2 times, first after 1m")
	s.fakes.runBy = []string{"etl", "nightly"}
	s.run("describe", "job", "hello").want(t, exitOK, "Step of:    etl, nightly")
	s.run("describe", "job", "none").want(t, exitNotFound)
	s.run("describe").want(t, exitUsage)
}

// A job with parents shows what it waits for; the fakes have the first parent succeed.
func TestDescribeJob_WithParents_ShowsWhatItWaitsFor(t *testing.T) {
	s := newStage(t)
	s.run("create", "job", "import-orders", "--", "true").want(t, exitOK)
	s.run("create", "job", "import-stock", "--", "true").want(t, exitOK)
	s.run("create", "job", "refresh", "--after", "import-orders,import-stock", "--", "true").want(t, exitOK)
	s.run("describe", "job", "refresh").want(t, exitOK, "After:      import-orders, import-stock",
		"Waits for:  import-stock\n")
	s.run("get", "jobs", "refresh").want(t, exitOK, "waits for import-stock")
	s.run("get", "jobs").want(t, exitOK, "after import-orders, import-stock")
}

// The jobs of a file are created in an order in which their parents exist.
func TestCreateJobs_ParentsFirst(t *testing.T) {
	order, done := parentsFirst([]common.Job{{Name: "c", After: []string{"b", "stored"}},
		{Name: "b", After: []string{"a"}},
		{Name: "x", After: []string{"y"}}, {Name: "y", After: []string{"x"}}, {Name: "a"}})
	if !slices.Equal(order, []int{4, 1, 0, 2, 3}) || !done["c"] || done["x"] || done["stored"] {
		t.Errorf("order %v, of which %v", order, done)
	}
}

func TestDescribeRun(t *testing.T) {
	s := newStage(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.Local)
	ended := at.Add(time.Hour)
	lost := common.Run{
		ID:              "u.1.1",
		Job:             "hello",
		JobUID:          "u",
		Fire:            "u.1",
		PlannedAt:       at,
		Cause:           common.CauseManual,
		Attempt:         1,
		Status:          common.StatusLost,
		TriggeredBy:     "ann",
		WorkerName:      "alpha",
		StartedAt:       &at,
		EndedAt:         new(at.Add(90 * time.Second)),
		OutputBytes:     12,
		OutputTruncated: true,
		Reason:          &common.Reason{Code: "worker_died", Text: "its worker ended\nsoon"},
	}
	late := lost
	late.ID, late.Orphaned = "u.2.1", &common.LateEnd{
		Run:        "u.2.1",
		Status:     common.StatusFailed,
		Worker:     "w",
		WorkerName: "alpha",
		ExitCode:   new(3),
		EndedAt:    &ended,
	}
	waiting := common.Run{
		ID:        "u.3.1",
		Job:       "hello",
		PlannedAt: at,
		Cause:     common.CauseRetry,
		Attempt:   2,
		Status:    common.StatusWaiting,
		DueAt:     &ended,
	}
	spread := common.Run{ID: "u.4.1", Job: "hello", PlannedAt: at, Cause: common.CauseCron, Attempt: 1,
		Status: common.StatusSucceeded, Nodes: &common.NodeCounts{Total: 2, Succeeded: 2}}
	s.runs = map[string]*common.Run{lost.ID: &lost, late.ID: &late, waiting.ID: &waiting, spread.ID: &spread}

	got := s.run("describe", "run", lost.ID).want(t, exitOK, "Status:   lost", "Reason:   its worker ended soon",
		"Cause:    manual by ann", "Worker:   alpha",
		"Took:     1m30s", "Printed:  12 bytes; the middle was not kept").out
	if strings.Contains(got, "Orphaned") || strings.Contains(got, "Note") {
		t.Errorf("shown of a run that just was lost:\n%s", got)
	}
	s.run("describe", "run", late.ID).want(t, exitOK, "Status:    lost",
		"Orphaned:  ended failed on alpha at 2026-03-01 13:00:00 (3), after it had been resolved as lost")
	if got := s.run("describe", "run", waiting.ID).want(t, exitOK,
		"Due:      2026-03-01 13:00:00").out; strings.Contains(got, "Printed") || strings.Contains(got, "Took") {
		t.Errorf("shown of a run that waits:\n%s", got)
	}
	if got := s.run("describe", "run", spread.ID).want(t, exitOK, "Nodes:").out; strings.Contains(got, "Printed") {
		t.Errorf("shown of a run without a command of its own:\n%s", got)
	}
	s.run("describe", "run", late.ID, "-o", "json").want(t, exitOK, `"orphaned": {`)
	s.run("describe", "run", "u.9.1").want(t, exitNotFound)
	s.run("describe", "run").want(t, exitUsage)
}

func TestMastersAreListed(t *testing.T) {
	s := newStage(t)
	s.run("get", "masters").want(t, exitOK, "ELECTED", "north", "10.0.0.7:7070", "south", "1.2.2")
	s.run("get", "masters", "-o", "wide").want(t, exitOK, "AHEAD", "m2", "20ms")
	s.run("get", "masters", "-o", "json").want(t, exitOK, `"leadsSince"`)
}

func TestWorkersAreSet(t *testing.T) {
	s := newStage(t)
	s.run("get", "workers").want(t, exitOK, "the disk is full", "w2", "away", "CONDITIONS", "disk_full!,log_store_away")
	s.run("get", "workers", "-o", "wide").want(t, exitOK, "LABELS", "zone=a", "DAEMONS", "agent=1,consumer=2")
	s.run("describe", "worker", "w1").want(t, exitOK, "Daemons:", "3 slots: agent=1,consumer=2")
	s.run("drain", "alpha", "--note", "a new kernel").want(t, exitOK, "alpha", "note: no other worker accepts runs")
	if !s.workers.Drain || s.workers.DrainNote != "a new kernel" {
		t.Errorf("%+v", s.workers)
	}
	s.run("undrain", "w1").want(t, exitOK)
	s.run("drain", "unknown").want(t, exitNotFound)
	s.run("delete", "worker", "w1").want(t, exitConflict, "alive")
	s.run("delete", "worker", "w2").want(t, exitOK, "deleted w2")
	s.run("set", "worker", "alpha", "--slots", "3", "--weight", "0", "--label", "zone=b").want(t, exitOK)
	if s.workers.Drain || *s.workers.Slots != 3 || *s.workers.Weight != 0 ||
		fmt.Sprint(s.workers.Labels) != "map[zone:b]" {
		t.Errorf("%+v", s.workers)
	}
	s.run("label", "alpha", "disk=fast", "zone-").want(t, exitOK, "alpha")
	if fmt.Sprint(s.workers.Labels) != "map[disk:fast]" || *s.workers.Slots != 3 {
		t.Errorf("%+v", s.workers)
	}
	s.run("set", "worker", "alpha", "--reset", "slots,labels").want(t, exitOK)
	if s.workers.Slots != nil || s.workers.Labels != nil || *s.workers.Weight != 0 {
		t.Errorf("%+v", s.workers)
	}
	s.run("set", "worker", "alpha").want(t, exitUsage, "nothing to set")
	s.run("set", "worker", "alpha", "--reset", "name").want(t, exitUsage)
	s.run("set", "worker", "alpha", "--slots", "-1").want(t, exitUsage, "slots")
	s.run("label", "alpha", "zone").want(t, exitUsage, "NAME=VALUE")
	s.runWith([]string{"CARILLON_SERVER=" + s.server.URL, "CARILLON_TOKEN=viewer-token"}, "drain", "alpha").want(t,
		exitDenied)
}

func TestStatus(t *testing.T) {
	s := newStage(t)
	s.run("status").want(t, exitOK, "State:      all is well", "Running:    2",
		"Waiting:    3, 8 of paused jobs\n", "Jobs:       0\n",
		"Workers:    1 alive, 1 with problems, 2 of 8 slots used", "Log store:  ok")
	if out := s.run("get", "runs").want(t, exitOK).err; out != "" {
		t.Errorf("a whole list comes with %q", out)
	}
	s.lasting = []common.Condition{{
		Code: common.ConditionLogStoreAway,
		Who:  "north",
		Text: "the log store does not answer",
		From: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
	}}
	s.run("status").want(t, exitOK, "State:      degraded", "Running:    unknown", "Waiting:    unknown",
		"Log store:  away", "CONDITION",
		"log_store_away  north", "the log store does not answer")
	var o map[string]any
	if err := json.Unmarshal([]byte(s.run("status", "-o", "json").want(t, exitOK).out), &o); err != nil ||
		len(o["degraded"].([]any)) != 1 || o["logStore"] != "away" {
		t.Errorf("%v: %v", err, o)
	}
	s.run("get", "runs").want(t, exitOK, "only waiting, active and just ended runs are listed")
	s.run("get", "runs", "-o", "json").want(t, exitOK, `"partial": true`)
}
