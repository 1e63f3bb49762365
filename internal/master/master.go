package master

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/audit"
	auditetcd "carillon/internal/audit/etcd"
	"carillon/internal/cluster/continuity"
	"carillon/internal/cluster/election"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/events"
	eventsetcd "carillon/internal/events/etcd"
	typesetcd "carillon/internal/executor/typeschema/etcd"
	"carillon/internal/flow/archive"
	flowetcd "carillon/internal/flow/etcd"
	"carillon/internal/flow/nodes"
	"carillon/internal/flow/waits"
	"carillon/internal/health"
	healthetcd "carillon/internal/health/etcd"
	hooksetcd "carillon/internal/hooks/etcd"
	"carillon/internal/housekeeping"
	"carillon/internal/httpapi"
	"carillon/internal/joblock"
	"carillon/internal/jobmgr"
	"carillon/internal/jobmgr/catalog"
	defaultsetcd "carillon/internal/jobmgr/defaults/etcd"
	"carillon/internal/jobmgr/forecast"
	"carillon/internal/jobmgr/live"
	"carillon/internal/jobmgr/locks"
	"carillon/internal/jobmgr/plan"
	"carillon/internal/jobmgr/pools"
	maintenanceetcd "carillon/internal/maintenance/etcd"
	"carillon/internal/notify"
	notifyetcd "carillon/internal/notify/etcd"
	"carillon/internal/notify/history"
	"carillon/internal/notify/webhook"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/config"
	"carillon/internal/platform/metrics"
	"carillon/internal/platform/wallclock"
	"carillon/internal/runlog"
	"carillon/internal/runlog/jobgauges"
	"carillon/internal/runlog/lastfires"
	"carillon/internal/runlog/tail"
	secretsetcd "carillon/internal/secrets/etcd"
	viewsetcd "carillon/internal/views/etcd"
	"carillon/internal/watchdog"
	"carillon/internal/worker"
)

// LogStore is the complete interface of a log store.
type LogStore interface {
	runlog.Writer
	runlog.Reader
	runlog.Statistics
	runlog.Upkeep
	runlog.Chained
	runlog.Definitions
	runlog.Usages
	healthetcd.Pinger
	io.Closer
}

// Config configures a Master.
type Config struct {
	config.API
	Etcd         *clientv3.Client
	Store        LogStore
	Version      string
	Log          *slog.Logger
	Registry     *metrics.Registry
	Certificates *certs.Set // those that it presents
	// ID is new for each start, or that of the worker in the same process: both have the same clock, and a key
	// that an earlier start left under the id does not count as a vote.
	ID string
	// Clock watches the wall clock; shared with the worker in the same process.
	Clock *continuity.Clock
	// Origin detects a restore of etcd; shared with the worker in the same process.
	Origin *continuity.Origin
	// DiskFull returns why the disk of an etcd in this process is full; nil if there is no such etcd.
	DiskFull func() error
	// Started reports whether this process is ready to be used, if its stores are; nil: always.
	Started func() bool
	Console fs.FS
	Guide   fs.FS // the documentation that the console shows

	LoopLimit time.Duration // how long a loop may be stuck before that is a condition; 0: the default
}

// jobSet provides the jobs to the API: their changes, their lists, and their runs.
type jobSet struct {
	*jobmgr.Store
	*catalog.Catalog
	*live.Runs
}

// record is the audit: the elected master seals entries; every master lists and verifies them.
type record struct {
	*runlog.Changes
	*audit.Verifier
}

// notices lists and changes channels, and tests them.
type notices struct {
	*notifyetcd.Store
	*notify.Notifier
}

// Master is a master's wiring.
type Master struct {
	cfg      Config
	host     string
	started  time.Time
	metrics  *metrics.Master
	session  *joblock.Session
	presence *members.Presence
	members  *members.Members
	catalog  *catalog.Catalog
	windows  *maintenanceetcd.Table
	defaults *defaultsetcd.Table
	outboxes *live.Outboxes
	sink     *runlog.Sink
	sealer   *audit.Sealer
	elector  *election.Elector
	duties   []election.Duty // duties of the elected master
	findings election.Findings
	feed     *events.Hub
	results  *lastfires.Index
	webhooks *webhook.Sender
	guard    *members.Guard
	probe    *healthetcd.Probe
	state    *healthetcd.State
	server   *http.Server
	secure   *tls.Config // nil: the API is served without TLS
	// connections limits the connections of the server.
	connections *httpapi.Connections
	loops       *health.Loops
	address     atomic.Value // net.Addr
}

// New creates a master. Nothing runs before its parts start.
func New(cfg Config) (*Master, error) {
	counted, auth := metrics.NewMaster(cfg.Registry, kindNames()...), NewAccess(cfg.Etcd, &cfg.OIDC)
	m := &Master{
		cfg:         cfg,
		host:        worker.Hostname(),
		started:     wallclock.Now().UTC(),
		metrics:     counted,
		connections: httpapi.NewConnections(cfg.HTTP.TrustedProxies),
	}
	var err error
	if m.secure, err = cfg.Certificates.Server("api", certs.Files(cfg.HTTP.TLS)); err != nil {
		return nil, err
	}
	m.session = joblock.NewSession(cfg.Etcd, worker.SessionTTL, bootclock.Now, cfg.Log, func() {})
	m.probe = healthetcd.NewProbe(cfg.Etcd, cfg.Store, cfg.DiskFull)
	m.loops = health.NewLoops(cfg.Log, cfg.LoopLimit, m.probe.EtcdAway, masterLoops()...)
	m.members = members.NewMembers(cfg.Etcd, wallclock.Now, m.loops.Report)
	m.guard = members.NewGuard(m.members, cfg.ID, wallclock.Now, nil, cfg.Clock.Judge)
	m.presence = members.NewPresence(cfg.Etcd, m.session, cfg.Log, worker.RegisterEvery, m.loops.Loop("presence").Done,
		m.present)
	m.elector = election.New(election.Config{
		Client:  cfg.Etcd,
		Session: m.session,
		Boot:    bootclock.Now,
		Key:     common.LeaderKey,
		ID:      cfg.ID,
		Name:    m.host,
		Now:     wallclock.Now,
		Log:     cfg.Log,
		Elected: counted.Elected,
		Report:  m.loops.Report,
	})
	m.findings = election.NewFindings(m.elector)
	interner := schedule.NewInterner()
	m.catalog = catalog.New(catalog.NewWatcher(cfg.Etcd, m.loops.ReportOf("jobs")), interner, wallclock.Now)
	m.outboxes = live.NewOutboxes(cfg.Etcd, m.loops.ReportOf("outboxes"))
	m.sink = runlog.NewSink(runlog.SinkConfig{Spool: runlog.NoSpool{}, Report: m.loops.Loop("delivery").Done},
		live.NewMasterOutbox(cfg.Etcd), cfg.Store, cfg.Log, counted)
	m.feed = events.NewHub(events.Config{
		Source: eventsetcd.New(cfg.Etcd, m.catalog.Name),
		Log:    cfg.Log,
		Health: m.loops.Loop("watch_events"),
	})
	chain := auditetcd.New(cfg.Etcd, m.elector.Held)
	m.sealer = audit.NewSealer(audit.Config{
		Chain:     chain,
		Store:     cfg.Store,
		Alone:     m.members.Sealing,
		Log:       cfg.Log,
		Delivered: counted.ChangesDelivered,
		Failed:    counted.LogStoreError,
	})
	workers := members.NewSettings(cfg.Etcd, wallclock.Now, m.changed)
	there := &runlog.Available{
		Reader:      cfg.Store,
		Statistics:  cfg.Store,
		Chained:     cfg.Store,
		Definitions: cfg.Store,
		Samples:     cfg.Store,
		Away:        m.probe.StoreAway,
	}
	unsealed := auditetcd.NewUnsealed(cfg.Etcd, wallclock.Now)
	changes := runlog.NewChanges(unsealed, there)
	m.windows = maintenanceetcd.NewTable(cfg.Etcd)
	m.state = healthetcd.New(healthetcd.Config{
		Client:       cfg.Etcd,
		Probe:        m.probe,
		Catalog:      m.catalog,
		Members:      m.members,
		Guard:        m.guard,
		Elector:      m.elector,
		Workers:      workers,
		Missed:       missedSince(there),
		Unaudited:    unaudited(auth, changes, there),
		Certificates: cfg.Certificates,
		ID:           cfg.ID,
		Host:         m.host,
		Version:      cfg.Version,
		Now:          wallclock.Now,
		Changed:      m.changed,
		Log:          cfg.Log,
		Gauge:        counted.Condition,
		Sources: []func() []common.Condition{m.loops.Conditions, cfg.Origin.Conditions, m.findings.Conditions,
			cfg.Certificates.Conditions},
		Started:  cfg.Started,
		Round:    m.loops.Loop("lookout"),
		Election: m.loops.Loop("election"),
	})
	box, err := worker.SecretBox(cfg.Notify.SecretsKey)
	if err != nil {
		return nil, fmt.Errorf("secretsKey: %w", err)
	}
	secrets := secretsetcd.New(cfg.Etcd, box, wallclock.Now, m.changed)
	views := viewsetcd.New(cfg.Etcd, wallclock.Now, m.changed)
	named := locks.New(cfg.Etcd, wallclock.Now, bootclock.Now, m.changed)
	limits := pools.New(cfg.Etcd, wallclock.Now, m.changed, m.catalog)
	load := flowetcd.NewLoad(cfg.Etcd, common.MaxLiveNodes, wallclock.Now)
	unplaced := func(job *common.StoredJob) *common.Reason {
		if reason := m.members.Unplaced(job); reason != nil {
			return reason
		}
		return load.Why(job)
	}
	why := func(job *common.StoredJob) *common.Reason { return cmp.Or(limits.Planned(job), unplaced(job)) }
	types, err := typesetcd.NewCatalog(cfg.Etcd, m.members.Workers)
	if err != nil {
		return nil, err
	}
	bodies := flowetcd.NewArchivedBodies(cfg.Etcd, there)
	runs := live.New(live.Config{
		Client:   cfg.Etcd,
		Catalog:  m.catalog,
		Outboxes: m.outboxes,
		Unplaced: unplaced,
		Pooled:   limits.Why,
		Windows:  m.windows.Windows,
		Inline:   inlineOf(bodies),
		Now:      wallclock.Now,
	})
	m.defaults = defaultsetcd.NewTable(cfg.Etcd)
	store := jobmgr.NewStore(jobmgr.Config{Client: cfg.Etcd, Interner: interner, Timezone: cfg.Timezone,
		Now:   wallclock.Now,
		Clock: m.guard.Now, Proven: m.guard.Proven, Lives: m.members.Lives,
		Held: cfg.Origin.WentBack(m.members.Workers), Restored: m.state.Restored,
		Catalog: m.catalog, Runs: runs, Changed: m.changed, Room: m.probe.Room, Limits: jobmgr.Limits(cfg.Limits),
		Secrets: secrets.Faults, Types: types.Faults, Bodies: bodies, Defaults: m.defaults.For})
	inherited := defaultsetcd.New(defaultsetcd.Config{Client: cfg.Etcd, Table: m.defaults, Catalog: m.catalog,
		Jobs: store, Interner: interner, Timezone: cfg.Timezone, Now: wallclock.Now, Changed: m.changed,
		Report: m.loops.Loop("duty_defaults").Done})
	jobs := jobSet{store, m.catalog, runs}
	acks := runlog.NewAcks(unsealed, there)
	view := runlog.NewView(runs, plan.New(m.catalog, why, m.windows.Windows), there)
	following := tail.New(view, tail.Config{})
	m.results = lastfires.New(lastfires.Config{Jobs: m.catalog.UIDs, History: there, Live: runs, Feed: m.feed,
		Log: cfg.Log})
	channels := notifyetcd.New(cfg.Etcd, box, wallclock.Now, m.changed)
	m.webhooks = webhook.New(webhook.Config{Allow: cfg.Notify.Allow, Version: cfg.Version, Now: wallclock.Now})
	senders, err := newSenders(&cfg.Notify, m.webhooks)
	if err != nil {
		return nil, err
	}
	told := history.New(history.Config{
		Catalog: m.catalog,
		Jobs:    store,
		Live:    runs,
		Runs:    view,
		Habits:  runlog.NewHabits(there, wallclock.Now),
		Acks:    acks,
		Bodies:  bodies,
		Overdue: m.findings.Overdue,
	})
	notifier := notify.New(notify.Config{
		Store:     channels,
		Channels:  channels,
		Jobs:      told,
		History:   told,
		Senders:   senders,
		PublicURL: cfg.Notify.PublicURL,
		Now:       wallclock.Now,
		Log:       cfg.Log,
		Metrics:   counted,
		Report:    m.loops.Loop("duty_notifications").Done,
	})
	failing := notify.NewFailingChannels(channels, wallclock.Now, cfg.Log, m.loops.Loop("duty_channels").Done)
	keeper := housekeeping.New(housekeeping.Config{
		Store:       cfg.Store,
		Jobs:        m.catalog,
		Backfills:   jobs,
		Now:         m.now,
		TrustedTime: election.NewMemo[housekeeping.Trusted](m.elector, common.ClockKey),
		Log:         cfg.Log,
		Observer:    counted.Upkeep,
		Audit:       audit.NewExpirer(chain, cfg.Store),
		Locks:       named,
		AuditKept:   cfg.AuditRetention,
	})
	archivist := archive.New(archive.Config{
		Bodies:      bodies,
		Definitions: cfg.Store,
		Jobs:        m.catalog,
		Away:        m.probe.StoreAway,
		Log:         cfg.Log,
		Report:      m.loops.Loop("duty_definitions").Done,
	})
	awaited := waits.New(waits.Config{
		Store:     flowetcd.NewWaits(cfg.Etcd, wallclock.Now),
		Jobs:      told,
		Past:      endsOf(view),
		Feed:      m.feed,
		Schedules: interner,
		Outcomes:  m.sink.Outcomes,
		Now:       wallclock.Now,
		Log:       cfg.Log,
		Report:    m.loops.Loop("duty_waits").Done,
	})
	fires := watchdog.New(watchdog.Config{
		Catalog:  m.catalog,
		State:    jobs,
		Ledger:   view,
		Windows:  m.windows.Windows,
		Why:      why,
		Now:      m.now,
		Alike:    m.members.OfVersion(cfg.Version),
		Away:     m.probe.StoreAway,
		Log:      cfg.Log,
		Observer: counted.Upkeep,
		Report:   m.loops.Loop("duty_audit").Done,
	})
	figures := jobgauges.New(jobgauges.Config{
		Limit:   cfg.MetricsMaxJobs,
		Catalog: m.catalog,
		History: there,
		Overdue: fires.Found,
		Count:   runs.CountReplicas,
		Now:     m.now,
		Away:    m.probe.StoreAway,
		Show:    counted.Gauges.Show,
		Report:  m.loops.Loop("duty_job_metrics").Done,
	})
	m.duties = []election.Duty{
		m.duty("housekeeping", keeper.Run),
		m.duty("definitions", archivist.Run),
		m.duty("waits", awaited.Run),
		m.duty("audit", fires.Run),
		m.duty("defaults", inherited.Run),
		m.duty("job_metrics", figures.Run),
		m.duty("pools", limits.Measure(counted.Pools, m.loops.Loop("duty_pools").Done)),
		m.duty("findings", m.findings.Publish(m.host, m.loops.Loop("duty_findings").Alive, fires.Found,
			failing.Conditions, notifier.Conditions, health.Unless(m.probe.StoreAway, m.sealer.Conditions),
			m.sealer.Unreadable, health.Unless(m.probe.StoreAway, keeper.Conditions), fires.Conditions,
			inherited.Conditions)),
		m.duty("audit_chain", m.sealer.Run),
		m.duty("notifications", notifier.Run),
		m.duty("channels", failing.Run),
	}
	sso, err := newSSO(&cfg.OIDC, cfg.Notify.PublicURL)
	if err != nil {
		return nil, err
	}
	handler, err := httpapi.New(httpapi.Config{
		Jobs: jobs, Ahead: forecast.NewCache(m.catalog), Grouping: m.catalog, References: m.catalog,
		LastFires: m.results, Runs: &runlog.Ledger{View: view, Acks: acks}, Acks: acks, Following: following,
		Nodes: nodes.New(view, flowRuns{runs, flowetcd.NewMarkReader(cfg.Etcd)}, bodies, jobs,
			wallclock.Now),
		Workers: workers, Types: types,
		Masters: m.state, Channels: notices{channels, notifier}, Secrets: secrets, Views: views, Locks: named,
		Windows:  maintenanceetcd.New(cfg.Etcd, wallclock.Now, m.changed),
		Hooks:    hooksetcd.New(cfg.Etcd, box, wallclock.Now, m.changed),
		Pools:    limits,
		Defaults: inherited,
		Auth:     auth, SSO: sso,
		External: auth, Access: auth,
		Counted: there, Samples: there, Changes: changes, Feed: m.feed,
		Audit: record{changes, audit.NewVerifier(chain, there)}, Findings: m.findings,
		Doctor:   m.state,
		Recovery: store, Health: m.state, Stats: m.state,
		Metrics: cfg.Registry.Handler(), Schedules: interner,
		Console: cfg.Console, Guide: cfg.Guide,
		Version: cfg.Version, Timezone: cfg.Timezone, Mail: senders[notify.KindMail] != nil,
		Secure: cfg.HTTP.Secure(), PublicURL: cfg.Notify.PublicURL,
		Logger: cfg.Log, Now: wallclock.Now,
		Answered: counted.Request, Refused: counted.RequestRefused, TrustedProxies: cfg.HTTP.TrustedProxies,
		APIRate: cfg.HTTP.APIRate,
	})
	if err != nil {
		return nil, err
	}
	m.server = httpapi.Server(handler, cfg.Log, m.connections)
	m.server.RegisterOnShutdown(following.Stop)
	m.server.RegisterOnShutdown(m.feed.Stop)
	return m, nil
}
