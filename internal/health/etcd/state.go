package etcd

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/cluster/election"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/jobmgr/catalog"
	"carillon/internal/platform/certs"
)

const (
	// recordsEvery is the interval between scans of the records while no worker leaves.
	recordsEvery = time.Minute
	// noWorkersFor is how long no worker may be alive before that is reported: a worker that starts together with
	// the master needs a moment.
	noWorkersFor = 10 * time.Second
)

// Config configures a State.
type Config struct {
	Client  *clientv3.Client
	Probe   *Probe
	Catalog *catalog.Catalog
	Members *members.Members
	Guard   *members.Guard
	Elector *election.Elector
	Workers interface {
		Workers(ctx context.Context) ([]common.Member, error)
	}
	// Missed returns the newest missed fires that were planned since a time, a bounded number. May be nil.
	Missed func(ctx context.Context, since time.Time) ([]common.Run, error)
	// Unaudited lists the tokens that no entry of the audit made; known is false if that cannot be found out. May be
	// nil.
	Unaudited    func(ctx context.Context) (tokens []string, known bool)
	Certificates *certs.Set
	ID           string // id of this master
	Host         string // host of this master
	Version      string // version of this master
	Now          func() time.Time
	// Changed is called after a deletion, whose audit entry is then to be delivered. May be nil.
	Changed func()
	Log     *slog.Logger
	// Gauge is called with each condition that begins or ends.
	Gauge func(code string, lasts bool)
	// Sources return further conditions of this master.
	Sources []func() []common.Condition
	// Started reports whether this process is ready to be used, if its stores are; nil: always.
	Started func() bool
	// Round is the loop of the checks; Election is stuck while no master is elected.
	Round, Election *health.Loop
}

// State is the state of the cluster as a master sees it. If a source is unavailable, only its part is missing.
type State struct {
	cfg Config
	own *health.Conditions

	mu   sync.Mutex
	seen view // guarded by mu

	// owned by Run
	earlier *members.Snapshot
	looked  time.Time         // time of the last scan of the records
	missing map[string]orphan // by life: owners of records that were not alive at the previous check
}

// view is what the last check found about workers.
type view struct {
	noWorkers  time.Time // time since which no worker is alive, as seen by this master
	lost       []orphan
	unreadable []string // keys of unreadable records
}

// New returns the state, which has not been checked yet.
func New(cfg Config) *State {
	s := &State{cfg: cfg}
	s.own = health.NewConditions(cfg.Host, cfg.Log, cfg.Now, cfg.Gauge,
		append([]func() []common.Condition{s.detected}, cfg.Sources...)...)
	return s
}

// Run checks until the context ends.
func (s *State) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		s.collect(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (s *State) collect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	answers := s.cfg.Probe.check(ctx)
	v, now := s.latest(), s.cfg.Members.Snapshot()
	switch alive := len(now.Members) > 0; {
	case alive || now.Generation == 0:
		v.noWorkers = time.Time{}
	case v.noWorkers.IsZero():
		v.noWorkers = s.cfg.Now()
	}
	wanted := s.earlier == nil || len(now.Gone(s.earlier)) > 0 || len(s.missing) > 0 ||
		time.Since(s.looked) > recordsEvery
	if wanted && answers.Etcd == nil && now.Generation > 0 {
		if owners, unreadable, err := owners(ctx, s.cfg.Client); err == nil {
			v.lost, v.unreadable = s.absent(owners), unreadable
			s.earlier, s.looked = now, time.Now()
		}
	} else if !wanted {
		s.earlier = now // so that a worker that joined since is missed when it dies
	}
	if _, elected := s.cfg.Elector.Leader(); elected || answers.Etcd != nil {
		s.cfg.Election.Alive()
	} else {
		s.cfg.Election.Begin()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = v
	s.cfg.Round.Alive()
}

func (s *State) latest() view {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// Ready returns the readiness checks. Without the log store, edits, pauses and active runs are still served.
func (s *State) Ready(context.Context) []health.Check {
	a := s.cfg.Probe.Latest()
	if a.At.IsZero() {
		return []health.Check{{Name: "etcd", Needed: true, Message: "not checked yet"}}
	}
	if s.cfg.Started != nil && !s.cfg.Started() {
		return []health.Check{{Name: "start", Needed: true, Message: "it is being prepared for its first use"}}
	}
	return []health.Check{health.CheckOf("etcd", true, a.Etcd), health.CheckOf("watch", true, s.cfg.Catalog.Fault()),
		health.CheckOf("log_store", false, a.Store)}
}

// tooOld returns conditions for workers that lack a feature that some jobs need.
func (s *State) tooOld() (all []common.Condition) {
	needs := slices.DeleteFunc(s.cfg.Catalog.Needs(), common.OfSomeWorkers) // some workers have these, of any version
	if len(needs) == 0 {
		return nil
	}
	members := s.cfg.Members.Snapshot().Members
	for i := range members {
		if members[i].Only { // it needs no more than the features of its own jobs
			continue
		}
		if lacking := common.Lacking(needs, members[i].Features); len(lacking) > 0 {
			name, what := cmp.Or(members[i].Name, members[i].Worker), common.Excerpt(strings.Join(lacking, ", "))
			all = append(all, common.Condition{Code: common.ConditionMissesFeature, Data: common.Words{
				"worker":  name,
				"version": members[i].Version,
				"needs":   what,
			},
				Text: fmt.Sprintf("worker %s (%s) lacks features that some jobs need: %s", name, members[i].Version,
					what)})
		}
	}
	return all
}

// detected returns the conditions that this master detects by its checks.
func (s *State) detected() []common.Condition {
	if s.cfg.Probe.Latest().At.IsZero() {
		return nil
	}
	v, all, verdict := s.latest(), s.cfg.Probe.Conditions(), s.cfg.Guard.Judge()
	add := func(code, text string, data common.Words) {
		all = append(all, common.Condition{Code: code, Text: text, Data: data})
	}
	all = append(all, verdict.Conditions(s.cfg.Now())...)
	if !v.noWorkers.IsZero() && s.cfg.Now().Sub(v.noWorkers) >= noWorkersFor {
		all = append(all, common.Condition{
			Code: common.ConditionNoWorkers,
			Text: "no worker is alive: no job runs",
			From: v.noWorkers.UTC(),
		})
	}
	for _, o := range v.lost {
		add(common.ConditionWorkerLost, fmt.Sprintf("worker %s is dead; its unresolved runs: %d",
			cmp.Or(o.Name, o.Worker), o.runs),
			common.Words{"worker": cmp.Or(o.Name, o.Worker), "runs": strconv.Itoa(o.runs)})
	}
	all = append(all, s.tooOld()...)
	bad := slices.Concat(slices.Sorted(maps.Keys(s.cfg.Catalog.Bad())), v.unreadable)
	if len(bad) > 0 {
		add(common.ConditionUnreadable, fmt.Sprintf("%s in etcd, the first is %s",
			common.Count(len(bad), "unreadable entry", "unreadable entries"), common.Excerpt(bad[0])),
			common.Words{"count": strconv.Itoa(len(bad)), "first": common.Excerpt(bad[0])})
	}
	return all
}
