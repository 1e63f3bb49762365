package daemon

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	auditetcd "carillon/internal/audit/etcd"
	"carillon/internal/cluster/election"
	"carillon/internal/cluster/members"
	"carillon/internal/common"
	"carillon/internal/httpapi/system"
	"carillon/internal/jobmgr/catalog"
)

const (
	lookEvery = 3 * time.Second
	lookLimit = 2 * time.Second
	// pingLimit is the time limit for a response of the log store. A response that takes longer than one round
	// of checks is slow, not missing.
	pingLimit = 5 * time.Second
	// recordsEvery is the interval between scans of the records while no worker leaves.
	recordsEvery = time.Minute
	// noWorkersFor is how long no worker may be alive before that is reported: a worker that starts together with
	// the master needs a moment.
	noWorkersFor = 10 * time.Second
)

// monitor checks the master's dependencies and missing workers every few seconds, so that requests never wait
// for an unavailable dependency.
type monitor struct {
	etcd    *clientv3.Client
	store   Pinger
	catalog *catalog.Catalog
	members *members.Members
	guard   *members.Guard
	backlog auditetcd.Backlog
	elector *election.Elector
	loops   *masterLoops

	mu   sync.Mutex
	seen observation // guarded by mu

	// owned by Run
	earlier *members.Snapshot
	looked  time.Time         // time of the last scan of the records
	missing map[string]orphan // by life: owners of records that were not alive at the previous check
	pinged  chan error        // result of the pending ping of the log store; nil: none is pending
	asked   time.Time         // start of that ping
}

// observation is the result of a check.
type observation struct {
	at         time.Time // zero before the first check
	etcd       error
	store      error
	full       bool
	used       int64     // percent of etcd's quota that is used; 0 if it reports no quota
	noWorkers  time.Time // time since which no worker is alive, as seen by this master
	lost       []orphan
	unreadable []string // keys of unreadable records
}

// orphan is a dead worker process, with the number of records that name it as the owner.
type orphan struct {
	common.Life
	runs int
}

// Run checks until the context ends.
func (l *monitor) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		l.collect(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (l *monitor) collect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	s := observation{noWorkers: l.latest().noWorkers}
	var asked sync.WaitGroup
	asked.Go(func() { s.store = l.ping(ctx) })
	asked.Go(func() {
		if _, s.etcd = l.etcd.Get(ctx, common.JobsPrefix, clientv3.WithKeysOnly()); s.etcd == nil {
			s.full, s.used = spaceOf(ctx, l.etcd)
			s.etcd = l.backlog.Measure(ctx, l.etcd)
		}
	})
	asked.Wait()
	now := l.members.Snapshot()
	switch alive := len(now.Members) > 0; {
	case alive || now.Generation == 0:
		s.noWorkers = time.Time{}
	case s.noWorkers.IsZero():
		s.noWorkers = WallClock()
	}
	before := l.latest()
	s.lost, s.unreadable = before.lost, before.unreadable
	wanted := l.earlier == nil || len(now.Gone(l.earlier)) > 0 || len(l.missing) > 0 ||
		time.Since(l.looked) > recordsEvery
	if wanted && s.etcd == nil && now.Generation > 0 {
		if owners, unreadable, err := owners(ctx, l.etcd); err == nil {
			s.lost, s.unreadable = l.absent(owners), unreadable
			l.earlier, l.looked = now, time.Now()
		}
	} else if !wanted {
		l.earlier = now // so that a worker that joined since is missed when it dies
	}
	if _, elected := l.elector.Leader(); elected || s.etcd != nil {
		l.loops.election.Alive()
	} else {
		l.loops.election.Begin()
	}
	s.at = time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = s
	l.loops.lookout.Alive()
}

// ping returns the availability of the log store. While a ping is pending for less than one round, the previous
// result holds.
func (l *monitor) ping(ctx context.Context) error {
	if l.pinged == nil {
		l.pinged, l.asked = make(chan error, 1), time.Now()
		go func(answer chan<- error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pingLimit)
			defer cancel()
			answer <- l.store.Ping(ctx)
		}(l.pinged)
	}
	select {
	case err := <-l.pinged:
		l.pinged = nil
		return err
	case <-ctx.Done():
		if time.Since(l.asked) > pingLimit {
			return fmt.Errorf("no response for %v", pingLimit)
		}
		return l.latest().store
	}
}

// absent returns the owners that are not alive and were not at the previous check: a worker that has just
// started may become visible here a moment later.
func (l *monitor) absent(owners map[string]orphan) (lost []orphan) {
	snapshot := l.members.Snapshot()
	missing := map[string]orphan{}
	for life, o := range owners {
		if m, alive := snapshot.Member(o.Worker); alive && m.Life.Life == life {
			continue
		}
		missing[life] = o
		if _, was := l.missing[life]; was {
			lost = append(lost, o)
		}
	}
	l.missing = missing
	slices.SortFunc(lost, func(a, b orphan) int { return cmp.Compare(a.Worker+a.Life.Life, b.Worker+b.Life.Life) })
	return lost
}

// pageOfRecords is the number of records per read.
const pageOfRecords = 1000

// owners reads the records and returns their owners and the keys of unreadable ones.
func owners(ctx context.Context, client *clientv3.Client) (found map[string]orphan, unreadable []string, err error) {
	found = map[string]orphan{}
	from, end := common.RunsPrefix, clientv3.GetPrefixRangeEnd(common.RunsPrefix)
	for {
		resp, err := client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(pageOfRecords),
			clientv3.WithSerializable())
		if err != nil {
			return nil, nil, err
		}
		for _, kv := range resp.Kvs {
			record, err := common.Decode[common.Record](kv.Value)
			if err != nil || common.RecordKey(record.Job, record.Run) != string(kv.Key) {
				unreadable = append(unreadable, string(kv.Key))
				continue
			}
			o := found[record.Owner.Life]
			found[record.Owner.Life] = orphan{Life: record.Owner, runs: o.runs + 1}
		}
		if !resp.More {
			return found, unreadable, nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// tooOld returns conditions for workers that lack a feature that some jobs need.
func (l *monitor) tooOld() (all []common.Condition) {
	needs := l.catalog.Needs()
	if len(needs) == 0 {
		return nil
	}
	members := l.members.Snapshot().Members
	for i := range members {
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

// spaceOf reports whether etcd has raised its alarm NOSPACE, with which it refuses writes, and how many percent
// of its quota are used. Free pages do not count: they are reused before the file grows.
func spaceOf(ctx context.Context, client *clientv3.Client) (full bool, used int64) {
	endpoints := client.Endpoints()
	if len(endpoints) == 0 {
		endpoints = []string{""} // etcd in this process
	}
	for _, endpoint := range endpoints {
		if status, err := client.Status(ctx, endpoint); err == nil {
			if status.DbSizeQuota > 0 {
				used = status.DbSizeInUse * 100 / status.DbSizeQuota
			}
			return slices.ContainsFunc(status.Errors,
				func(e string) bool { return strings.Contains(e, "NOSPACE") }), used
		}
	}
	return false, 0
}

// savesUpTo is the percentage of etcd's quota above which jobs cannot be saved: the rest is reserved for
// claims, outcomes, and operations that free space.
const savesUpTo = 80

// room refuses to save jobs while etcd is nearly full, or too many audit entries are waiting in it.
func (l *monitor) room() error {
	if used := l.latest().used; used >= savesUpTo {
		return &common.Error{Code: common.CodeUnavailable, Reason: "etcd_nearly_full", Data: common.WordsOf("percent",
			used), RetryAfter: time.Minute,
			Message: fmt.Sprintf("etcd uses %d %% of its quota: jobs cannot be saved above %d %%", used, savesUpTo),
			Hint:    "delete unneeded jobs, or increase etcd's --quota-backend-bytes; runs continue"}
	}
	return l.backlog.Room()
}

func (l *monitor) latest() observation {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen
}

// StoreAway reports whether the log store did not respond to the last ping.
func (l *monitor) StoreAway() bool { return l.latest().store != nil }

// Ready returns the readiness checks. Without the log store, edits, pauses and active runs are still served.
func (l *monitor) Ready(context.Context) []system.Check {
	s := l.latest()
	if s.at.IsZero() {
		return []system.Check{{Name: "etcd", Needed: true, Message: "not checked yet"}}
	}
	return []system.Check{checkOf("etcd", true,
		s.etcd), checkOf("watch", true, l.catalog.Fault()), checkOf("log_store", false, s.store)}
}

// Conditions returns the conditions that this master detects by itself.
func (l *monitor) Conditions() []common.Condition {
	s := l.latest()
	if s.at.IsZero() {
		return nil
	}
	var all []common.Condition
	add := func(code, text string, data common.Words) {
		all = append(all, common.Condition{Code: code, Text: text, Data: data})
	}
	if s.etcd != nil {
		add(common.ConditionEtcdAway, "etcd does not respond", nil)
	}
	if s.full {
		add(common.ConditionEtcdFull,
			"etcd is full: it refuses writes until space is free and the alarm NOSPACE is disarmed", nil)
	}
	if s.store != nil {
		add(common.ConditionLogStoreAway, "the log store does not respond", nil)
	}
	all = append(all, l.backlog.Conditions()...)
	all = append(all, clockConditions(l.guard.Judge())...)
	if !s.noWorkers.IsZero() && WallClock().Sub(s.noWorkers) >= noWorkersFor {
		all = append(all, common.Condition{
			Code: common.ConditionNoWorkers,
			Text: "no worker is alive: no job runs",
			From: s.noWorkers.UTC(),
		})
	}
	for _, o := range s.lost {
		add(common.ConditionWorkerLost, fmt.Sprintf("worker %s is dead; its unresolved runs: %d",
			cmp.Or(o.Name, o.Worker), o.runs),
			common.Words{"worker": cmp.Or(o.Name, o.Worker), "runs": strconv.Itoa(o.runs)})
	}
	all = append(all, l.tooOld()...)
	bad := slices.Concat(slices.Sorted(maps.Keys(l.catalog.Bad())), s.unreadable)
	if len(bad) > 0 {
		add(common.ConditionUnreadable, fmt.Sprintf("%s in etcd, the first is %s",
			common.Count(len(bad), "unreadable entry", "unreadable entries"), common.Excerpt(bad[0])),
			common.Words{"count": strconv.Itoa(len(bad)), "first": common.Excerpt(bad[0])})
	}
	return all
}
