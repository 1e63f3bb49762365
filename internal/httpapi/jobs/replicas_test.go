package jobs_test

import (
	"net/http"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/jobs"
)

const aDaemon = `{"name":"a","command":"sleep 9","daemon":{"count":12}}`

func TestReplicas_AreListedByIndex_WithRestartsAndTheHandover(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs", aDaemon))
	uid, at := h.Jobs["a"].UID, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	run := func(replica string, status common.Status) common.Run {
		fire := common.ReplicaFire(uid, replica, at)
		r := common.Run{ID: common.RunID(fire, 1), Job: "a", JobUID: uid, Fire: fire, Attempt: 1, PlannedAt: at,
			Cause: common.CauseDaemon, Status: status}
		if status == common.StatusRunning {
			r.Worker, r.ClaimedAt = "w1", new(at.Add(time.Second))
		}
		return r
	}
	h.RunList = []common.Run{run("010", common.StatusWaiting), run("009", common.StatusRunning),
		run("001", common.StatusSucceeded)}
	h.RunList[0].Restarts = 5
	h.WorkerList = []common.Member{{Registration: common.Registration{Life: common.Life{Worker: "w2", Name: "two"}}},
		{Registration: common.Registration{Life: common.Life{Worker: "w3", Name: "three"}}}}
	h.Moving = &common.Move{Job: "a", Replica: "003", Run: "r", Worker: "w3", Reason: common.MoveDrain, Since: at}
	var got jobs.Replicas
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/replicas", "")), &got)
	if got.Wanted != 12 || got.Running != 1 || got.Waiting != 1 || len(got.Items) != 2 {
		t.Fatalf("%+v", got)
	}
	if a, b := got.Items[0], got.Items[1]; a.Replica != "9" || a.Worker != "w1" || a.Restarts != 0 ||
		!a.Since.Equal(at.Add(time.Second)) || b.Replica != "10" || b.Restarts != 5 || !b.Since.Equal(at) {
		t.Errorf("%+v", got.Items)
	}
	if m := got.Handover; m == nil || m.Replica != "3" || m.Worker != "w3" || m.WorkerName != "three" ||
		m.Reason != common.MoveDrain || !m.Since.Equal(at) {
		t.Errorf("handover %+v", m)
	}
}

func TestRestart_PassesTheNoteOn(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPost, "/api/v1/jobs", aDaemon))
	const target = "/api/v1/jobs/a/restart"
	for body, note := range map[string]string{"": "", `{"note":"it leaks"}`: "it leaks"} {
		h.Want(http.StatusOK, apitest.As("operator", http.MethodPost, target, body))
		if last := h.Actors[len(h.Actors)-1]; last.Note != note {
			t.Errorf("body %q: actor %+v", body, last)
		}
	}
	h.Want(http.StatusForbidden, apitest.As("viewer", http.MethodPost, target, ""))
	h.Want(http.StatusUnprocessableEntity, apitest.As("operator", http.MethodPost, target, `{"why":"x"}`))
}
