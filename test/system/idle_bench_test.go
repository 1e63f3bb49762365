package system

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"carillon/internal/common"
	"carillon/internal/executor/proctree"
)

// BenchmarkIdleWorker100k starts a worker on 100,000 jobs of which none is due, and
// measures how much of a core it takes once it has planned them: cpu-% and the
// memory that it holds per job.
func BenchmarkIdleWorker100k(b *testing.B) {
	const jobs = 100_000
	c := newCluster(b)
	fill(b, c, jobs)
	address := freePort(b)
	w := start(b, "carillon-worker", c.flags("--name", "idle", "--data-dir", filepath.Join(c.dir, "idle"),
		"--metrics-listen", address)...)
	began := time.Now()
	eventually(b, "all jobs are planned", func() bool {
		resp, err := http.Get("http://" + address + "/metrics")
		if err != nil {
			return false
		}
		defer resp.Body.Close()
		return metric(b, resp, "carillon_planned_jobs") == jobs
	})
	planned := time.Since(began)
	worker := proctree.Below(w.PID())[0].PID // the other one is its guardian
	for b.Loop() {
		const window = 20 * time.Second
		before := cpu(b, worker)
		time.Sleep(window) // what is measured is a stretch of time
		b.ReportMetric(100*float64(cpu(b, worker)-before)/float64(window), "cpu-%")
	}
	b.ReportMetric(planned.Seconds(), "s-to-plan")
	b.ReportMetric(float64(resident(b, worker))/jobs, "B/job")
	if code := w.end(syscall.SIGTERM); code != 0 {
		b.Fatalf("the worker stopped with %d", code)
	}
}

// fill writes jobs that fire once a year, a hundred in each transaction.
func fill(b *testing.B, c *cluster, n int) {
	b.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{c.etcdAt}, Logger: zap.NewNop()})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	now := time.Now().UTC()
	month := int(now.AddDate(0, 6, 0).Month())
	for i := 0; i < n; {
		var ops []clientv3.Op
		for ; len(ops) < 100 && i < n; i++ {
			job := common.StoredJob{
				UID:       common.NewID(),
				CreatedAt: now,
				UpdatedAt: now,
				Job: common.Job{Name: fmt.Sprintf("job-%06d", i),
					Command: "true", Timezone: "Europe/Berlin", CronExpr: fmt.Sprintf("%d %d %d %d *", i%60, i/60%24,
						1+i%28, month)},
			}
			data, err := json.Marshal(job)
			if err != nil {
				b.Fatal(err)
			}
			ops = append(ops, clientv3.OpPut(common.JobKey(job.Name), string(data)),
				clientv3.OpPut(common.CursorKey(job.Name), common.TimeKey(now)))
		}
		if _, err := client.Txn(b.Context()).Then(ops...).Commit(); err != nil {
			b.Fatal(err)
		}
	}
}

// metric reads one value of a metrics page.
func metric(b *testing.B, resp *http.Response, name string) float64 {
	b.Helper()
	var page strings.Builder
	if err := resp.Write(&page); err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(page.String()) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil {
				b.Fatal(err)
			}
			return v
		}
	}
	return -1
}

// cpu is the processor time that a process has taken.
func cpu(b *testing.B, pid int) time.Duration {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	ticks := 0
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 on Linux
}

// resident is the memory that a process holds.
func resident(b *testing.B, pid int) int64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		b.Fatal(err)
	}
	pages, err := strconv.ParseInt(strings.Fields(string(data))[1], 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
