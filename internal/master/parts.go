package master

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"carillon/internal/cluster/election"
	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
	"carillon/internal/etcdkit"
	"carillon/internal/httpapi"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/platform/wallclock"
	"carillon/internal/worker"
)

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
		{Name: "windows", Serve: m.loops.Serving(func(ctx context.Context) error {
			return m.windows.Follow(ctx, m.loops.ReportOf("windows"))
		}, "watch_windows")},
		{Name: "defaults", Serve: m.loops.Serving(func(ctx context.Context) error {
			return m.defaults.Follow(ctx, m.loops.ReportOf("defaults"))
		}, "watch_defaults")},
		{Name: "outboxes", Serve: m.loops.Serving(m.outboxes.Run, "watch_outboxes")},
		{
			Name: "outcomes",
			Serve: m.loops.Serving(func(ctx context.Context) error { return m.sink.Run(ctx, worker.SinkDrain) },
				"delivery"),
			StopTimeout: worker.SinkDrain + time.Second,
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
		httpapi.ServerPart("api", m.listen, m.server),
	}
}

// present returns the state that this master shows to the others.
func (m *Master) present() common.MasterPresence {
	return common.MasterPresence{
		ID:         m.cfg.ID,
		Host:       m.host,
		Version:    m.cfg.Version,
		ZoneData:   zoneinfo.Version(),
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

// everySecond makes a part that calls a function every second.
func everySecond(do func()) func(context.Context) error {
	return func(ctx context.Context) error {
		for etcdkit.Sleep(ctx, time.Second) {
			do()
		}
		return nil
	}
}
