package runs_test

import (
	"net/http"
	"reflect"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/runs"
)

func TestUsageOfRuns(t *testing.T) {
	h := apitest.NewHarness(t)
	at := time.Unix(1_000_001, 0).UTC()
	samples := []common.UsageSample{
		{At: at, CPUSeconds: 0.5, MemoryBytes: 1 << 20, ReadBytes: 4096, WrittenBytes: 8192, Processes: 2},
		{At: at.Add(4 * time.Second), CPUSeconds: 3, MemoryBytes: 2 << 20, ReadBytes: 4096, WrittenBytes: 1 << 40},
	}
	ended, live, none := apitest.SomeRun(common.StatusFailed, 1), apitest.SomeRun(common.StatusRunning, 2),
		apitest.SomeRun(common.StatusSucceeded, 3)
	h.RunList = []common.Run{ended, live, none}
	h.Used = map[string]common.Usage{
		ended.ID: {Run: ended.ID, Source: common.UsageOfProc, Interval: 4 * time.Second, Samples: samples},
		live.ID:  {Run: live.ID, Source: common.UsageOfCgroup, Interval: 2 * time.Second, Samples: samples[:1]},
	}
	for _, want := range []runs.RunUsage{
		{Run: ended.ID, Source: "proc", IntervalMs: 4000, Samples: samples},
		{Run: live.ID, Source: "cgroup", IntervalMs: 2000, Live: true, Samples: samples[:1]},
		{Run: none.ID, Samples: []common.UsageSample{}},
	} {
		var got runs.RunUsage
		apitest.Decode(t, h.Want(http.StatusOK,
			apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+want.Run+"/usage", "")), &got)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %+v\nwant %+v", got, want)
		}
	}
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("viewer", http.MethodGet, "/api/v1/runs/"+apitest.SomeRun("", 9).ID+"/usage", ""))
}
