package master

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/continuity"
	"carillon/internal/common"
	"carillon/internal/health/looptest"
	"carillon/internal/platform/config"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/metrics"
	"carillon/internal/runlog"
)

// scraped is a master whose /metrics the test reads.
type scraped struct {
	*Master
	token string
	stop  func()
}

func newScraped(t *testing.T, client *clientv3.Client, store LogStore, token string) *scraped {
	t.Helper()
	m, err := New(Config{
		Etcd:     client,
		Store:    store,
		Version:  "test",
		Log:      slog.New(slog.DiscardHandler),
		Registry: metrics.NewRegistry("test"),
		ID:       common.NewID(),
		Clock:    continuity.NewClock(slog.New(slog.DiscardHandler)),
		Origin:   continuity.NewOrigin(slog.New(slog.DiscardHandler)),
		API:      config.API{HTTP: config.HTTP{Listen: "127.0.0.1:0"}, Timezone: "UTC", MetricsMaxJobs: 2},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- lifecycle.New(slog.New(slog.DiscardHandler), m.Parts()...).Run(ctx, ctx) }()
	s := &scraped{Master: m, token: token}
	s.stop = func() {
		if cancel(); ended != nil {
			<-ended
			ended = nil
		}
	}
	t.Cleanup(s.stop)
	for deadline := time.Now().Add(time.Minute); m.address.Load() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the master does not listen")
		}
	}
	return s
}

func (s *scraped) call(t *testing.T, method, path, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+s.Address()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s %s: %s %s %v", method, path, resp.Status, text, err)
	}
	return string(text)
}

// shows waits until /metrics has all lines.
func (s *scraped) shows(t *testing.T, lines ...string) string {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		page, missing := s.call(t, http.MethodGet, "/metrics", ""), ""
		for _, line := range lines {
			if !strings.Contains(page, "\n"+line) {
				missing = line
			}
		}
		if missing == "" {
			return page
		}
		if time.Now().After(deadline) {
			t.Fatalf("no line %q in\n%s", missing, page)
		}
	}
}

// Metrics of single jobs come from the catalog and the log store, so that neither the restart of a worker nor the
// election of another master loses them. One master shows them at a time.
func TestMetricsOfJobsOnTheElectedMaster(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for the next look at all jobs")
	}
	client, store := shared.Start(t), looptest.Store(t)
	token, err := NewAccess(client, &config.OIDC{}).Bootstrap(t.Context(), common.Actor{Name: "test"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	first := newScraped(t, client, store, token)
	first.shows(t, "carillon_master_elected 1")
	second := newScraped(t, client, store, token)

	for _, name := range []string{"backup", "paused", "zeta"} {
		paused := name == "paused"
		first.call(t, http.MethodPost, "/api/v1/jobs",
			fmt.Sprintf(`{"name":%q,"cronExpr":"0 3 1 1 *","command":"true","paused":%t}`, name, paused))
	}
	backup, known := first.catalog.Job("backup")
	for deadline := time.Now().Add(time.Minute); !known &&
		time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		backup, known = first.catalog.Job("backup")
	}
	begun := time.Now().Add(-10 * time.Minute).Truncate(time.Second)
	for i, status := range []common.Status{common.StatusSucceeded, common.StatusFailed, common.StatusSkipped} {
		at := begun.Add(time.Duration(i) * time.Minute)
		fire := common.PlannedFire(backup.UID, at)
		run := common.Run{
			ID:        common.RunID(fire, 1),
			Fire:      fire,
			Job:       "backup",
			JobUID:    backup.UID,
			PlannedAt: at,
			EndedAt:   &at,
			Attempt:   1,
			Cause:     common.CauseCron,
			Status:    status,
		}
		if err := store.Write(t.Context(), runlog.Batch{Runs: []common.Run{run}}); err != nil {
			t.Fatal(err)
		}
	}
	next := time.Date(time.Now().UTC().Year()+1, 1, 1, 3, 0, 0, 0, time.UTC)
	lines := []string{
		fmt.Sprintf("carillon_job_last_success_timestamp_seconds{job_name=\"backup\"} %v\n", float64(begun.Unix())),
		`carillon_job_last_status{job_name="backup",status="failed"} 1`,
		`carillon_job_last_status{job_name="backup",status="succeeded"} 0`,
		fmt.Sprintf("carillon_job_next_fire_timestamp_seconds{job_name=\"backup\"} %v\n", float64(next.Unix())),
		`carillon_job_overdue_seconds{job_name="backup"} 0`,
		`carillon_job_overdue_seconds{job_name="paused"} 0`,
		"carillon_jobs_without_metrics 1",
	}
	page := first.shows(t, lines...)
	for _, absent := range []string{`job_name="zeta"`, `carillon_job_next_fire_timestamp_seconds{job_name="paused"}`,
		`job="`} {
		if strings.Contains(page, absent) {
			t.Errorf("%s is shown", absent)
		}
	}
	if page := second.call(t, http.MethodGet, "/metrics", ""); strings.Contains(page, "job_name") {
		t.Errorf("a master that is not elected shows jobs:\n%s", page)
	}
	first.stop()
	second.shows(t, lines...)
}
