package master

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/continuity"
	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/health/looptest"
	"carillon/internal/platform/config"
	"carillon/internal/platform/metrics"
)

// shared is the etcd of the tests that neither stop nor compact it.
var shared etcdtest.Shared

func TestMain(m *testing.M) { os.Exit(shared.Run(m)) }

const stuckMaster = "TestStuckLoopOfAMasterHasACondition"

func masterTable() map[string]looptest.Row {
	return map[string]looptest.Row{
		"master session": {
			Loops: []string{"presence"},
			Codes: []string{common.ConditionEtcdAway},
			Tests: []string{stuckMaster, "TestEtcdFullAndAway"},
		},
		"presence": {Loops: []string{"presence"}, Tests: []string{stuckMaster}},
		"membership": {
			Loops: []string{"watch_workers", "watch_settings", "watch_masters"},
			Tests: []string{stuckMaster},
		},
		"windows":        {Loops: []string{"watch_windows"}, Tests: []string{stuckMaster}},
		"defaults":       {Loops: []string{"watch_defaults"}, Tests: []string{stuckMaster}},
		"catalog":        {Loops: []string{"watch_jobs"}, Tests: []string{stuckMaster}},
		"outboxes":       {Loops: []string{"watch_outboxes"}, Tests: []string{stuckMaster}},
		"outcomes":       {Loops: []string{"delivery"}, Tests: []string{stuckMaster}},
		"catalog gauges": {Ends: "it only copies figures"},
		"lookout": {Loops: []string{"lookout"}, Codes: []string{common.ConditionEtcdAway, common.ConditionLogStoreAway},
			Tests: []string{"TestLogStoreThatIsSlowIsNotAway", "TestEtcdFullAndAway", "TestLogStoreAway"}},
		"conditions":   {Ends: "it only reads memory, and raises the others"},
		"certificates": looptest.Certificates(),
		"findings":     {Loops: []string{"watch_findings"}, Tests: []string{stuckMaster}},
		"events":       {Loops: []string{"watch_events"}, Tests: []string{stuckMaster}},
		"last fires":   {Ends: "requests that need it are answered with an error after 10 s"},
		"elected":      {Loops: []string{"watch_election", "election"}, Tests: []string{stuckMaster}},
		"origin":       {Ends: "it only notices by itself what every other answer of etcd shows as well"},
		"api":          {Ends: "the process ends when it cannot listen or serve"},

		"duty housekeeping": {Loops: []string{"duty_housekeeping"}, Codes: []string{common.ConditionHousekeeping},
			Tests: []string{"TestDutiesAreBegunAgain", "TestStoreFails"}},
		"duty definitions": {Loops: []string{"duty_definitions"}, Tests: []string{stuckMaster, "TestPass_StoreFails"}},
		"duty waits":       {Loops: []string{"duty_waits"}, Tests: []string{stuckMaster}},
		"duty defaults":    {Loops: []string{"duty_defaults"}, Tests: []string{stuckMaster}},
		"duty audit":       {Loops: []string{"duty_audit"}, Tests: []string{"TestDutiesAreBegunAgain", stuckMaster}},
		"duty findings":    {Loops: []string{"duty_findings"}, Tests: []string{stuckMaster}},
		"duty audit_chain": {Loops: []string{"duty_audit_chain"}, Codes: []string{common.ConditionAuditStuck},
			Tests: []string{"TestDutiesAreBegunAgain", "TestSealerThatFailsHasACondition"}},
		"duty notifications": {Loops: []string{"duty_notifications"}, Tests: []string{stuckMaster}},
		"duty pools":         {Loops: []string{"duty_pools"}, Tests: []string{stuckMaster}},
		"duty job_metrics": {
			Loops: []string{"duty_job_metrics"},
			Tests: []string{stuckMaster, "TestMetricsOfJobsOnTheElectedMaster"},
		},
		"duty channels": {Loops: []string{"duty_channels"}, Codes: []string{common.ConditionNotifyFailing},
			Tests: []string{stuckMaster, "TestChannelsThatFail"}},
	}
}

// A new part or duty must say what raises a condition when it stands still.
func TestEveryLoopOfAMasterHasAConditionAndATest(t *testing.T) {
	t.Parallel()
	m := newLoopsMaster(t, shared.Start(t), 0)
	names := looptest.Serving(m.Parts())
	for _, d := range m.duties {
		names = append(names, "duty "+d.Name)
		if d.Loop == nil {
			t.Errorf("duty %s has no loop", d.Name)
		}
	}
	looptest.Check(t, "../..", "master", masterTable(), names, m.loops.Specs())
}

func newLoopsMaster(t *testing.T, client *clientv3.Client, limit time.Duration) *Master {
	t.Helper()
	m, err := New(Config{
		Etcd:      client,
		Store:     looptest.Store(t),
		Version:   "test",
		Log:       slog.New(slog.DiscardHandler),
		Registry:  metrics.NewRegistry("test"),
		ID:        common.NewID(),
		Clock:     continuity.NewClock(slog.New(slog.DiscardHandler)),
		Origin:    continuity.NewOrigin(slog.New(slog.DiscardHandler)),
		LoopLimit: limit,
		API:       config.API{HTTP: config.HTTP{Listen: "127.0.0.1:0"}, Timezone: "UTC"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// The loops of a master, and the duties of the elected one, have conditions in the same way.
func TestStuckLoopOfAMasterHasACondition(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("waits for each loop")
	}
	for _, c := range []struct {
		loop, code, prefix string
		writes             bool
	}{
		{loop: "watch_jobs", code: common.ConditionWatchStale, prefix: common.JobsPrefix},
		{loop: "watch_windows", code: common.ConditionWatchStale, prefix: common.WindowsPrefix},
		{loop: "watch_defaults", code: common.ConditionWatchStale, prefix: common.DefaultsPrefix},
		{loop: "watch_events", code: common.ConditionWatchStale, prefix: common.JobsPrefix},
		{loop: "watch_outboxes", code: common.ConditionWatchStale, prefix: common.OutboxPrefix},
		{loop: "watch_election", code: common.ConditionWatchStale, prefix: common.LeaderKey},
		{loop: "watch_findings", code: common.ConditionWatchStale, prefix: common.FindingsKey},
		{loop: "watch_workers", code: common.ConditionWatchStale, prefix: common.WorkersPrefix},
		{loop: "watch_settings", code: common.ConditionWatchStale, prefix: common.WorkerSettingsPrefix},
		{loop: "watch_masters", code: common.ConditionWatchStale, prefix: common.MastersPrefix},
		{loop: "presence", code: common.ConditionLoopStuck, prefix: common.MastersPrefix, writes: true},
		{loop: "delivery", code: common.ConditionLoopStuck, prefix: common.OutboxPrefix},
		{loop: "election", code: common.ConditionNoElectedMaster, prefix: common.LeaderKey, writes: true},
		{loop: "duty_audit", code: common.ConditionLoopStuck, prefix: common.JobsPrefix},
		{loop: "duty_waits", code: common.ConditionLoopStuck, prefix: common.FlowWaitsPrefix},
		{loop: "duty_defaults", code: common.ConditionLoopStuck, prefix: common.DefaultsPrefix},
		{loop: "duty_pools", code: common.ConditionLoopStuck, prefix: common.PoolSlotsPrefix},
		{loop: "duty_job_metrics", code: common.ConditionLoopStuck, prefix: common.JobsPrefix},
		{loop: "duty_findings", code: common.ConditionLoopStuck, prefix: common.FindingsKey, writes: true},
		{loop: "duty_notifications", code: common.ConditionLoopStuck, prefix: common.AlertsPrefix},
		{loop: "duty_channels", code: common.ConditionLoopStuck, prefix: common.WaitingNoticesPrefix},
	} {
		t.Run(c.loop, func(t *testing.T) {
			t.Parallel()
			client, g := shared.Start(t), looptest.NewGate()
			g.Set(c.prefix, c.writes)
			m := newLoopsMaster(t, g.Client(client), looptest.Limit)
			looptest.Serve(t, m.Parts())
			if c.loop == "watch_events" {
				following, stop := context.WithCancel(t.Context())
				t.Cleanup(stop)
				go func() {
					for following.Err() == nil {
						if f, err := m.feed.Follow(following, 0, nil, "test"); err == nil {
							<-following.Done()
							f.Close()
						}
					}
				}()
			}
			looptest.Becomes(t, m.state.Conditions, c.loop, c.code, true)
			g.Set("", false)
			looptest.Becomes(t, m.state.Conditions, c.loop, c.code, false)
		})
	}
}
