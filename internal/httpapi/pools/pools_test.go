package pools_test

import (
	"net/http"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/pools"
)

func TestPools(t *testing.T) {
	h := apitest.NewHarness(t)
	put := func(who, name, body string) *http.Request {
		return apitest.As(who, http.MethodPut, "/api/v1/pools/"+name, body)
	}
	get := func(path string) *http.Request { return apitest.As("viewer", http.MethodGet, "/api/v1/pools"+path, "") }
	h.Problem(http.StatusForbidden, "forbidden", "", put("operator", "reports-db", `{"slots":2}`))
	for body, fault := range map[string]string{
		`{}`:                        "body.slots",
		`{"slots":0}`:               "body.slots",
		`{"slots":1001}`:            "body.slots",
		`{"slots":1,"group":"A B"}`: "body.group",
	} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", fault, put("editor", "reports-db", body))
	}
	h.Problem(http.StatusNotFound, "not_found", "", get("/reports-db"))
	h.Want(http.StatusCreated, put("editor", "reports-db", `{"slots":2,"group":"reports"}`))

	due := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h.Fakes.Pools.Used = []common.PoolUse{
		{PoolSlot: common.PoolSlot{Job: "a", Run: "a.1"}, Index: 0},
		{PoolSlot: common.PoolSlot{Job: "a", Run: "a.1"}, Index: 1},
	}
	h.Fakes.Pools.Waiting = []common.PoolWaiter{
		{Job: "late", Due: due.Add(time.Minute), At: due, Priority: 5, Slots: 1},
		{Job: "early", Run: "u.t1.1", Due: due, At: due, Priority: 5, Slots: 1},
		{Job: "urgent", Due: due.Add(time.Hour), At: due, Priority: 9, Slots: 2},
	}
	var one pools.Pool
	apitest.Decode(t, h.Want(http.StatusOK, get("/reports-db")), &one)
	if one.Slots != 2 || one.Used != 2 || one.Waiting != 3 || len(one.Holders) != 1 || one.Holders[0].Slots != 2 ||
		one.Queue[0].Job != "urgent" || one.Queue[1].Run != "u.t1.1" || one.Queue[2].Position != 3 {
		t.Errorf("%+v", one)
	}
	h.Want(http.StatusOK, get(""))

	remove := func(who string) *http.Request {
		return apitest.As(who, http.MethodDelete, "/api/v1/pools/reports-db", "")
	}
	h.Problem(http.StatusForbidden, "forbidden", "", remove("operator"))
	h.Fakes.Pools.InUse = true
	h.Problem(http.StatusConflict, "conflict", "", remove("editor"))
	h.Fakes.Pools.InUse = false
	h.Want(http.StatusNoContent, remove("editor"))
	h.Problem(http.StatusNotFound, "not_found", "", remove("editor"))
}

// Slots that are free for fires that are about to start keep no fire waiting.
func TestPools_FreeSlots_NoFireWaits(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Want(http.StatusCreated, apitest.As("editor", http.MethodPut, "/api/v1/pools/db", `{"slots":1}`))
	h.Fakes.Pools.Waiting = []common.PoolWaiter{{Job: "a", Slots: 1}, {Job: "b", Slots: 1}}
	var one pools.Pool
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/pools/db", "")), &one)
	if one.Waiting != 1 || len(one.Queue) != 1 || one.Queue[0].Job != "b" || one.Queue[0].Position != 1 {
		t.Errorf("%+v", one)
	}
}
