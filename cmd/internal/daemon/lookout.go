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

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/jobmgr"
	"carillon/internal/leader"
	"carillon/internal/registry"
)

const (
	lookEvery = 3 * time.Second
	lookLimit = 2 * time.Second
	// pingLimit is how long the log store may take for an answer. One that takes longer than a look is slow, and not
	// away.
	pingLimit = 5 * time.Second
	// recordsEvery is how often the records are looked through where nobody went.
	recordsEvery = time.Minute
	// nobodyFor is how long no worker may be alive before that is said: one that starts
	// beside the master takes a moment.
	nobodyFor = 10 * time.Second
)

// lookout looks every few seconds at what a master depends on, and at who is missing, so
// that nobody who asks waits for what is away.
type lookout struct {
	etcd    *clientv3.Client
	store   Pinger
	fresh   *freshness
	catalog *jobmgr.Catalog
	members *registry.Members
	guard   *registry.Guard
	backlog jobmgr.Backlog
	elector *leader.Elector
	loops   *masterLoops

	mu   sync.Mutex
	seen sight // guarded by mu

	// owned by Run
	earlier *registry.Snapshot
	looked  time.Time         // when the records were looked through
	missing map[string]orphan // by life: owners of records who were not alive at the look before
	pinged  chan error        // the answer to the question that the log store has not answered yet; nil: none
	asked   time.Time         // when that question was asked
}

// sight is what a look has shown.
type sight struct {
	at         time.Time // zero before the first look
	etcd       error
	store      error
	full       bool
	used       int64     // percent of etcd's quota that its data takes; 0 where it tells no quota
	nobody     time.Time // since when no worker is alive, as far as known here
	lost       []orphan
	unreadable []string // keys of records
}

// orphan is a life that is gone, and how many records name it as the owner.
type orphan struct {
	common.Life
	runs int
}

// Run looks until the context ends.
func (l *lookout) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		l.look(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (l *lookout) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, lookLimit)
	defer cancel()
	s := sight{nobody: l.sight().nobody}
	var asked sync.WaitGroup
	asked.Go(func() { s.store = l.ping(ctx) })
	asked.Go(func() {
		if _, s.etcd = l.etcd.Get(ctx, common.JobsPrefix, clientv3.WithKeysOnly()); s.etcd == nil {
			s.full, s.used = spaceOf(ctx, l.etcd)
			s.etcd = l.backlog.Look(ctx, l.etcd)
		}
	})
	asked.Wait()
	now := l.members.Snapshot()
	switch alive := len(now.Members) > 0; {
	case alive || now.Generation == 0:
		s.nobody = time.Time{}
	case s.nobody.IsZero():
		s.nobody = WallClock()
	}
	before := l.sight()
	s.lost, s.unreadable = before.lost, before.unreadable
	wanted := l.earlier == nil || len(now.Gone(l.earlier)) > 0 || len(l.missing) > 0 || time.Since(l.looked) > recordsEvery
	if wanted && s.etcd == nil && now.Generation > 0 {
		if owners, unreadable, err := owners(ctx, l.etcd); err == nil {
			s.lost, s.unreadable = l.absent(owners), unreadable
			l.earlier, l.looked = now, time.Now()
		}
	} else if !wanted {
		l.earlier = now // who came since is missed as well when it goes
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

// ping returns whether the log store answers. While it has not for the time of a look, it is as it was before.
func (l *lookout) ping(ctx context.Context) error {
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
			return fmt.Errorf("no answer for %v", pingLimit)
		}
		return l.sight().store
	}
}

// absent gives the owners who are not alive, and were not at the look before: one that
// has just come may be known here a moment later.
func (l *lookout) absent(owners map[string]orphan) (lost []orphan) {
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

// pageOfRecords is how many records are read at a time.
const pageOfRecords = 1000

// owners reads the records: whose they are, and which cannot be read.
func owners(ctx context.Context, client *clientv3.Client) (found map[string]orphan, unreadable []string, err error) {
	found = map[string]orphan{}
	from, end := common.RunsPrefix, clientv3.GetPrefixRangeEnd(common.RunsPrefix)
	for {
		resp, err := client.Get(ctx, from, clientv3.WithRange(end), clientv3.WithLimit(pageOfRecords), clientv3.WithSerializable())
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

// tooOld tells which workers leave jobs to others because they do not know what these need.
func (l *lookout) tooOld() (all []common.Condition) {
	needs := l.catalog.Needs()
	if len(needs) == 0 {
		return nil
	}
	members := l.members.Snapshot().Members
	for i := range members {
		if lacking := common.Lacking(needs, members[i].Features); len(lacking) > 0 {
			name, what := cmp.Or(members[i].Name, members[i].Worker), common.Excerpt(strings.Join(lacking, ", "))
			all = append(all, common.Condition{Code: common.ConditionMissesFeature, Data: common.Words{"worker": name, "version": members[i].Version, "needs": what},
				Text: fmt.Sprintf("worker %s (%s) cannot do what some jobs need: %s", name, members[i].Version, what)})
		}
	}
	return all
}

// spaceOf reports whether etcd has raised its alarm NOSPACE, with which it takes no writes, and how many percent of its
// quota its data takes: pages that are free are filled before its file grows.
func spaceOf(ctx context.Context, client *clientv3.Client) (full bool, used int64) {
	endpoints := client.Endpoints()
	if len(endpoints) == 0 {
		endpoints = []string{""} // in this process
	}
	for _, endpoint := range endpoints {
		if status, err := client.Status(ctx, endpoint); err == nil {
			if status.DbSizeQuota > 0 {
				used = status.DbSizeInUse * 100 / status.DbSizeQuota
			}
			return slices.ContainsFunc(status.Errors, func(e string) bool { return strings.Contains(e, "NOSPACE") }), used
		}
	}
	return false, 0
}

// savesUpTo is how many percent of etcd's quota may be taken before jobs cannot be saved: claims and outcomes of runs,
// and what frees space, need the rest.
const savesUpTo = 80

// room refuses to save jobs while etcd is nearly full, or too many changes wait in it.
func (l *lookout) room() error {
	if used := l.sight().used; used >= savesUpTo {
		return &common.Error{Code: common.CodeUnavailable, Reason: "etcd_nearly_full", Data: common.WordsOf("percent", used), RetryAfter: time.Minute,
			Message: fmt.Sprintf("etcd's data takes %d %% of its quota: jobs cannot be saved above %d %%", used, savesUpTo),
			Hint:    "delete jobs that are not needed, or give etcd a larger --quota-backend-bytes; runs go on"}
	}
	return l.backlog.Room()
}

func (l *lookout) sight() sight {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.seen
}

// StoreAway tells whether the log store did not answer just now.
func (l *lookout) StoreAway() bool { return l.sight().store != nil }

// Ready tells what serving depends on. Without the log store edits, pauses and what runs
// are still served.
func (l *lookout) Ready(context.Context) []httpapi.Check {
	s := l.sight()
	if s.at.IsZero() {
		return []httpapi.Check{{Name: "etcd", Needed: true, Message: "nobody has looked yet"}}
	}
	return []httpapi.Check{checkOf("etcd", true, s.etcd), checkOf("watch", true, l.fresh.fault()), checkOf("log_store", false, s.store)}
}

// Conditions are those that a master sees by itself.
func (l *lookout) Conditions() []common.Condition {
	s := l.sight()
	if s.at.IsZero() {
		return nil
	}
	var all []common.Condition
	add := func(code, text string, data common.Words) {
		all = append(all, common.Condition{Code: code, Text: text, Data: data})
	}
	if s.etcd != nil {
		add(common.ConditionEtcdAway, "etcd does not answer", nil)
	}
	if s.full {
		add(common.ConditionEtcdFull, "etcd is full: it takes no writes until there is room, and its alarm NOSPACE is taken back", nil)
	}
	if s.store != nil {
		add(common.ConditionLogStoreAway, "the log store does not answer", nil)
	}
	all = append(all, l.backlog.Conditions()...)
	all = append(all, clockConditions(l.guard.Judge())...)
	if !s.nobody.IsZero() && WallClock().Sub(s.nobody) >= nobodyFor {
		all = append(all, common.Condition{Code: common.ConditionNoWorkers, Text: "no worker is alive: nothing runs", From: s.nobody.UTC()})
	}
	for _, o := range s.lost {
		add(common.ConditionWorkerLost, fmt.Sprintf("worker %s is gone; runs of it that are not resolved yet: %d", cmp.Or(o.Name, o.Worker), o.runs),
			common.Words{"worker": cmp.Or(o.Name, o.Worker), "runs": strconv.Itoa(o.runs)})
	}
	all = append(all, l.tooOld()...)
	bad := slices.Concat(slices.Sorted(maps.Keys(l.catalog.Bad())), s.unreadable)
	if len(bad) > 0 {
		add(common.ConditionUnreadable, fmt.Sprintf("%d entries in etcd cannot be read, %s first", len(bad), common.Excerpt(bad[0])),
			common.Words{"count": strconv.Itoa(len(bad)), "first": common.Excerpt(bad[0])})
	}
	return all
}
