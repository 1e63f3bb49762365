package etcd

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/notify"
	"carillon/internal/secrets/crypt"
)

// Store stores channels, notifications and notification states.
type Store struct {
	etcd etcdkit.Store
	box  *crypt.Box // nil: no key
}

var (
	_ notify.Store    = (*Store)(nil)
	_ notify.Channels = (*Store)(nil)
)

// New returns a store; now is the wall clock. changed is called after a change of a channel, which
// adds an audit entry to deliver. Without a box no webhook can be saved or called.
func New(client *clientv3.Client, box *crypt.Box, now func() time.Time, changed func()) *Store {
	return &Store{etcd: etcdkit.Store{Client: client, Now: now, Changed: changed}, box: box}
}

// Place returns the position up to which outcomes have been processed. An unreadable one counts as
// none.
func (s *Store) Place(ctx context.Context) (notify.Place, error) {
	kv, err := etcdkit.Get(ctx, s.etcd.Client, common.AlertedKey)
	if err != nil || kv == nil {
		return notify.Place{}, err
	}
	place, err := common.Decode[notify.Place](kv.Value)
	if err != nil {
		place = notify.Place{}
	}
	place.Version = kv.ModRevision
	return place, nil
}

// Move stores the place if it is unchanged since it was read.
func (s *Store) Move(ctx context.Context, p notify.Place) (notify.Place, error) {
	t := s.etcd.Txn()
	t.If(etcdkit.Unchanged(common.AlertedKey, p.Version))
	t.Put(common.AlertedKey, p)
	revision, done, err := s.etcd.Commit(ctx, common.AlertedKey, t)
	if err == nil && !done {
		return s.Place(ctx)
	}
	if err == nil {
		p.Version = revision
	}
	return p, err
}

// Now returns the current revision of etcd.
func (s *Store) Now(ctx context.Context) (int64, error) {
	resp, err := etcdkit.Range(ctx, s.etcd.Client, common.AlertedKey)
	if err != nil {
		return 0, err
	}
	return resp.Header.Revision, nil
}

// Follow watches the outboxes from a revision on.
func (s *Store) Follow(ctx context.Context, from int64,
	take func(context.Context, []notify.Outcome, int64) error) error {
	watch := etcdkit.Watch{Client: s.etcd.Client, Prefix: common.OutboxPrefix}
	err := watch.Stream(ctx, from, func(ctx context.Context, resp *clientv3.WatchResponse) error {
		upTo := int64(0)
		if resp.IsProgressNotify() {
			upTo = resp.Header.Revision
		}
		if n := len(resp.Events); n > 0 {
			upTo = resp.Events[n-1].Kv.ModRevision
		}
		return take(ctx, outcomesOf(resp.Events), upTo)
	}, clientv3.WithFilterDelete())
	if etcdkit.Compacted(err) {
		return notify.ErrGap
	}
	return err
}

// outcomesOf decodes outcomes and ignores other values.
func outcomesOf(events []*clientv3.Event) []notify.Outcome {
	outcomes := make([]notify.Outcome, 0, len(events))
	for _, ev := range events {
		key := string(ev.Kv.Key)
		if ev.Type != clientv3.EventTypePut || common.IsLateKey(key) {
			continue
		}
		run, err := common.Decode[common.Run](ev.Kv.Value)
		if err == nil && run.Status.Terminal() && strings.HasSuffix(key, "/"+run.ID) {
			outcomes = append(outcomes, notify.Outcome{Run: run, Revision: ev.Kv.ModRevision})
		}
	}
	return outcomes
}

// States returns all states. An unreadable one counts as none and is overwritten.
func (s *Store) States(ctx context.Context) (states []notify.State, err error) {
	_, err = etcdkit.Each(ctx, s.etcd.Client, common.AlertsPrefix, func(kv *mvccpb.KeyValue) error {
		states = append(states, stateOf(kv))
		return nil
	})
	return states, err
}

// State returns the state of a job; the zero value if there is none.
func (s *Store) State(ctx context.Context, job string) (notify.State, error) {
	kv, err := etcdkit.Get(ctx, s.etcd.Client, common.AlertKey(job))
	if err != nil || kv == nil {
		return notify.State{}, err
	}
	return stateOf(kv), nil
}

func stateOf(kv *mvccpb.KeyValue) notify.State {
	job := strings.TrimPrefix(string(kv.Key), common.AlertsPrefix)
	state, err := common.Decode[notify.State](kv.Value)
	if err != nil || state.Job != job {
		state = notify.State{Job: job}
	}
	state.Version = kv.ModRevision
	return state
}

// Commit writes states and notifications in one transaction.
func (s *Store) Commit(ctx context.Context, states []notify.State, notices []notify.Notice) ([]notify.State,
	bool, error) {
	t := s.etcd.Txn()
	for i := range states {
		key := common.AlertKey(states[i].Job)
		t.If(etcdkit.Unchanged(key, states[i].Version))
		t.Put(key, &states[i])
	}
	s.putNotices(t, notices)
	revision, done, err := s.etcd.Commit(ctx, "notification states", t)
	if err != nil || !done {
		return nil, false, err
	}
	written := slices.Clone(states)
	for i := range written {
		written[i].Version = revision
	}
	return written, true, nil
}

// putNotices adds the writes of notifications. One that exists, pending or completed, stays as it is.
func (s *Store) putNotices(t *etcdkit.Txn, notices []notify.Notice) {
	for i := range notices {
		waiting, done := common.WaitingNoticeKey(notices[i].ID), common.DoneNoticeKey(notices[i].ID)
		put := s.etcd.Txn()
		put.If(etcdkit.Absent(waiting), etcdkit.Absent(done))
		put.Put(waiting, &notices[i])
		t.Nest(put)
	}
}

// Drop deletes states that have not changed.
func (s *Store) Drop(ctx context.Context, states []notify.State) error {
	seen := make([]*mvccpb.KeyValue, len(states))
	for i := range states {
		seen[i] = &mvccpb.KeyValue{Key: []byte(common.AlertKey(states[i].Job)), ModRevision: states[i].Version}
	}
	return etcdkit.DeleteSeen(ctx, s.etcd.Client, seen)
}
