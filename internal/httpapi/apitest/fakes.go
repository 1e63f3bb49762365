package apitest

import (
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/flow"
	"carillon/internal/flow/nodes"
	"carillon/internal/health"
	"carillon/internal/httpapi"
	"carillon/internal/runlog"
	"carillon/internal/runlog/tail"
)

// Fakes stands behind all ports, in memory.
type Fakes struct {
	Lost   map[string]bool // jobs of which the answer to a change is lost
	Behind bool            // lists show other versions

	Mu          sync.Mutex
	Jobs        map[string]common.JobState
	version     int64
	RunList     []common.Run
	Used        map[string]common.Usage // by run
	Chunks      map[string][]common.Chunk
	asked       []int64 // offsets that output was asked for
	WorkerList  []common.Member
	Ledger      []common.Fire
	Asking      []runlog.FireQuery
	Triggers    []common.TriggerRequest
	Settings    map[string]common.WorkerSettings
	Sessions    map[string]access.Identity
	Codes       map[string]access.Identity
	Killed      []string
	Successes   map[string]common.Success // by job
	Notes       []string
	Actors      []common.Actor
	Fail        error // what every job call fails with
	Unready     bool  // etcd is away
	StoreOff    bool  // the log store is away
	WaitCounts  runlog.WaitingFires
	Lasting     []common.Condition
	Records     []health.Record
	Panics      bool
	Changes     []common.Change
	Acked       map[string]runlog.AckState // by fire
	Moving      *common.Move               // the handover in progress
	OverdueList []common.Overdue
	blind       bool // it is not known which jobs there are
	Queries     []common.JobQuery
	Created     []string // keys of idempotency that jobs were created with

	OnTrigger     func(run string)     // called under the lock, with the run that will be
	keys          map[string]string    // of idempotency, and what they were used for
	RollupQueries []runlog.RollupQuery // that were asked for
	TotalsOf      [][]string           // jobs whose totals were requested
	LastOf        [][]string

	Waits     []common.FlowWait
	Retries   []common.NodeRetry
	Continued bool                   // the last of them may go on from a flow run
	Replans   []string               // run, scope, steps and digest
	Scopes    []flow.Scope           // of these
	Plan      flow.Plan              // of each re-run of a flow run
	Answers   []string               // to approvals: run, step, verdict and note
	Paused    map[string]bool        // flow runs
	FlowOf    map[string]nodes.Found // by id of the flow run
	Pools     FakePools
}

func NewConfig(t *testing.T, f *Fakes) httpapi.Config {
	t.Helper()
	f.Jobs, f.Sessions, f.Settings = map[string]common.JobState{}, map[string]access.Identity{},
		map[string]common.WorkerSettings{}
	return httpapi.Config{
		Jobs:       f,
		Runs:       f,
		Following:  tail.New(f, tail.Config{}),
		Workers:    f,
		Types:      f,
		Masters:    f,
		Channels:   &FakeChannels{},
		Secrets:    &FakeSecrets{},
		Views:      &FakeViews{},
		Hooks:      &FakeHooks{},
		Locks:      &FakeLocks{},
		Windows:    &FakeWindows{},
		Pools:      &f.Pools,
		Defaults:   &FakeDefaults{},
		Auth:       f,
		Access:     &FakeAccess{},
		Health:     f,
		Stats:      f,
		Ahead:      f,
		Grouping:   f,
		LastFires:  f,
		Acks:       f,
		Nodes:      Nodes{f},
		References: f,
		Counted:    f,
		Samples:    f,
		Changes:    f,
		Audit:      &FakeAudit{},
		Feed:       noFeed{},
		Findings:   f,
		Doctor:     f,
		Recovery:   f,
		Schedules:  schedule.NewInterner(),
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "carillon_up 1\n")
		}),
		Console: fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>Carillon</title>")},
			"assets/index.js":            {Data: []byte("console.log(1)")},
			"assets/chart.0123456789.js": {Data: []byte("console.log(2)")}},
		Guide:    fstest.MapFS{"README.md": {Data: []byte("# Carillon")}, "docs/adr/0001-a.md": {Data: []byte("# A")}},
		Version:  "0.1.0",
		Timezone: "UTC",
		Logger:   slog.New(slog.DiscardHandler),
		Now:      time.Now,
	}
}
