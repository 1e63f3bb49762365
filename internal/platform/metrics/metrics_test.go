package metrics

import (
	"fmt"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"carillon/internal/common"
)

func clock() time.Time { return time.Unix(1_800_000_000, 500_000_000) }

// scrape reads what Prometheus would read.
func scrape(r *Registry) string {
	rec := httptest.NewRecorder()
	r.Handler().ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	return rec.Body.String()
}

func expect(t *testing.T, page string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+page, "\n"+line+"\n") {
			t.Errorf("no line %q", line)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
}

func useWorker(w *Worker) {
	w.Outcome(common.StatusSucceeded, 20*time.Millisecond)
	w.Outcome(common.StatusFailed, 3*time.Second)
	w.Outcome(common.StatusSkipped, time.Hour) // did not start
	w.Outcome(common.StatusKilled, -1)         // not known
	w.Planned(7)
	w.Running(2)
	w.QueueDepth("ready", 3)
	w.WatchLag(1500 * time.Millisecond)
	w.ClaimBatch(40, 4*time.Millisecond, false)
	w.ClaimBatch(1, 4*time.Millisecond, true)
	w.FlowRuns(3, 2)
	w.FlowBatch(7)
	w.FlowStarted(7, time.Second)
	w.FlowTakeover()
	w.FlowVanished(1)
	w.Replicas(4)
	w.ReplicaRestarted(common.RestartLost)
	w.ReplicaMoved(common.MoveDrain)
	w.OutputDropped(9)
	w.SinkWrite(12, time.Millisecond, false)
	w.SinkWrite(5, time.Millisecond, true)
	w.ClockJump(-time.Hour)
	w.Session()
	w.Clock(0, false)
	w.Clock(-1500*time.Millisecond, true)
}

func TestWorker(t *testing.T) {
	r := NewRegistry("v1.2.3")
	w := NewWorker(r)
	useWorker(w)
	page := scrape(r)
	expect(t, page,
		`carillon_fires_total{status="failed"} 1`,
		`carillon_fires_total{status="skipped"} 1`,
		`carillon_fires_total{status="succeeded"} 1`,
		`carillon_start_delay_seconds_count 2`,
		`carillon_planned_jobs 7`,
		`carillon_running_runs 2`,
		`carillon_queue_depth{queue="ready"} 3`,
		`carillon_watch_lag_seconds 1.5`,
		`carillon_claim_batches_total{result="ok"} 1`,
		`carillon_claim_batches_total{result="error"} 1`,
		`carillon_claim_batch_size_sum 41`,
		`carillon_output_dropped_bytes_total 9`,
		`carillon_log_store_writes_total{result="error"} 1`,
		`carillon_log_store_entries_total 12`,
		`carillon_clock_jumps_total 1`,
		`carillon_running_replicas 4`,
		`carillon_replica_restarts_total{reason="lost"} 1`,
		`carillon_replica_restarts_total{reason="short"} 0`,
		`carillon_replica_moves_total{reason="drain"} 1`,
		`carillon_sessions_total 1`,
		`carillon_worker_clock_skew_seconds -1.5`,
		`carillon_cluster_clock_disagreement 1`,
	)
	if !strings.Contains(page, `carillon_build_info{goversion="go`) || !strings.Contains(page, `version="v1.2.3"} 1`) {
		t.Error("no build info")
	}
}

func useMaster(m *Master) {
	m.Request("GET", "/api/v1/jobs/{name}", 200, 3*time.Millisecond)
	m.Request("BREW", "", 404, time.Millisecond)
	m.ChangesDelivered(4)
	m.SinkWrite(3, time.Millisecond, false)
	m.SinkWrite(5, time.Millisecond, true)
	m.WatchLag(time.Second)
	m.Jobs(12, 1)
	m.Elected(true)
	m.Upkeep.Expired(7, 700)
	m.Upkeep.Tidied(1, 2, 3, 4096)
	m.Upkeep.Kept(2*time.Second, false)
	m.Upkeep.Kept(time.Second, true)
	m.Upkeep.Overdue(5)
	m.Upkeep.NoEntry(1)
	m.NoticeSent("mail")
	m.NoticeFailed("webhook", false)
	m.NoticeFailed("", true)
	m.NoticesWaiting(3)
	m.Pools([]common.PoolState{{Pool: common.Pool{Name: "gone"}}})
	m.Pools([]common.PoolState{{Pool: common.Pool{Name: "db", Slots: 5}, Used: make([]common.PoolUse, 2),
		Waiting: []common.PoolWaiter{{Waits: true}, {}}}})
	m.Gauges.Show([]common.JobFigures{{
		Name:        "backup",
		NextFire:    clock().Add(time.Hour),
		LastSuccess: clock(),
		LastStatus:  common.StatusFailed,
		Overdue:     90 * time.Second,
		Replicas: &common.ReplicaFigures{Wanted: 3,
			ReplicaCounts: common.ReplicaCounts{Pending: 1, Running: 2}},
	}, {Name: "new"}}, 5)
}

func TestMaster(t *testing.T) {
	r := NewRegistry("dev")
	useMaster(NewMaster(r))
	expect(t, scrape(r),
		`carillon_http_requests_total{method="GET",route="/api/v1/jobs/{name}",status="200"} 1`,
		`carillon_http_requests_total{method="other",route="none",status="404"} 1`,
		`carillon_http_request_seconds_count{method="GET",route="/api/v1/jobs/{name}"} 1`,
		`carillon_master_changes_delivered_total 4`,
		`carillon_master_outcomes_delivered_total 3`,
		`carillon_master_log_store_errors_total 1`,
		`carillon_master_watch_lag_seconds 1`,
		`carillon_master_jobs 12`,
		`carillon_master_damaged_jobs 1`,
		`carillon_master_elected 1`,
		`carillon_master_terms_total 1`,
		`carillon_housekeeping_expired_runs_total 7`,
		`carillon_housekeeping_expired_bytes_total 700`,
		`carillon_housekeeping_rollups_total{what="repaired"} 2`,
		`carillon_housekeeping_freed_bytes_total 4096`,
		`carillon_housekeeping_passes_total{result="error"} 1`,
		`carillon_housekeeping_pass_seconds 1`,
		`carillon_audit_overdue_jobs 5`,
		`carillon_audit_fires_without_entry_total 1`,
		`carillon_notifications_sent_total{kind="mail"} 1`,
		`carillon_notifications_failed_total{final="false",kind="webhook"} 1`,
		`carillon_notifications_failed_total{final="true",kind="none"} 1`,
		`carillon_notifications_waiting 3`,
		`carillon_pool_slots{pool="db"} 5`,
		`carillon_pool_slots_used{pool="db"} 2`,
		`carillon_pool_waiting{pool="db"} 1`,
		`carillon_job_last_success_timestamp_seconds{job_name="backup"} 1.8000000005e+09`,
		`carillon_job_last_status{job_name="backup",status="failed"} 1`,
		`carillon_job_last_status{job_name="backup",status="succeeded"} 0`,
		`carillon_job_next_fire_timestamp_seconds{job_name="backup"} 1.8000036005e+09`,
		`carillon_job_replicas{job_name="backup",state="wanted"} 3`,
		`carillon_job_replicas{job_name="backup",state="running"} 2`,
		`carillon_job_replicas{job_name="backup",state="pending"} 1`,
		`carillon_job_overdue_seconds{job_name="backup"} 90`,
		`carillon_job_overdue_seconds{job_name="new"} 0`,
		`carillon_jobs_without_metrics 5`,
	)
}

// The standalone shows both on one page, and the page shows exactly what was
// declared.
func TestDeclaredIsShown(t *testing.T) {
	r := NewRegistry("dev")
	useWorker(NewWorker(r))
	useMaster(NewMaster(r))
	r.CertificateEnds("api", clock())
	var declared []string
	for _, m := range r.Metrics() {
		declared = append(declared, m.Name)
	}
	var shown []string
	for _, m := range regexp.MustCompile(`(?m)^# TYPE (carillon_\S+)`).FindAllStringSubmatch(scrape(r), -1) {
		shown = append(shown, m[1])
	}
	slices.Sort(declared)
	slices.Sort(shown)
	if !slices.Equal(declared, shown) {
		t.Errorf("declared %q\nshown    %q", declared, shown)
	}
}

// TestNamesAndUnits checks the page as "promtool check metrics" does.
func TestNamesAndUnits(t *testing.T) {
	r := NewRegistry("dev")
	useWorker(NewWorker(r))
	useMaster(NewMaster(r))
	r.CertificateEnds("api", clock())
	problems, err := promlint.New(strings.NewReader(scrape(r))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// A rule that asks for an increase sees the first one, since counters are exposed before they count.
func TestCountersBeginAtZero(t *testing.T) {
	r := NewRegistry("dev")
	NewWorker(r)
	NewMaster(r, "mail")
	expect(t, scrape(r),
		`carillon_fires_total{status="missed"} 0`,
		`carillon_claim_batches_total{result="error"} 0`,
		`carillon_log_store_writes_total{result="error"} 0`,
		`carillon_notifications_sent_total{kind="mail"} 0`,
		`carillon_notifications_failed_total{final="true",kind="mail"} 0`,
	)
}

func TestManyGoroutines(t *testing.T) {
	r := NewRegistry("dev")
	w, m := NewWorker(r), NewMaster(r)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 200 {
				w.Outcome(common.StatusSucceeded, 0)
				m.Gauges.Show([]common.JobFigures{{Name: fmt.Sprintf("job-%d", (i*100+j)%300)}}, j)
				if j%50 == 0 {
					scrape(r)
				}
			}
		})
	}
	group.Wait()
	expect(t, scrape(r), `carillon_fires_total{status="succeeded"} 1600`)
}

// What is not as it should be can be asked for before it ever was so.
func TestConditionGauges(t *testing.T) {
	r := NewRegistry("")
	w, m := NewWorker(r), NewMaster(r)
	expect(t, scrape(r), `carillon_condition{code="disk_full"} 0`, `carillon_master_condition{code="no_workers"} 0`)
	w.Condition(common.ConditionDiskFull, true)
	m.Condition(common.ConditionNoWorkers, true)
	expect(t, scrape(r), `carillon_condition{code="disk_full"} 1`, `carillon_condition{code="no_workers"} 0`,
		`carillon_master_condition{code="no_workers"} 1`)
	w.Condition(common.ConditionDiskFull, false)
	expect(t, scrape(r), `carillon_condition{code="disk_full"} 0`)
}

// Another master shows the same jobs once the term has ended.
func TestJobFiguresAreWithdrawn(t *testing.T) {
	r := NewRegistry("dev")
	m := NewMaster(r)
	if page := scrape(r); strings.Contains(page, "carillon_job") {
		t.Errorf("a master that is not elected shows jobs:\n%s", page)
	}
	useMaster(m)
	m.Gauges.Show([]common.JobFigures{{Name: "new"}}, 0)
	page := scrape(r)
	expect(t, page, `carillon_job_overdue_seconds{job_name="new"} 0`, `carillon_jobs_without_metrics 0`)
	for _, absent := range []string{`job_name="backup"`, "carillon_job_last_", "carillon_job_next_"} {
		if strings.Contains(page, absent) {
			t.Errorf("%s is shown:\n%s", absent, page)
		}
	}
	m.Gauges.Show(nil, 0)
	if page := scrape(r); strings.Contains(page, "carillon_job") {
		t.Errorf("jobs are shown after the term:\n%s", page)
	}
}
