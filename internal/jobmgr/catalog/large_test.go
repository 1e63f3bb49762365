package catalog_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/jobmgr/catalog"
)

// manyJobs returns jobs of some groups and teams, as the watcher reads them: each decoded separately.
func manyJobs(t testing.TB, n int) []common.JobState {
	jobs := make([]common.JobState, n)
	for i := range jobs {
		job := common.StoredJob{
			Job: common.Job{
				Name:  fmt.Sprintf("%04x-job-%d", uint16(i*40503), i),
				Title: fmt.Sprintf("Report %d of the evening", i),
				Group: fmt.Sprintf("group-%02d", i%50),
				Labels: map[string]string{"team": fmt.Sprintf("team-%d", i%20),
					"tier": strconv.Itoa(i % 3)},
				CronExpr: fmt.Sprintf("%d %d * * *", i%60, i/60%24),
				Timezone: "Asia/Shanghai",
				Command:  "make report",
				Env:      map[string]string{"REPORT": strconv.Itoa(i)},
				Timeout:  "1h",
				Paused:   i%10 == 0,
			},
			UID:       common.NewID(),
			CreatedAt: time.Unix(int64(i), 0).UTC(),
			UpdatedAt: time.Unix(int64(i), 0).UTC(),
			UpdatedBy: "ann",
		}
		data, err := json.Marshal(&job)
		if err == nil {
			jobs[i].StoredJob, err = common.Decode[common.StoredJob](data)
		}
		if err != nil {
			t.Fatal(err)
		}
		jobs[i].Version, jobs[i].Cursor = int64(i+1), job.CreatedAt
	}
	return jobs
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// A catalog of typical jobs takes at most 1 KB for each.
func TestCatalogIsSmall(t *testing.T) {
	const n = 20_000
	jobs := manyJobs(t, n)
	before := heap()
	all := catalog.New(nil, schedule.NewInterner(), time.Now)
	for at := 0; at < n; at += 1000 { // in pages
		all.Fill(jobs[at:at+1000], at+1000 < n)
	}
	after := heap()
	runtime.KeepAlive(jobs)
	if count, _ := all.Len(); count != n {
		t.Fatal(count)
	}
	if each := (int64(after) - int64(before)) / n; each > 1024 {
		t.Errorf("%d bytes for each job", each)
	} else {
		t.Logf("%d bytes for each job", each)
	}
}

func BenchmarkCatalogList100k(b *testing.B) {
	all := catalog.New(nil, schedule.NewInterner(), time.Now)
	all.Fill(manyJobs(b, 100_000), false)
	for name, q := range map[string]common.JobQuery{
		"all": {}, "middle": {After: "8000"}, "q": {Q: "99"}, "nowhere": {Q: "nowhere"}, "group": {Group: "group-07"},
		"selector": {Selector: "team=none"}, "done": {Phase: common.PhaseDone},
		"nextFire": {Order: common.OrderNextFire}, "updatedDown": {Order: common.OrderUpdated, Descending: true},
		"byGroup": {Order: common.OrderGroup},
		"deep":    {Skip: 90_000}, "deepNextFire": {Skip: 50_000, Order: common.OrderNextFire},
		"below":      {Below: "group"},
		"everything": {Q: "9", Selector: "team!=team-3", Phase: common.PhaseActive, Order: common.OrderNextFire},
	} {
		q.Limit = 50
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := all.List(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
