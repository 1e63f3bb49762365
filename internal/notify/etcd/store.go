package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/notify"
	"carillon/internal/secrets/crypt"
)

const (
	callLimit = 5 * time.Second
	// silence is how long a watch may be silent before it is ended.
	silence = 30 * time.Second
	pageOf  = 500
)

// Store stores channels, notifications and notification states.
type Store struct {
	client  *clientv3.Client
	box     *crypt.Box // nil: no key
	now     func() time.Time
	changed func()
}

var (
	_ notify.Store    = (*Store)(nil)
	_ notify.Channels = (*Store)(nil)
)

// New returns a store; now is the wall clock. changed is called after a change of a channel, which
// adds an audit entry to deliver. Without a box no webhook can be saved or called.
func New(client *clientv3.Client, box *crypt.Box, now func() time.Time, changed func()) *Store {
	return &Store{client: client, box: box, now: now, changed: changed}
}

// get reads a key; nil if it does not exist.
func (s *Store) get(ctx context.Context, key string) (*mvccpb.KeyValue, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.client.Get(ctx, key)
	if err != nil {
		return nil, 0, etcdkit.Wrap(fmt.Errorf("read %s: %w", key, err))
	}
	if len(resp.Kvs) == 0 {
		return nil, resp.Header.Revision, nil
	}
	return resp.Kvs[0], resp.Header.Revision, nil
}

// list reads a prefix page by page.
func (s *Store) list(ctx context.Context, prefix string, each func(*mvccpb.KeyValue)) error {
	from, end := prefix, clientv3.GetPrefixRangeEnd(prefix)
	for {
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := s.client.Get(callCtx, from, clientv3.WithRange(end), clientv3.WithLimit(pageOf))
		cancel()
		if err != nil {
			return etcdkit.Wrap(fmt.Errorf("list %s: %w", prefix, err))
		}
		for _, kv := range resp.Kvs {
			each(kv)
		}
		if !resp.More || len(resp.Kvs) == 0 {
			return nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// Place returns the position up to which outcomes have been processed. An unreadable one counts as
// none.
func (s *Store) Place(ctx context.Context) (notify.Place, error) {
	kv, _, err := s.get(ctx, common.AlertedKey)
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
	data, err := json.Marshal(p)
	if err != nil {
		return p, err
	}
	callCtx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.client.Txn(callCtx).If(etcdkit.Unchanged(common.AlertedKey, p.Version)).
		Then(clientv3.OpPut(common.AlertedKey, string(data))).Commit()
	if err != nil {
		return p, etcdkit.Wrap(fmt.Errorf("write %s: %w", common.AlertedKey, err))
	}
	if !resp.Succeeded {
		return s.Place(ctx)
	}
	p.Version = resp.Header.Revision
	return p, nil
}

// Now returns the current revision of etcd.
func (s *Store) Now(ctx context.Context) (int64, error) {
	_, revision, err := s.get(ctx, common.AlertedKey)
	return revision, err
}

// Follow watches the outboxes from a revision on.
func (s *Store) Follow(ctx context.Context, from int64,
	take func(context.Context, []notify.Outcome, int64) error) error {
	watchCtx, cancel := context.WithCancel(clientv3.WithRequireLeader(ctx))
	defer cancel()
	// Without fragments a response contains whole revisions.
	ch := s.client.Watch(watchCtx, common.OutboxPrefix, clientv3.WithPrefix(), clientv3.WithRev(from),
		clientv3.WithFilterDelete(), clientv3.WithProgressNotify(), clientv3.WithCreatedNotify())
	ask := time.NewTicker(silence / 3)
	defer ask.Stop()
	heard := time.Now()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ask.C:
			if time.Since(heard) > silence {
				return fmt.Errorf("watch %s: silent for %v", common.OutboxPrefix, silence)
			}
			askCtx, cancelAsk := context.WithTimeout(watchCtx, silence/3)
			_ = s.client.RequestProgress(askCtx) // a missing answer shows as silence
			cancelAsk()
		case resp, ok := <-ch:
			if !ok {
				return fmt.Errorf("watch %s: closed", common.OutboxPrefix)
			}
			if errors.Is(resp.Err(), rpctypes.ErrCompacted) {
				return notify.ErrGap
			}
			if err := resp.Err(); err != nil {
				return fmt.Errorf("watch %s: %w", common.OutboxPrefix, err)
			}
			heard = time.Now()
			upTo := int64(0)
			if resp.IsProgressNotify() {
				upTo = resp.Header.Revision
			}
			outcomes := outcomesOf(resp.Events)
			if n := len(resp.Events); n > 0 {
				upTo = resp.Events[n-1].Kv.ModRevision
			}
			if err := take(ctx, outcomes, upTo); err != nil {
				return err
			}
		}
	}
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
	err = s.list(ctx, common.AlertsPrefix, func(kv *mvccpb.KeyValue) { states = append(states, stateOf(kv)) })
	return states, err
}

// State returns the state of a job; the zero value if there is none.
func (s *Store) State(ctx context.Context, job string) (notify.State, error) {
	kv, _, err := s.get(ctx, common.AlertKey(job))
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
	var cmps []clientv3.Cmp
	var ops []clientv3.Op
	for i := range states {
		data, err := json.Marshal(&states[i])
		if err != nil {
			return nil, false, fmt.Errorf("encode state of %s: %w", states[i].Job, err)
		}
		key := common.AlertKey(states[i].Job)
		cmps, ops = append(cmps, etcdkit.Unchanged(key, states[i].Version)),
			append(ops, clientv3.OpPut(key, string(data)))
	}
	for i := range notices {
		data, err := json.Marshal(&notices[i])
		if err != nil {
			return nil, false, fmt.Errorf("encode notification %s: %w", notices[i].ID, err)
		}
		waiting, done := common.WaitingNoticeKey(notices[i].ID), common.DoneNoticeKey(notices[i].ID)
		ops = append(ops, clientv3.OpTxn([]clientv3.Cmp{etcdkit.Absent(waiting), etcdkit.Absent(done)},
			[]clientv3.Op{clientv3.OpPut(waiting, string(data))}, nil))
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.client.Txn(ctx).If(cmps...).Then(ops...).Commit()
	if err != nil || !resp.Succeeded {
		return nil, false, etcdkit.Wrap(err)
	}
	written := make([]notify.State, len(states))
	for i := range states {
		written[i] = states[i]
		written[i].Version = resp.Header.Revision
	}
	return written, true, nil
}

// Drop deletes states that have not changed.
func (s *Store) Drop(ctx context.Context, states []notify.State) error {
	seen := make([]*mvccpb.KeyValue, len(states))
	for i := range states {
		seen[i] = &mvccpb.KeyValue{Key: []byte(common.AlertKey(states[i].Job)), ModRevision: states[i].Version}
	}
	return etcdkit.DeleteSeen(ctx, s.client, seen)
}
