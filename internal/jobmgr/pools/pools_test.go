package pools_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/jobmgr/pools"
)

var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

var (
	noon  = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	actor = common.Actor{Name: "ann"}
)

func anyone(string) error { return nil }

// story is a keyspace with a service and the catalog of its jobs.
type story struct {
	*testing.T
	client  *clientv3.Client
	service *pools.Service
	catalog *catalog.Catalog
	now     time.Time
}

func newStory(t *testing.T) *story {
	s := &story{T: t, client: shared.Server(t).Client(), now: noon}
	if _, err := s.client.Delete(t.Context(), "\x00", clientv3.WithFromKey()); err != nil {
		t.Fatal(err)
	}
	s.catalog = catalog.New(catalog.NewWatcher(s.client, nil), schedule.NewInterner(), s.clock)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = s.catalog.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	s.service = pools.New(s.client, s.clock, nil, s.catalog)
	return s
}

func (s *story) clock() time.Time { return s.now }

func (s *story) put(key string, value any) {
	s.Helper()
	data, ok := value.(string)
	if !ok {
		text, err := json.Marshal(value)
		if err != nil {
			s.Fatal(err)
		}
		data = string(text)
	}
	resp, err := s.client.Put(s.Context(), key, data)
	if err != nil {
		s.Fatal(err)
	}
	s.catalog.Expect(resp.Header.Revision)
}

// job writes a job that uses the pool, with its cursor.
func (s *story) job(job common.Job, cursor time.Time) {
	s.Helper()
	job.Command, job.Timezone, job.Pool = "true", "UTC", "db"
	s.put(common.CursorKey(job.Name), common.TimeKey(cursor))
	s.put(common.JobKey(job.Name), common.StoredJob{Job: job, UID: "uid-" + job.Name})
}

func (s *story) save(slots int) common.Pool {
	s.Helper()
	pool, _, err := s.service.Save(s.Context(), actor, "db", common.PoolDefinition{Slots: slots},
		common.Precondition{}, anyone)
	if err != nil {
		s.Fatal(err)
	}
	return pool
}

func TestSave_ChangesAndPreconditions(t *testing.T) {
	s := newStory(t)
	first := s.save(2)
	if same := s.save(2); same.Version != first.Version {
		t.Errorf("saving the same wrote version %d after %d", same.Version, first.Version)
	}
	_, _, err := s.service.Save(t.Context(), actor, "db", common.PoolDefinition{Slots: 3},
		common.Precondition{Version: first.Version + 1}, anyone)
	if common.CodeOf(err) != common.CodeStale {
		t.Errorf("another version: %v", err)
	}
	refused := errors.New("refused")
	_, _, err = s.service.Save(t.Context(), actor, "db", common.PoolDefinition{Slots: 3, Group: "shop"},
		common.Precondition{}, func(group string) error {
			if group == "" {
				return nil
			}
			return refused
		})
	if !errors.Is(err, refused) {
		t.Errorf("a group of others: %v", err)
	}
	resp, err := s.client.Get(t.Context(), common.ChangesPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil || resp.Count != 1 {
		t.Errorf("%d entries in the audit, %v", resp.Count, err)
	}
}

func TestDelete_PoolInUse_NamesTheJobs(t *testing.T) {
	s := newStory(t)
	s.save(2)
	s.job(common.Job{Name: "nightly"}, noon)
	err := s.service.Delete(t.Context(), actor, "db", common.Precondition{}, anyone)
	if common.CodeOf(err) != common.CodeConflict || !strings.Contains(err.Error(), "nightly") {
		t.Fatalf("got %v", err)
	}
	s.put(common.JobKey("nightly"), common.StoredJob{Job: common.Job{Name: "nightly", Command: "true"}, UID: "uid"})
	if err := s.service.Delete(t.Context(), actor, "db", common.Precondition{}, anyone); err != nil {
		t.Fatal(err)
	}
	if _, err := s.service.State(t.Context(), "db"); common.CodeOf(err) != common.CodeNotFound {
		t.Errorf("after the deletion: %v", err)
	}
}

func TestState_ShowsUsageAndQueueAsWorkersHaveIt(t *testing.T) {
	s := newStory(t)
	s.save(1)
	s.put(common.PoolSlotKey("db", 0), common.PoolSlot{Job: "running", Run: "r.1"})
	minute := func(name string, priority int, overlap common.Overlap) common.Job {
		return common.Job{Name: name, CronExpr: "* * * * *", Priority: priority, Overlap: overlap}
	}
	s.job(minute("running", 9, common.OverlapSkip), noon.Add(-5*time.Minute)) // is skipped, and does not wait
	s.job(minute("old", 0, ""), noon.Add(-3*time.Minute))
	s.job(minute("urgent", 9, ""), noon.Add(-time.Minute))
	s.job(minute("later", 0, ""), noon)
	s.job(common.Job{Name: "manual"}, noon)
	s.put(common.TriggerKey("manual", "x"), common.Trigger{ID: "x", Job: "manual", JobUID: "uid-manual",
		Fire: "uid-manual.tx", Attempt: 1, NotBefore: noon.Add(-time.Second)})
	state, err := s.service.State(t.Context(), "db")
	if err != nil {
		t.Fatal(err)
	}
	var queue []string
	for _, w := range state.Waiting {
		queue = append(queue, w.Job)
	}
	if got := strings.Join(queue, " "); got != "urgent old manual" || len(state.Used) != 1 || state.Waits() != 3 {
		t.Errorf("queue %q, %d in use, %d wait", got, len(state.Used), state.Waits())
	}
	old := common.StoredJob{Job: common.Job{Name: "old", Pool: "db"}}
	if why := s.service.Planned(&old); why == nil || why.Code != common.ReasonPoolFull || why.Data["position"] != "2" {
		t.Errorf("old waits for %+v", why)
	}
	manual := common.StoredJob{Job: common.Job{Name: "manual", Pool: "db"}}
	if why := s.service.Why(t.Context(), &manual, "uid-manual.tx.1"); why == nil || why.Data["position"] != "3" {
		t.Errorf("the manual run waits for %+v", why)
	}
	gone := common.StoredJob{Job: common.Job{Name: "x", Pool: "none"}}
	if why := s.service.Planned(&gone); why == nil || why.Code != common.ReasonPoolMissing {
		t.Errorf("without its pool: %+v", why)
	}
}
