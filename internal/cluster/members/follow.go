package members

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/scheduler/placement"
)

// gather is how long successive changes are collected into one snapshot.
const gather = 50 * time.Millisecond

// Snapshot is the live workers and masters as of a time. It is immutable.
type Snapshot struct {
	Members    []common.Member // by id
	Masters    []Master        // by id
	Generation uint64          // grows with each snapshot; 0 is the one before the first list
	At         time.Time       // when it was made, wall clock
	Listed     time.Time       // when the last list was received, with the monotonic clock reading

	samples map[string]sample // clocks of workers and masters, by id
}

// Master is a live master. Heard is as in common.Member.
type Master struct {
	common.MasterPresence
	Heard time.Time
}

// Member returns a worker by its id.
func (s *Snapshot) Member(worker string) (common.Member, bool) {
	i, found := slices.BinarySearchFunc(s.Members, worker, func(m common.Member, id string) int {
		return cmp.Compare(m.Worker, id)
	})
	if !found {
		return common.Member{}, false
	}
	return s.Members[i], true
}

// Gone lists the incarnations of an earlier snapshot that are no longer registered; a worker that was
// restarted is among them with its earlier incarnation.
func (s *Snapshot) Gone(earlier *Snapshot) []common.Registration {
	var gone []common.Registration
	for i := range earlier.Members {
		m := &earlier.Members[i]
		if now, found := s.Member(m.Worker); !found || now.Life.Life != m.Life.Life {
			gone = append(gone, m.Registration)
		}
	}
	return gone
}

// OfVersion returns a check for whether all workers have a version.
func (m *Members) OfVersion(version string) func() bool {
	return func() bool {
		return !slices.ContainsFunc(m.Workers(), func(w common.Member) bool { return w.Version != version })
	}
}

// Sealing reports whether all masters are known, and leave the audit chain to the elected one.
func (m *Members) Sealing() bool {
	s := m.Snapshot()
	return s.Generation > 0 && !slices.ContainsFunc(s.Masters, func(m Master) bool { return !m.Seals })
}

// Unplaced returns why no worker is eligible for a job, or why its flow runs must not begin, as far as is known; nil if
// one may claim it.
func (m *Members) Unplaced(job *common.StoredJob) *common.Reason {
	s := m.Snapshot()
	if s.Generation == 0 {
		return nil
	}
	req, err := placement.RequirementsOf(job)
	if err != nil {
		return nil
	}
	all := placement.Candidates(s.Members)
	reason := placement.Why(&req, all)
	switch {
	case reason.Code != common.ReasonStarting:
		return &reason
	case job.Flow != nil:
		return placement.Lacking(job.Flow.Needs, all)
	}
	return nil
}

// Members follows the live workers, the operator's settings, and the live masters. Run owns the tables; its
// three followers send it their updates.
type Members struct {
	client  *clientv3.Client
	wall    func() time.Time
	report  func(watch string, err error)
	current atomic.Pointer[Snapshot]
	ready   chan struct{} // closed after the first complete list

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with each snapshot

	// owned by Run
	workers  map[string]common.Member
	settings map[string]common.WorkerSettings
	masters  map[string]Master
	samples  map[string]sample // clocks of both
	listed   [prefixes]bool
	listedAt time.Time
}

// news is an update of one of the three prefixes, and when it arrived.
type news struct {
	prefix int
	etcdkit.Changes
	wall  time.Time
	heard time.Time
}

const (
	ofWorkers = iota
	ofSettings
	ofMasters
	prefixes
)

// watches returns the names of the watches of Members.
func watches() [prefixes]string { return [prefixes]string{"workers", "settings", "masters"} }

// NewMembers returns a follower of the membership. report is called with the error of each interrupted watch,
// with nil when the watch is complete again, and with the error of each value that cannot be read, which is
// left out.
func NewMembers(client *clientv3.Client, wall func() time.Time, report func(watch string, err error)) *Members {
	m := &Members{client: client, wall: wall, report: report, ready: make(chan struct{}), changed: make(chan struct{}),
		workers: map[string]common.Member{}, settings: map[string]common.WorkerSettings{}, masters: map[string]Master{},
		samples: map[string]sample{}}
	m.current.Store(&Snapshot{})
	return m
}

// Snapshot returns the latest snapshot; never nil, and empty before Ready.
func (m *Members) Snapshot() *Snapshot { return m.current.Load() }

// Ready returns a channel that is closed when the first lists were received.
func (m *Members) Ready() <-chan struct{} { return m.ready }

// Workers returns the live workers of the latest snapshot.
func (m *Members) Workers() []common.Member { return m.Snapshot().Members }

// Lives reports whether a worker process is alive.
func (m *Members) Lives(life common.Life) bool {
	worker, alive := m.Snapshot().Member(life.Worker)
	return alive && worker.Life.Life == life.Life
}

// Changed returns a channel that is closed at the next snapshot. Take it before reading Snapshot, so that no
// change is missed in between.
func (m *Members) Changed() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.changed
}

// Run follows until the context ends.
func (m *Members) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	in := make(chan news)
	var followers sync.WaitGroup
	defer followers.Wait()
	defer cancel()
	names := watches()
	for prefix, key := range [prefixes]string{common.WorkersPrefix, common.WorkerSettingsPrefix, common.MastersPrefix} {
		watch := etcdkit.Watch{Client: m.client, Prefix: key, Report: func(err error) { m.report(names[prefix], err) }}
		followers.Go(func() {
			_ = watch.Follow(ctx, func(ctx context.Context, u etcdkit.Changes) error { // ends only with the context
				select {
				case in <- news{prefix: prefix, Changes: u, wall: m.wall(), heard: time.Now()}:
					return nil
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			})
		})
	}
	var due <-chan time.Time
	var last time.Time
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case n := <-in:
			m.apply(n)
			if due == nil {
				due = time.After(time.Until(last.Add(gather)))
			}
		case <-due:
			due, last = nil, time.Now()
			m.publish()
		}
	}
}

func (m *Members) apply(n news) {
	if n.Whole {
		m.listed[n.prefix], m.listedAt = true, n.heard
	}
	switch n.prefix {
	case ofWorkers:
		table(m, n, common.WorkersPrefix, m.workers,
			func(id string, reg common.Registration, earlier common.Member) (common.Member, error) {
				if reg.Worker != id {
					return common.Member{}, fmt.Errorf("it is the registration of worker %s",
						common.Excerpt(reg.Worker))
				}
				member := common.Member{Registration: reg}
				if n.Whole && earlier.Life == reg.Life && earlier.Clock.Equal(reg.Clock) {
					member.Ahead, member.Heard = earlier.Ahead, earlier.Heard
				} else if !n.Whole {
					member.Ahead, member.Heard = reg.Clock.Sub(n.wall), n.heard
					m.samples[id] = m.samples[id].next(reg.Clock, n.heard)
				}
				return member, nil
			})
	case ofSettings:
		table(m, n, common.WorkerSettingsPrefix, m.settings,
			func(_ string, s, _ common.WorkerSettings) (common.WorkerSettings, error) {
				return s, nil
			})
	case ofMasters:
		table(m, n, common.MastersPrefix, m.masters,
			func(id string, p common.MasterPresence, earlier Master) (Master, error) {
				if p.ID != id {
					return Master{}, fmt.Errorf("it is the presence of master %s", common.Excerpt(p.ID))
				}
				master := Master{MasterPresence: p}
				if n.Whole && earlier.Clock.Equal(p.Clock) {
					master.Heard = earlier.Heard
				} else if !n.Whole {
					master.Heard = n.heard
					m.samples[id] = m.samples[id].next(p.Clock, n.heard)
				}
				return master, nil
			})
	}
}

// table updates one table. A value that cannot be read is reported and left out, together with the value that
// it replaced.
func table[V, T any](m *Members, n news, prefix string, rows map[string]T,
	row func(id string, v V, earlier T) (T, error)) {
	earlier := rows
	if n.Whole {
		earlier = maps.Clone(rows)
		clear(rows)
	}
	for _, kv := range n.Puts {
		id := string(kv.Key[len(prefix):])
		v, err := common.Decode[V](kv.Value)
		var made T
		if err == nil {
			made, err = row(id, v, earlier[id])
		}
		if err != nil {
			delete(rows, id)
			m.unreadable(n.prefix, kv, err)
			continue
		}
		rows[id] = made
	}
	for _, kv := range n.Deletes {
		delete(rows, string(kv.Key[len(prefix):]))
	}
}

func (m *Members) unreadable(prefix int, kv *mvccpb.KeyValue, err error) {
	m.report(watches()[prefix], fmt.Errorf("read %s: %w", common.Excerpt(string(kv.Key)), err))
}

// publish publishes a snapshot of the tables, once all three are complete.
func (m *Members) publish() {
	if m.listed != [prefixes]bool{true, true, true} {
		return
	}
	s := &Snapshot{Members: make([]common.Member, 0, len(m.workers)), Masters: make([]Master, 0, len(m.masters)),
		Generation: m.current.Load().Generation + 1, At: m.wall(), Listed: m.listedAt}
	maps.DeleteFunc(m.samples, func(id string, _ sample) bool {
		_, worker := m.workers[id]
		_, master := m.masters[id]
		return !worker && !master
	})
	s.samples = maps.Clone(m.samples)
	for _, id := range slices.Sorted(maps.Keys(m.workers)) {
		member := m.workers[id]
		member.Settings = m.settings[id]
		s.Members = append(s.Members, member)
	}
	for _, id := range slices.Sorted(maps.Keys(m.masters)) {
		s.Masters = append(s.Masters, m.masters[id])
	}
	m.current.Store(s)
	if s.Generation == 1 {
		close(m.ready)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	close(m.changed)
	m.changed = make(chan struct{})
}
