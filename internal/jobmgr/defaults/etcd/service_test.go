package etcd_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/etcdkit/etcdtest"
	flowetcd "carillon/internal/flow/etcd"
	"carillon/internal/jobmgr"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/jobmgr/defaults"
	defaultsetcd "carillon/internal/jobmgr/defaults/etcd"
)

var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

var (
	noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ann  = common.Actor{Name: "ann"}
	any0 = common.Precondition{}
)

// master is what the defaults of one master consist of.
type master struct {
	catalog *catalog.Catalog
	table   *defaultsetcd.Table
	jobs    *jobmgr.Store
	service *defaultsetcd.Service
}

// story is a keyspace with a master.
type story struct {
	*testing.T
	client *clientv3.Client
	master
}

func newStory(t *testing.T) *story {
	s := &story{T: t, client: shared.Start(t)}
	s.master = s.newMaster(true)
	return s
}

// newMaster returns a master; one that does not know of defaults behaves as an older version.
func (s *story) newMaster(knows bool) master {
	now, interner := func() time.Time { return noon }, schedule.NewInterner()
	m := master{
		catalog: catalog.New(catalog.NewWatcher(s.client, nil), interner, now),
		table:   defaultsetcd.NewTable(s.client),
	}
	cfg := jobmgr.Config{Client: s.client, Interner: interner, Timezone: "UTC", Now: now, Catalog: m.catalog,
		Bodies: flowetcd.NewBodies(s.client)}
	if knows {
		cfg.Defaults = m.table.For
	}
	m.jobs = jobmgr.NewStore(cfg)
	m.service = defaultsetcd.New(defaultsetcd.Config{Client: s.client, Table: m.table, Catalog: m.catalog, Jobs: m.jobs,
		Interner: interner, Timezone: "UTC", Now: now, Report: func(error) {}})
	s.run(m.catalog.Run)
	s.run(func(ctx context.Context) error { return m.table.Follow(ctx, func(error) {}) })
	return m
}

// run runs something until the end of the test.
func (s *story) run(run func(context.Context) error) {
	ctx, cancel := context.WithCancel(s.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = run(ctx) }()
	s.Cleanup(func() { cancel(); <-done })
}

func (s *story) put(m master, job common.Job) common.JobState {
	s.Helper()
	if job.Command == "" && len(job.Steps) == 0 {
		job.Command = "true"
	}
	state, _, err := m.jobs.Put(s.Context(), ann, job, any0)
	if err != nil {
		s.Fatal(job.Name, err)
	}
	return state
}

func (s *story) get(name string) common.JobState {
	s.Helper()
	state, err := s.jobs.Get(s.Context(), name)
	if err != nil {
		s.Fatal(err)
	}
	return state
}

func (s *story) save(group string, d common.Defaults) *defaults.Review {
	s.Helper()
	_, review, err := s.service.Save(s.Context(), ann, group, d, any0, false)
	if err != nil {
		s.Fatal(err)
	}
	return review
}

// verbs returns the verbs of the audit entries of an object, in their order.
func (s *story) verbs(kind, name string) (verbs []string) {
	s.Helper()
	found, err := s.client.Get(s.Context(), common.ChangesPrefix, clientv3.WithPrefix())
	if err != nil {
		s.Fatal(err)
	}
	slices.SortFunc(found.Kvs, func(a, b *mvccpb.KeyValue) int { return int(a.CreateRevision - b.CreateRevision) })
	for _, kv := range found.Kvs {
		change, err := common.Decode[common.Change](kv.Value)
		if err != nil {
			s.Fatal(err)
		}
		if change.Kind == kind && change.Name == name {
			verbs = append(verbs, change.Verb)
		}
	}
	return verbs
}

func TestSave_ChangesTheJobsThatInherit(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(s.master, common.Job{Name: "eu", Group: "shop/eu", CronExpr: "@daily"})
	s.put(s.master, common.Job{Name: "own", Group: "shop", Retry: &common.Retry{Max: 1}, Timezone: "UTC"})
	s.put(s.master, common.Job{Name: "other", Group: "shop.eu"})
	wanted := common.Defaults{Retry: &common.Retry{Max: 3}, Timeout: "1h"}

	_, review, err := s.service.Save(t.Context(), ann, "shop", wanted, any0, true)
	if err != nil || review.Jobs != 2 || review.Changed != 2 || len(review.Items) != 2 {
		t.Fatalf("review %+v, %v", review, err)
	}
	if got := review.Items[0]; got.Name != "eu" || !slices.Equal(got.Fields, []string{"retry", "timeout"}) ||
		!strings.Contains(got.Diff, "+timeout: \"1h\"") {
		t.Errorf("the review of the nested group's job: %+v", got)
	}
	if eu := s.get("eu"); eu.Retry != nil || eu.Number != 1 {
		t.Fatalf("the review has changed the job: %+v", eu.Job)
	}

	if review := s.save("shop", wanted); review.Changed != 2 || review.Pending {
		t.Fatalf("saved: %+v", review)
	}
	if eu := s.get("eu"); eu.Retry.Max != 3 || eu.Timeout != "1h" || eu.Number != 2 || eu.Inherited[0].From != "shop" {
		t.Errorf("stored: %+v %+v", eu.Job, eu.Inherited)
	}
	if own := s.get("own"); own.Retry.Max != 1 || own.Timeout != "1h" {
		t.Errorf("a job with its own retry: %+v", own.Job)
	}
	if other := s.get("other"); other.Timeout != "" || other.Number != 1 {
		t.Errorf("a group of a similar name: %+v", other.Job)
	}
	if verbs := s.verbs("job", "eu"); !slices.Equal(verbs, []string{"create", "inherit"}) {
		t.Errorf("audit of the job: %v", verbs)
	}
	if review := s.save("shop", wanted); review.Changed != 0 || s.get("eu").Number != 2 {
		t.Errorf("the same again: %+v", review)
	}

	// the nearest wins
	s.save("shop/eu", common.Defaults{Timeout: "5m"})
	s.save(common.AllGroups, common.Defaults{Timeout: "9h", LostAfter: "2m"})
	if eu := s.get("eu"); eu.Timeout != "5m" || eu.Retry.Max != 3 || eu.LostAfter != "2m" {
		t.Errorf("three levels: %+v", eu.Job)
	}
	if other := s.get("other"); other.Timeout != "9h" {
		t.Errorf("defaults of all jobs: %+v", other.Job)
	}
	// a job that is saved again keeps inheriting; one that moves inherits from its new group
	stored := s.get("eu")
	own, _ := stored.Own()
	own.Title, own.Group = "moved", ""
	if moved := s.put(s.master, own); moved.Timeout != "9h" || moved.Retry != nil {
		t.Errorf("moved to no group: %+v", moved.Job)
	}
	// without defaults nothing is left of them
	s.save("shop/eu", common.Defaults{})
	s.save("shop", common.Defaults{})
	s.save(common.AllGroups, common.Defaults{})
	for _, name := range []string{"eu", "own", "other"} {
		if job := s.get(name); job.Timeout != "" || job.LostAfter != "" || len(job.Inherited) != 0 {
			t.Errorf("%s still inherits: %+v %+v", name, job.Job, job.Inherited)
		}
	}
	if verbs := s.verbs("defaults", "shop"); !slices.Equal(verbs, []string{"create", "delete"}) {
		t.Errorf("audit of the defaults: %v", verbs)
	}
	if all, err := s.service.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("listed: %+v, %v", all, err)
	}
}

func TestSave_TimezoneMovesFires(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.save("shop", common.Defaults{Timezone: "Asia/Tokyo"})
	job := s.put(s.master, common.Job{Name: "daily", Group: "shop", CronExpr: "0 6 * * *"})
	if job.Timezone != "Asia/Tokyo" {
		t.Fatalf("%+v", job.Job)
	}
	_, review, err := s.service.Save(t.Context(), ann, "shop", common.Defaults{Timezone: "Europe/Berlin"}, any0, true)
	if err != nil || review.Gone != 7 || review.New != 7 {
		t.Fatalf("%+v, %v", review, err)
	}
	first := review.Items[0]
	if !first.Gone[0].Equal(time.Date(2026, 3, 1, 21, 0, 0, 0, time.UTC)) ||
		!first.New[0].Equal(time.Date(2026, 3, 2, 5, 0, 0, 0, time.UTC)) || len(first.New) != 5 {
		t.Errorf("fires gone %v, new %v", first.Gone, first.New)
	}
	// a job that had its time zone before keeps it
	s.put(s.master, common.Job{Name: "old", Group: "else", CronExpr: "0 6 * * *"})
	if review := s.save("else", common.Defaults{Timezone: "Asia/Tokyo"}); review.Changed != 0 {
		t.Errorf("%+v", review)
	}
}

func retries(most int) common.Defaults { return common.Defaults{Retry: &common.Retry{Max: most}} }

func variable(name string) common.Defaults { return common.Defaults{Env: map[string]string{name: "1"}} }

func TestSave_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(s.master, common.Job{Name: "slow", Group: "shop", KillGrace: "30s", LostAfter: "90s"})
	s.put(s.master, common.Job{Name: "graceful", Group: "shop", KillGrace: "20s"})
	for name, c := range map[string]struct {
		group  string
		wanted common.Defaults
		code   common.Code
		want   string
	}{
		"an unknown time zone": {"shop", common.Defaults{Timezone: "Mars/Base"}, common.CodeInvalid, "timezone"},
		"too many retries":     {"shop", retries(99), common.CodeInvalid, "retry.max"},
		"a reserved variable":  {"shop", variable("CARILLON_X"), common.CodeInvalid, "env"},
		"no group":             {"Shop", common.Defaults{Timeout: "1h"}, common.CodeInvalid, "group"},
		"a bad selector": {"shop", common.Defaults{Placement: &common.Placement{Selector: "a b"}}, common.CodeInvalid,
			"selector"},
		"one job would be lost": {"shop", common.Defaults{LostAfter: "30s"}, common.CodeConflict, "graceful"},
	} {
		_, _, err := s.service.Save(t.Context(), ann, c.group, c.wanted, any0, false)
		if common.CodeOf(err) != c.code || !strings.Contains(fmt.Sprintf("%v %+v", err, err), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, review, err := s.service.Save(t.Context(), ann, "shop", common.Defaults{LostAfter: "30s"}, any0, true)
	if err != nil || review.Refused != 1 || review.Items[0].Name != "graceful" || len(review.Items[0].Faults) != 1 {
		t.Errorf("the review names the job: %+v, %v", review, err)
	}
	saved, _, err := s.service.Save(t.Context(), ann, "shop", common.Defaults{Timeout: "1h"}, any0, false)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.service.Save(t.Context(), ann, "shop", common.Defaults{Timeout: "2h"},
		common.Precondition{Version: saved.Version - 1}, false)
	if common.CodeOf(err) != common.CodeStale {
		t.Errorf("a stale version: %v", err)
	}
}

// A job that an older master saves lacks what it inherits until the elected master adds it.
func TestRun_AddsWhatAnOlderMasterLeftOut(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.save("shop", common.Defaults{Timeout: "1h"})
	older := s.newMaster(false)
	s.put(older, common.Job{Name: "new", Group: "shop"})
	if job := s.get("new"); job.Timeout != "" {
		t.Fatalf("%+v", job.Job)
	}
	s.run(s.service.Run)
	for s.Context().Err() == nil && s.get("new").Timeout != "1h" {
		time.Sleep(50 * time.Millisecond)
	}
	if verbs := s.verbs("job", "new"); !slices.Equal(verbs, []string{"create", "inherit"}) {
		t.Errorf("audit: %v", verbs)
	}
}

// A job that cannot have what it inherits is a condition until it, or the defaults, are changed.
func TestRun_JobThatRefuses_IsACondition(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	long := strings.Repeat("x", 64<<10-400)
	s.save("shop", common.Defaults{Env: map[string]string{"A": strings.Repeat("x", 1000)}})
	older := s.newMaster(false)
	s.put(older, common.Job{Name: "big", Group: "shop", Description: long})
	s.put(older, common.Job{Name: "small", Group: "shop"})
	s.run(s.service.Run)
	conditions := func(n int) (found []common.Condition) {
		t.Helper()
		for s.Context().Err() == nil {
			if found = s.service.Conditions(); len(found) == n {
				return found
			}
			time.Sleep(50 * time.Millisecond)
		}
		return found
	}
	c := conditions(1)[0]
	if c.Code != common.ConditionRefused || c.Data["job"] != "big" || c.Data["count"] != "1" || c.Data["error"] == "" ||
		c.From.IsZero() || !strings.Contains(c.Text, "big") {
		t.Errorf("%+v", c)
	}
	if s.get("small").Env["A"] == "" {
		t.Error("the other job has not been changed")
	}
	s.save("shop", common.Defaults{Timeout: "1h"})
	conditions(0)
	if s.get("big").Timeout != "1h" {
		t.Errorf("%+v", s.get("big").Job)
	}
}

// Pausing a job must not make what it inherits its own.
func TestPause_KeepsInheriting(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.save("shop", common.Defaults{Timeout: "1h"})
	s.put(s.master, common.Job{Name: "a", Group: "shop"})
	if _, err := s.jobs.Pause(t.Context(), ann, "a", common.PauseRequest{}, any0); err != nil {
		t.Fatal(err)
	}
	s.save("shop", common.Defaults{Timeout: "2h"})
	if job := s.get("a"); job.Timeout != "2h" || !job.Paused {
		t.Errorf("%+v %+v", job.Job, job.Inherited)
	}
}

// A flow inherits as a whole; its steps are kept.
func TestSave_OfFlows(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	steps := []common.Step{{Name: "a", Command: "true"}, {Name: "b", Command: "true"}}
	s.put(s.master, common.Job{Name: "f", Group: "shop", Steps: steps})
	s.save("shop", common.Defaults{Timeout: "1h", Env: map[string]string{"A": "1"},
		Placement: &common.Placement{Selector: "zone=a"}})
	state := s.get("f")
	if err := s.jobs.Complete(t.Context(), &state.StoredJob); err != nil || len(state.Steps) != 2 {
		t.Fatalf("%d steps, %v", len(state.Steps), err)
	}
	if state.Timeout != "1h" || state.Env["A"] != "1" || state.Placement.Selector != "zone=a" {
		t.Errorf("%+v", state.Job)
	}
	// what its steps refer to is checked as well
	broken := common.Defaults{Env: map[string]string{"A": "${{ steps.nowhere.outputs.x }}"}}
	_, review, err := s.service.Save(t.Context(), ann, "shop", broken, any0, true)
	if err != nil || review.Refused != 1 || review.Items[0].Name != "f" {
		t.Errorf("%+v, %v", review, err)
	}
	if _, _, err := s.service.Save(t.Context(), ann, "shop", broken, any0, false); common.CodeOf(err) !=
		common.CodeConflict {
		t.Errorf("saved: %v", err)
	}
}

// The replicas of a daemon are replaced when its environment changes.
func TestSave_RestartsDaemons(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(s.master, common.Job{Name: "d", Group: "shop", Daemon: &common.Daemon{Count: 1}})
	for _, c := range []struct {
		wanted common.Defaults
		want   int
	}{{variable("A"), 1}, {common.Defaults{Retention: &common.Retention{Runs: 9}}, 0}} {
		_, review, err := s.service.Save(t.Context(), ann, "shop", c.wanted, any0, true)
		if err != nil || review.Changed != 1 || review.Restarts != c.want {
			t.Errorf("%+v: %+v, %v", c.wanted, review, err)
		}
	}
}

// The review names the job that would be too large.
func TestSave_JobThatWouldBeTooLarge_IsRefused(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	s.put(s.master, common.Job{Name: "a", Group: "shop"})
	s.put(s.master, common.Job{Name: "b", Group: "shop", Description: strings.Repeat("x", 64<<10-400)})
	review := s.save("shop", common.Defaults{Timeout: "1h"})
	if review.Changed != 2 {
		t.Fatalf("%+v", review)
	}
	_, review, err := s.service.Save(t.Context(), ann, "shop", variable(strings.Repeat("A", 100)), any0, true)
	if err != nil || review.Changed != 2 {
		t.Errorf("%+v, %v", review, err)
	}
	long := common.Defaults{Env: map[string]string{"A": strings.Repeat("x", 1000)}}
	if _, review, err = s.service.Save(t.Context(), ann, "shop", long, any0, true); err != nil || review.Refused != 1 ||
		review.Items[0].Name != "b" || len(review.Items) != 2 {
		t.Errorf("a job that would be too large: %+v, %v", review, err)
	}
}
