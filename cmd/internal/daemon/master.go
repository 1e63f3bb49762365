package daemon

import (
	"context"
	"crypto/tls"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync/atomic"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/audit"
	auditetcd "carillon/internal/audit/etcd"
	"carillon/internal/cluster/election"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/events"
	eventsetcd "carillon/internal/events/etcd"
	"carillon/internal/health"
	"carillon/internal/httpapi"
	"carillon/internal/joblock"
	"carillon/internal/jobmgr"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/jobmgr/forecast"
	"carillon/internal/jobmgr/live"
	"carillon/internal/jobmgr/plan"
	"carillon/internal/platform/bootclock"
	"carillon/internal/platform/certs"
	"carillon/internal/platform/config"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/metrics"
	"carillon/internal/runlog"
	"carillon/internal/runlog/tail"
	secretsetcd "carillon/internal/secrets/etcd"
)

// LogStore is the complete interface of a log store.
type LogStore interface {
	runlog.Writer
	runlog.Reader
	runlog.Statistics
	runlog.Upkeep
	runlog.Chained
	Pinger
}

// MasterConfig configures a master.
type MasterConfig struct {
	config.API
	// ID is new for each start, or that of the worker in the same process: both have the same clock, and a key
	// that an earlier start left under the id does not count as a vote.
	ID string
	// Clock watches the wall clock; shared with the worker in the same process.
	Clock *Clock
	// Origin detects a restore of etcd; shared with the worker in the same process.
	Origin   *Origin
	Etcd     *clientv3.Client
	Store    LogStore
	Console  fs.FS
	Version  string
	Log      *slog.Logger
	Registry *metrics.Registry
	// Certificates are those that the master presents; that of the API is added to them.
	Certificates *certs.Set

	loopLimit time.Duration // as in WorkerConfig
}

// jobSet provides the jobs to the API: their changes, their lists, and their runs.
type jobSet struct {
	*jobmgr.Store
	*catalog.Catalog
	*live.Runs
}

// Master is a master's wiring.
type Master struct {
	cfg      MasterConfig
	metrics  *metrics.Master
	session  *joblock.Session
	presence *members.Presence
	members  *members.Members
	catalog  *catalog.Catalog
	outboxes *live.Outboxes
	sink     *runlog.Sink
	elector  *election.Elector
	duties   []duty // duties of the elected master
	findings findings
	feed     *events.Hub
	notices  *notices
	state    state
	server   *http.Server
	secure   *tls.Config // nil: the API is served without TLS
	// connections limits the connections of the server.
	connections *httpapi.Connections
	fresh       freshness
	loops       *masterLoops
	address     atomic.Value // net.Addr
}

// NewMaster creates a master. Nothing runs before its parts start.
func NewMaster(cfg MasterConfig) (*Master, error) {
	counted, auth := metrics.NewMaster(cfg.Registry), NewAccess(cfg.Etcd, &cfg.OIDC)
	m := &Master{cfg: cfg, metrics: counted, connections: httpapi.NewConnections(cfg.HTTP.TrustedProxies)}
	if files := cfg.HTTP.TLS; files != (config.ServerTLS{}) {
		keeper, err := cfg.Certificates.Open("api", certs.Files(files))
		if err != nil {
			return nil, err
		}
		m.secure = keeper.Server()
	}
	m.session = joblock.NewSession(cfg.Etcd, sessionTTL, bootclock.Now, cfg.Log, func() {})
	m.loops = newMasterLoops(cfg.Log, cfg.loopLimit, m.etcdAway)
	m.members = members.NewMembers(cfg.Etcd, WallClock, m.loops.report)
	presence := common.MasterPresence{
		ID:        cfg.ID,
		Host:      hostname(),
		Version:   cfg.Version,
		StartedAt: WallClock().UTC(),
		Seals:     true,
	}
	guard := members.NewGuard(m.members, presence.ID, WallClock, nil, cfg.Clock.judge)
	m.presence = members.NewPresence(cfg.Etcd, m.session, cfg.Log, registerEvery, m.loops.presence.Done,
		func() common.MasterPresence {
			now := presence
			now.Conditions = m.loops.Conditions()
			now.Address, now.Clock, now.Skew = m.Address(), WallClock().UTC(), guard.Judge().Skew
			return now
		})
	m.elector = election.New(election.Config{
		Client:  cfg.Etcd,
		Session: m.session,
		Boot:    bootclock.Now,
		Key:     common.LeaderKey,
		ID:      presence.ID,
		Name:    presence.Host,
		Now:     WallClock,
		Log:     cfg.Log,
		Told:    counted.Elected,
		Report:  m.loops.report,
	})
	m.findings = findings{election.NewBulletin[common.Findings](m.elector, common.FindingsKey)}
	watcher := catalog.NewWatcher(cfg.Etcd, m.loops.of(watchJobs),
		func() { m.fresh.mark(); m.loops.report(watchJobs, nil) })
	interner := schedule.NewInterner()
	m.catalog = catalog.New(watcher, interner, WallClock)
	m.outboxes = live.NewOutboxes(cfg.Etcd, m.loops.of(watchOutboxes))
	m.sink = runlog.NewSink(runlog.SinkConfig{Report: m.loops.delivery.Done}, live.NewMasterOutbox(cfg.Etcd),
		cfg.Store, cfg.Log, delivery{counted})
	m.feed = events.NewHub(events.Config{
		Source: eventsetcd.New(cfg.Etcd),
		Log:    cfg.Log,
		Health: m.loops.loops[watchEvents],
	})
	sealer := m.newSealer()
	changed := func() { m.sink.Outcomes(); sealer.Wake() }
	watched := &monitor{
		etcd:    cfg.Etcd,
		store:   cfg.Store,
		fresh:   &m.fresh,
		catalog: m.catalog,
		members: m.members,
		guard:   guard,
		elector: m.elector,
		loops:   m.loops,
	}
	m.state = state{monitor: watched, id: presence.ID, etcd: cfg.Etcd, catalog: m.catalog, members: m.members,
		own: health.NewConditions(presence.Host, cfg.Log, WallClock, counted.Condition, watched.Conditions,
			m.loops.Conditions, cfg.Origin.Conditions, m.findings.Conditions, cfg.Certificates.Conditions),
		elector: m.elector}
	staff := workers{settings: members.NewSettings(cfg.Etcd, WallClock, changed), members: m.members}
	box, err := SecretBox(cfg.Notify.SecretsKey)
	if err != nil {
		return nil, fmt.Errorf("secretsKey: %w", err)
	}
	secrets := secretsetcd.New(cfg.Etcd, box, WallClock, changed)
	runs := live.New(live.Config{Client: cfg.Etcd, Catalog: m.catalog, Outboxes: m.outboxes, Unplaced: staff.unplaced,
		Now: WallClock})
	store := jobmgr.NewStore(jobmgr.Config{Client: cfg.Etcd, Interner: interner, Timezone: cfg.Timezone, Now: WallClock,
		Clock: guard.Now, Proven: guard.Proven, Lives: m.lives, Held: m.wentBack,
		Catalog: m.catalog, Runs: runs, Changed: changed, Room: watched.room, Limits: jobmgr.Limits(cfg.Limits),
		Secrets: secrets.Faults})
	jobs := jobSet{store, m.catalog, runs}
	there := present{cfg.Store, cfg.Store, cfg.Store, watched.StoreAway}
	changes := runlog.NewChanges(auditetcd.NewUnsealed(cfg.Etcd, WallClock), there)
	history := runlog.NewView(runs, plan.New(m.catalog, staff.unplaced), there)
	following := tail.New(history, tail.Config{})
	if m.notices, err = newNotices(&cfg, counted, changed, told{jobs: jobs, catalog: m.catalog, history: history,
		habits: runlog.NewHabits(there, WallClock), overdue: m.findings.Overdue,
		report: m.loops.duties[dutyNotifications].Done}); err != nil {
		return nil, err
	}
	m.duties = append(m.upkeep(jobs, history, there, staff, guard, m.notices.Conditions,
		m.notices.notifier.Conditions, unless(watched.StoreAway, sealer.Conditions), sealer.Unreadable),
		m.duty(dutyAuditChain, sealer.Run),
		m.duty(dutyNotifications, m.notices.notifier.Run),
		m.duty(dutyChannels, func(ctx context.Context) error {
			return m.notices.watch(ctx, cfg.Log, m.loops.duties[dutyChannels].Done)
		}))
	sso, err := newSSO(&cfg.OIDC, cfg.Notify.PublicURL)
	if err != nil {
		return nil, err
	}
	handler, err := httpapi.New(httpapi.Config{
		Jobs: jobs, Ahead: forecast.NewCache(m.catalog), Grouping: m.catalog, Runs: history, Following: following,
		Workers: staff,
		Masters: m.state, Channels: m.notices, Secrets: secrets, Auth: auth, SSO: sso, External: auth,
		Access:  auth,
		Counted: there, Changes: changes, Feed: m.feed, Audit: record{changes, audit.NewVerifier(m.chain(),
			there)}, Findings: m.findings,
		Doctor: &doctor{
			state:        m.state,
			workers:      staff,
			host:         presence.Host,
			version:      cfg.Version,
			certificates: cfg.Certificates,
		},
		Recovery: recovery{store, m.state}, Health: m.state, Stats: m.state,
		Metrics: cfg.Registry.Handler(), Schedules: interner,
		Console: cfg.Console,
		Version: cfg.Version, Timezone: cfg.Timezone, Secure: cfg.HTTP.Secure(), PublicURL: cfg.Notify.PublicURL,
		Logger: cfg.Log, Now: WallClock,
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
		{Name: "master session", Serve: ignoreEnd(m.session.Run), Stop: m.session.Revoke},
		{Name: "origin", Serve: m.cfg.Origin.keep(m.cfg.Etcd)},
		{Name: "presence", Serve: serving(m.presence.Run, m.loops.presence)},
		{Name: "membership", Serve: serving(ignoreEnd(m.members.Run), m.loops.membership...)},
		{Name: "catalog", Serve: serving(ignoreEnd(m.catalog.Run), m.loops.loops[watchJobs])},
		{Name: "outboxes", Serve: serving(ignoreEnd(m.outboxes.Run), m.loops.loops[watchOutboxes])},
		{
			Name: "outcomes",
			Serve: serving(func(ctx context.Context) error { return m.sink.Run(ctx, sinkDrain) },
				m.loops.delivery),
			StopTimeout: sinkDrain + time.Second,
		},
		{Name: "catalog gauges", Serve: func(ctx context.Context) error { m.fresh.report(ctx, m.gauges); return nil }},
		{Name: "lookout", Serve: serving(m.state.Run, m.loops.lookout)},
		{Name: "conditions", Serve: m.state.own.Watch},
		{Name: "webhooks", Stop: func(context.Context) error { m.notices.webhooks.Close(); return nil }},
		{Name: "findings", Serve: serving(ignoreEnd(m.findings.Run), m.loops.loops[election.WatchFindings])},
		{Name: "events", Serve: m.feed.Run},
		{Name: "elected", Serve: serving(ignoreEnd(func(ctx context.Context) error {
			return m.elector.Run(ctx, func(ctx context.Context) { perform(ctx, m.cfg.Log, m.duties) })
		}), m.loops.loops[election.WatchElection])},
		serverPart("api", m.listen, m.server),
	}
}

// etcdAway reports whether etcd did not respond at the last check.
func (m *Master) etcdAway() bool { return m.state.monitor != nil && m.state.latest().etcd != nil }

func (m *Master) gauges(lag time.Duration) {
	m.metrics.Jobs(m.catalog.Len())
	m.metrics.WatchLag(lag)
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

// hostname returns the name of this machine for display, or "unknown".
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}

// delivery counts the writes of the sink of outcomes.
type delivery struct{ m *metrics.Master }

func (d delivery) SinkWrite(n int, _ time.Duration, failed bool) {
	if failed {
		d.m.LogStoreError()
		return
	}
	d.m.OutcomesDelivered(n)
}
func (delivery) QueueDepth(string, int) {}
func (delivery) OutputDropped(int)      {}

// wentBack returns why no cursor may be moved: this master or a worker has noticed that etcd was restored from
// a backup.
func (m *Master) wentBack() error {
	if err := m.cfg.Origin.wentBack(); err != nil {
		return err
	}
	return noticed(m.members.Snapshot().Members)
}

// lives reports whether a worker process is alive.
func (m *Master) lives(life common.Life) bool {
	member, alive := m.members.Snapshot().Member(life.Worker)
	return alive && member.Life.Life == life.Life
}
