package daemon

import (
	"context"
	"crypto/tls"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"carillon/internal/audit"
	auditetcd "carillon/internal/audit/etcd"
	"carillon/internal/cluster/continuity"
	"carillon/internal/cluster/election"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/events"
	eventsetcd "carillon/internal/events/etcd"
	"carillon/internal/health"
	healthetcd "carillon/internal/health/etcd"
	"carillon/internal/housekeeping"
	"carillon/internal/httpapi"
	"carillon/internal/joblock"
	"carillon/internal/jobmgr"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/jobmgr/forecast"
	"carillon/internal/jobmgr/live"
	"carillon/internal/jobmgr/plan"
	"carillon/internal/notify"
	notifyetcd "carillon/internal/notify/etcd"
	"carillon/internal/notify/history"
	"carillon/internal/notify/webhook"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/config"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/metrics"
	"carillon/internal/platform/wallclock"
	"carillon/internal/runlog"
	"carillon/internal/runlog/jobgauges"
	"carillon/internal/runlog/lastfires"
	"carillon/internal/runlog/tail"
	secretsetcd "carillon/internal/secrets/etcd"
	"carillon/internal/watchdog"
)

// MasterConfig configures a master.
type MasterConfig struct {
	Process
	config.API
	// ID is new for each start, or that of the worker in the same process: both have the same clock, and a key
	// that an earlier start left under the id does not count as a vote.
	ID string
	// Clock watches the wall clock; shared with the worker in the same process.
	Clock *continuity.Clock
	// Origin detects a restore of etcd; shared with the worker in the same process.
	Origin  *continuity.Origin
	Console fs.FS
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
	cfg      MasterConfig
	host     string
	started  time.Time
	metrics  *metrics.Master
	session  *joblock.Session
	presence *members.Presence
	members  *members.Members
	catalog  *catalog.Catalog
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

// NewMaster creates a master. Nothing runs before its parts start.
func NewMaster(cfg MasterConfig) (*Master, error) {
	counted, auth := metrics.NewMaster(cfg.Registry), NewAccess(cfg.Etcd, &cfg.OIDC)
	m := &Master{
		cfg:         cfg,
		host:        hostname(),
		started:     wallclock.Now().UTC(),
		metrics:     counted,
		connections: httpapi.NewConnections(cfg.HTTP.TrustedProxies),
	}
	var err error
	if m.secure, err = cfg.Certificates.Server("api", certs.Files(cfg.HTTP.TLS)); err != nil {
		return nil, err
	}
	m.session = joblock.NewSession(cfg.Etcd, sessionTTL, bootclock.Now, cfg.Log, func() {})
	m.probe = healthetcd.NewProbe(cfg.Etcd, cfg.Store)
	m.loops = health.NewLoops(cfg.Log, cfg.loopLimit, m.probe.EtcdAway, masterLoops()...)
	m.members = members.NewMembers(cfg.Etcd, wallclock.Now, m.loops.Report)
	m.guard = members.NewGuard(m.members, cfg.ID, wallclock.Now, nil, cfg.Clock.Judge)
	m.presence = members.NewPresence(cfg.Etcd, m.session, cfg.Log, registerEvery, m.loops.Loop("presence").Done,
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
		Source: eventsetcd.New(cfg.Etcd),
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
	m.state = healthetcd.New(healthetcd.Config{
		Client:       cfg.Etcd,
		Probe:        m.probe,
		Catalog:      m.catalog,
		Members:      m.members,
		Guard:        m.guard,
		Elector:      m.elector,
		Workers:      workers,
		Certificates: cfg.Certificates,
		ID:           cfg.ID,
		Host:         m.host,
		Version:      cfg.Version,
		Now:          wallclock.Now,
		Log:          cfg.Log,
		Gauge:        counted.Condition,
		Sources: []func() []common.Condition{m.loops.Conditions, cfg.Origin.Conditions, m.findings.Conditions,
			cfg.Certificates.Conditions},
		Round:    m.loops.Loop("lookout"),
		Election: m.loops.Loop("election"),
	})
	box, err := SecretBox(cfg.Notify.SecretsKey)
	if err != nil {
		return nil, fmt.Errorf("secretsKey: %w", err)
	}
	secrets := secretsetcd.New(cfg.Etcd, box, wallclock.Now, m.changed)
	runs := live.New(live.Config{
		Client:   cfg.Etcd,
		Catalog:  m.catalog,
		Outboxes: m.outboxes,
		Unplaced: m.members.Unplaced,
		Now:      wallclock.Now,
	})
	store := jobmgr.NewStore(jobmgr.Config{Client: cfg.Etcd, Interner: interner, Timezone: cfg.Timezone,
		Now:   wallclock.Now,
		Clock: m.guard.Now, Proven: m.guard.Proven, Lives: m.members.Lives,
		Held: cfg.Origin.WentBack(m.members.Workers), Restored: m.state.Restored,
		Catalog: m.catalog, Runs: runs, Changed: m.changed, Room: m.probe.Room, Limits: jobmgr.Limits(cfg.Limits),
		Secrets: secrets.Faults})
	jobs := jobSet{store, m.catalog, runs}
	there := &runlog.Available{
		Reader:     cfg.Store,
		Statistics: cfg.Store,
		Chained:    cfg.Store,
		Away:       m.probe.StoreAway,
	}
	unsealed := auditetcd.NewUnsealed(cfg.Etcd, wallclock.Now)
	changes, acks := runlog.NewChanges(unsealed, there), runlog.NewAcks(unsealed, there)
	view := runlog.NewView(runs, plan.New(m.catalog, m.members.Unplaced), there)
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
		Now:         m.now,
		TrustedTime: election.NewMemo[housekeeping.Trusted](m.elector, common.ClockKey),
		Log:         cfg.Log,
		Observer:    counted.Upkeep,
		Audit:       audit.NewExpirer(chain, cfg.Store),
		AuditKept:   cfg.AuditRetention,
	})
	fires := watchdog.New(watchdog.Config{
		Catalog:  m.catalog,
		State:    jobs,
		Ledger:   view,
		Why:      m.members.Unplaced,
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
		Now:     m.now,
		Away:    m.probe.StoreAway,
		Show:    counted.Gauges.Show,
		Report:  m.loops.Loop("duty_job_metrics").Done,
	})
	m.duties = []election.Duty{
		m.duty("housekeeping", keeper.Run),
		m.duty("audit", fires.Run),
		m.duty("job_metrics", figures.Run),
		m.duty("findings", m.findings.Publish(m.host, m.loops.Loop("duty_findings").Alive, fires.Found,
			failing.Conditions, notifier.Conditions, health.Unless(m.probe.StoreAway, m.sealer.Conditions),
			m.sealer.Unreadable, health.Unless(m.probe.StoreAway, keeper.Conditions), fires.Conditions)),
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
		Workers: workers,
		Masters: m.state, Channels: notices{channels, notifier}, Secrets: secrets, Auth: auth, SSO: sso, External: auth,
		Access:  auth,
		Counted: there, Changes: changes, Feed: m.feed,
		Audit: record{changes, audit.NewVerifier(chain, there)}, Findings: m.findings,
		Doctor:   m.state,
		Recovery: store, Health: m.state, Stats: m.state,
		Metrics: cfg.Registry.Handler(), Schedules: interner,
		Console: cfg.Console,
		Version: cfg.Version, Timezone: cfg.Timezone, Secure: cfg.HTTP.Secure(), PublicURL: cfg.Notify.PublicURL,
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

// Parts returns the master's parts in start order. The caller owns the stores.
func (m *Master) Parts() []lifecycle.Part {
	return []lifecycle.Part{
		{Name: "certificates", Serve: m.cfg.Certificates.Run},
		{Name: "master session", Serve: m.session.Run, Stop: m.session.Revoke},
		{Name: "origin", Serve: m.cfg.Origin.Keep(m.cfg.Etcd)},
		{Name: "presence", Serve: m.loops.Serving(m.presence.Run, "presence")},
		{
			Name:  "membership",
			Serve: m.loops.Serving(m.members.Run, "watch_workers", "watch_settings", "watch_masters"),
		},
		{Name: "catalog", Serve: m.loops.Serving(m.catalog.Run, "watch_jobs")},
		{Name: "outboxes", Serve: m.loops.Serving(m.outboxes.Run, "watch_outboxes")},
		{
			Name: "outcomes",
			Serve: m.loops.Serving(func(ctx context.Context) error { return m.sink.Run(ctx, sinkDrain) },
				"delivery"),
			StopTimeout: sinkDrain + time.Second,
		},
		{Name: "catalog gauges", Serve: everySecond(m.gauges)},
		{Name: "lookout", Serve: m.loops.Serving(m.state.Run, "lookout")},
		{Name: "conditions", Serve: m.state.Own().Watch},
		{Name: "webhooks", Stop: func(context.Context) error { m.webhooks.Close(); return nil }},
		{Name: "findings", Serve: m.loops.Serving(m.findings.Run, "watch_findings")},
		{Name: "events", Serve: m.feed.Run},
		{Name: "last fires", Serve: m.results.Run},
		{Name: "elected", Serve: m.loops.Serving(func(ctx context.Context) error {
			return m.elector.Run(ctx, func(ctx context.Context) { election.Perform(ctx, m.cfg.Log, m.duties) })
		}, "watch_election")},
		serverPart("api", m.listen, m.server),
	}
}

// present returns the state that this master shows to the others.
func (m *Master) present() common.MasterPresence {
	return common.MasterPresence{
		ID:         m.cfg.ID,
		Host:       m.host,
		Version:    m.cfg.Version,
		StartedAt:  m.started,
		Seals:      true,
		Conditions: m.loops.Conditions(),
		Address:    m.Address(),
		Clock:      wallclock.Now().UTC(),
		Skew:       m.guard.Judge().Skew,
	}
}

// changed delivers the outcomes and the audit entry of a change.
func (m *Master) changed() { m.sink.Outcomes(); m.sealer.Wake() }

func (m *Master) gauges() {
	m.metrics.Jobs(m.catalog.Len())
	m.metrics.WatchLag(m.catalog.Lag())
}

// now returns the time for deletions and searches, or why it is unknown: the clock is wrong, or not all jobs are known.
func (m *Master) now() (time.Time, error) {
	if err := m.catalog.Fault(); err != nil {
		return time.Time{}, err
	}
	return m.guard.Now()
}

// duty creates a duty with a loop of its name.
func (m *Master) duty(name string, run func(ctx context.Context) error) election.Duty {
	return election.Duty{Name: name, Run: run, Loop: m.loops.Loop("duty_" + name)}
}

// Address returns the address of the API while it listens.
func (m *Master) Address() string {
	if a, ok := m.address.Load().(net.Addr); ok {
		return a.String()
	}
	return m.cfg.HTTP.Listen
}

func (m *Master) listen() (net.Listener, error) {
	listener, err := net.Listen("tcp", m.cfg.HTTP.Listen)
	if err != nil {
		return nil, err
	}
	m.address.Store(listener.Addr())
	listener = m.connections.Listen(listener)
	if m.secure != nil {
		return tls.NewListener(listener, m.secure), nil
	}
	return listener, nil
}
