package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/secrets/crypt"
)

const (
	callLimit = 5 * time.Second
	pageOf    = 500
	// maxSecrets bounds what every worker holds in memory.
	maxSecrets = 2000
	// tries is how often a change is attempted if compares fail because of concurrent changes.
	tries = 8
)

// stored is the value of a secret's key.
type stored struct {
	common.Secret
	Sealed string `json:"sealed"`
}

// Store stores secrets.
type Store struct {
	client  *clientv3.Client
	box     *crypt.Box // nil: no key
	now     func() time.Time
	changed func()
}

// New returns a store; now is the wall clock. changed is called after a change, which adds an audit
// entry to deliver. Without a box no value can be set.
func New(client *clientv3.Client, box *crypt.Box, now func() time.Time, changed func()) *Store {
	return &Store{client: client, box: box, now: now, changed: changed}
}

// read decodes a secret and checks that it belongs to its key.
func read(kv *mvccpb.KeyValue) (stored, error) {
	s, err := common.Decode[stored](kv.Value)
	if err != nil || common.SecretKey(s.Name) != string(kv.Key) {
		return stored{}, &common.Error{
			Code:    common.CodeInternal,
			Message: "damaged secret in etcd: " + common.Excerpt(string(kv.Key)),
			Hint:    "delete it and create it again",
			Err:     err,
		}
	}
	s.Version = kv.ModRevision
	return s, nil
}

// Secrets returns all secrets by name, without their values and without damaged ones.
func (s *Store) Secrets(ctx context.Context) (all []common.Secret, err error) {
	err = s.each(ctx, func(kv *mvccpb.KeyValue) error {
		if one, err := read(kv); err == nil {
			all = append(all, one.Secret)
		}
		return nil
	})
	return all, err
}

func (s *Store) each(ctx context.Context, do func(*mvccpb.KeyValue) error) error {
	from, end := common.SecretsPrefix, clientv3.GetPrefixRangeEnd(common.SecretsPrefix)
	for {
		callCtx, cancel := context.WithTimeout(ctx, callLimit)
		resp, err := s.client.Get(callCtx, from, clientv3.WithRange(end), clientv3.WithLimit(pageOf))
		cancel()
		if err != nil {
			return etcdkit.Wrap(fmt.Errorf("list secrets: %w", err))
		}
		for _, kv := range resp.Kvs {
			if err := do(kv); err != nil {
				return err
			}
		}
		if !resp.More || len(resp.Kvs) == 0 {
			return nil
		}
		from = string(resp.Kvs[len(resp.Kvs)-1].Key) + "\x00"
	}
}

// get reads a secret's key; nil if it does not exist.
func get(ctx context.Context, client *clientv3.Client, name string) (*mvccpb.KeyValue, error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := client.Get(ctx, common.SecretKey(name))
	if err != nil {
		return nil, etcdkit.Wrap(fmt.Errorf("read secret %s: %w", common.Excerpt(name), err))
	}
	if len(resp.Kvs) == 0 {
		return nil, nil
	}
	return resp.Kvs[0], nil
}

// Secret returns the description of a secret; CodeNotFound if there is none.
func (s *Store) Secret(ctx context.Context, name string) (common.Secret, error) {
	kv, err := get(ctx, s.client, name)
	if err != nil {
		return common.Secret{}, err
	}
	if kv == nil {
		return common.Secret{}, notFound(name)
	}
	one, err := read(kv)
	return one.Secret, err
}

func notFound(name string) error {
	return common.Errorf(common.CodeNotFound, "secret %q not found", common.Excerpt(name))
}

// SaveSecret creates or changes a secret, if allowed returns no error for the existing one (nil if
// there is none).
func (s *Store) SaveSecret(ctx context.Context, actor common.Actor, name string, wish common.SecretWish,
	pre common.Precondition,
	allowed func(*common.Secret) error) (common.Secret, bool, error) {
	if !common.ValidName(name) {
		return common.Secret{}, false, common.Invalid("the secret cannot be saved", common.Fault{
			Location: "name",
			Code:     "name",
			Value:    common.Excerpt(name),
			Message: "must be 1 to 128 characters of a–z, 0–9, '.', '_' and '-', and begin and end with a letter or " +
				"digit",
		})
	}
	for range tries {
		kv, err := get(ctx, s.client, name)
		if err != nil {
			return common.Secret{}, false, err
		}
		before, err := s.judge(kv, name, pre, allowed)
		if err != nil {
			return common.Secret{}, false, err
		}
		after, err := s.merge(&before, name, wish)
		if err != nil {
			return common.Secret{}, false, err
		}
		if kv != nil && wish.Value == "" && reflect.DeepEqual(before, after) {
			return before.Secret, false, nil
		}
		if kv == nil {
			if err := s.room(ctx); err != nil {
				return common.Secret{}, false, err
			}
			after.CreatedAt = s.now().UTC()
		}
		after.UpdatedAt, after.UpdatedBy = s.now().UTC(), actor.Name
		if wish.Value != "" {
			after.SetAt = after.UpdatedAt
		}
		done, err := s.put(ctx, actor, kv, &before, &after)
		if err != nil || done {
			return after.Secret, kv == nil, err
		}
	}
	return common.Secret{}, false, busy(name)
}

func busy(name string) error {
	return common.Errorf(common.CodeConflict, "secret %s changes too fast; retry", common.Excerpt(name))
}

// judge decodes the existing secret and checks the precondition and allowed. A damaged secret may
// be replaced only by those who may change all secrets.
func (s *Store) judge(kv *mvccpb.KeyValue, name string, pre common.Precondition,
	allowed func(*common.Secret) error) (before stored, err error) {
	var version int64
	if kv == nil {
		err = allowed(nil)
	} else {
		version = kv.ModRevision
		if before, err = read(kv); err != nil {
			before = stored{Secret: common.Secret{Name: name, Version: version}}
		}
		err = allowed(&before.Secret)
	}
	switch {
	case err != nil:
	case pre.Absent && version != 0:
		err = common.Errorf(common.CodeStale, "secret %s exists", name)
	case pre.Version != 0 && version == 0:
		err = common.Errorf(common.CodeStale, "secret %s no longer exists", name)
	case pre.Version != 0 && version != pre.Version:
		err = &common.Error{
			Code:    common.CodeStale,
			Message: fmt.Sprintf("secret %s is at version %d, not %d", name, version, pre.Version),
			Hint:    "read it again and repeat the change: it was saved in the meantime",
		}
	}
	return before, err
}

// room returns an error if the number of secrets is at its limit.
func (s *Store) room(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.client.Get(ctx, common.SecretsPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return etcdkit.Wrap(err)
	}
	if resp.Count >= maxSecrets {
		return common.Errorf(common.CodeConflict, "there are %d secrets, which is the limit", resp.Count)
	}
	return nil
}

// merge returns the secret after a change.
func (s *Store) merge(before *stored, name string, wish common.SecretWish) (after stored, err error) {
	if faults := wish.Faults(before.Sealed != ""); len(faults) > 0 {
		return after, common.Invalid("the secret cannot be saved", faults...)
	}
	after = *before
	after.Name, after.Description, after.Groups = name, wish.Description, nil
	if len(wish.Groups) > 0 {
		after.Groups = slices.Sorted(slices.Values(wish.Groups))
	}
	if wish.Value == "" {
		return after, nil
	}
	if after.Sealed, err = s.box.Seal(common.SecretKey(name), []byte(wish.Value)); err != nil {
		return after, &common.Error{
			Code:    common.CodeConflict,
			Message: "this master has no key to encrypt a secret",
			Err:     err,
			Hint: "set secretsKey to the same value on all masters and workers; generate one with: openssl rand " +
				"-base64 32",
		}
	}
	return after, nil
}

// put stores a secret with its audit entry if it is unchanged. The entry contains the time at which
// the value was set, which shows that it changed, but not the value.
func (s *Store) put(ctx context.Context, actor common.Actor, kv *mvccpb.KeyValue, before, after *stored) (done bool,
	err error) {
	verb := "replace"
	var held []byte
	var from any
	if kv == nil {
		verb = "create"
	} else {
		held, from = kv.Value, before.Secret
	}
	change, err := s.change(actor, verb, after.Name, from, after.Secret)
	if err != nil {
		return false, err
	}
	data, err := common.EncodeOver(held, after)
	if err != nil {
		return false, fmt.Errorf("encode secret %s: %w", after.Name, err)
	}
	key := common.SecretKey(after.Name)
	revision, done, err := s.commit(ctx, etcdkit.Unchanged(key, before.Version),
		clientv3.OpPut(key, string(data)), change)
	after.Version = revision
	return done, err
}

func (s *Store) change(actor common.Actor, verb, name string, before, after any) (clientv3.Op, error) {
	change, err := common.NewChange(s.now(), actor, verb, "secret", name, before, after)
	if err != nil {
		return clientv3.Op{}, err
	}
	entry, err := json.Marshal(change)
	return clientv3.OpPut(common.ChangeKey(change.ID), string(entry)), err
}

func (s *Store) commit(ctx context.Context, cmp clientv3.Cmp, ops ...clientv3.Op) (revision int64, done bool,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.client.Txn(ctx).If(cmp).Then(ops...).Commit()
	if err != nil {
		return 0, false, etcdkit.Wrap(fmt.Errorf("write a secret: %w", err))
	}
	if resp.Succeeded {
		s.changed()
	}
	return resp.Header.Revision, resp.Succeeded, nil
}

// DeleteSecret deletes a secret if allowed returns no error.
func (s *Store) DeleteSecret(ctx context.Context, actor common.Actor, name string, pre common.Precondition,
	allowed func(*common.Secret) error) error {
	for range tries {
		kv, err := get(ctx, s.client, name)
		if err != nil {
			return err
		}
		if kv == nil {
			return notFound(name)
		}
		before, err := s.judge(kv, name, pre, allowed)
		if err != nil {
			return err
		}
		change, err := s.change(actor, "delete", name, before.Secret, nil)
		if err != nil {
			return err
		}
		key := common.SecretKey(name)
		if _, done, err := s.commit(ctx, etcdkit.Unchanged(key, kv.ModRevision), clientv3.OpDelete(key),
			change); err != nil || done {
			return err
		}
	}
	return busy(name)
}

// Faults returns the faults of a job's references to secrets: missing secrets, and those that its
// group may not use.
func (s *Store) Faults(ctx context.Context, job *common.Job) (faults []common.Fault, err error) {
	refs := job.SecretRefs()
	for _, variable := range slices.Sorted(maps.Keys(refs)) {
		name := refs[variable]
		if !common.ValidName(name) {
			continue // reported with the job's own faults
		}
		fault := common.Fault{Location: "env." + common.Excerpt(variable), Value: common.Excerpt(name)}
		one, err := s.Secret(ctx, name)
		switch {
		case common.CodeOf(err) == common.CodeNotFound:
			fault.Code, fault.Message = "unknown_secret", "secret not found"
			fault.Hint = "create it first, or ask an admin to create it"
		case err != nil:
			return nil, err
		case !one.ForGroup(job.Group):
			fault.Code, fault.Message = "foreign_secret", "the secret may not be used by jobs of this group"
		default:
			continue
		}
		faults = append(faults, fault)
	}
	return faults, nil
}

// Reseal encrypts secrets again that are encrypted with an older key, so that the older key can be
// removed. It returns their number.
func (s *Store) Reseal(ctx context.Context, actor common.Actor) (n int, err error) {
	err = s.each(ctx, func(kv *mvccpb.KeyValue) error {
		done, err := s.resealOne(ctx, actor, kv)
		if done {
			n++
		}
		return err
	})
	return n, err
}

func (s *Store) resealOne(ctx context.Context, actor common.Actor, kv *mvccpb.KeyValue) (bool, error) {
	key := string(kv.Key)
	for range tries {
		one, err := read(kv)
		if err != nil {
			return false, err
		}
		sealed, fresh, err := s.box.Renew(key, one.Sealed)
		if err != nil {
			return false, &common.Error{
				Code:    common.CodeConflict,
				Message: fmt.Sprintf("secret %s cannot be decrypted: %v", one.Name, err),
				Err:     err,
				Hint:    "list the key that it was encrypted with after the new one",
			}
		}
		if !fresh {
			return false, nil
		}
		one.Sealed = sealed
		data, err := common.EncodeOver(kv.Value, &one)
		if err != nil {
			return false, err
		}
		change, err := s.change(actor, "reseal", one.Name, nil, nil)
		if err != nil {
			return false, err
		}
		if _, done, err := s.commit(ctx, etcdkit.Unchanged(key, kv.ModRevision), clientv3.OpPut(key, string(data)),
			change); err != nil || done {
			return done, err
		}
		if kv, err = get(ctx, s.client, one.Name); err != nil || kv == nil {
			return false, err
		}
	}
	return false, busy(key)
}
