package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/notify"
)

// tries is how often a change is attempted if compares fail because of concurrent changes.
const tries = 8

// channelOf decodes a channel and checks that it belongs to its key.
func channelOf(kv *mvccpb.KeyValue) (notify.Channel, error) {
	c, err := common.Decode[notify.Channel](kv.Value)
	if err != nil || common.ChannelKey(c.Name) != string(kv.Key) {
		return notify.Channel{}, &common.Error{
			Code:    common.CodeInternal,
			Message: "damaged channel in etcd: " + common.Excerpt(string(kv.Key)),
			Hint:    "delete it and create it again",
			Err:     err,
		}
	}
	c.Version = kv.ModRevision
	return c, nil
}

// Channels returns all channels by name, without damaged ones.
func (s *Store) Channels(ctx context.Context) (all []notify.Channel, err error) {
	err = s.list(ctx, common.ChannelsPrefix, func(kv *mvccpb.KeyValue) {
		if c, err := channelOf(kv); err == nil {
			all = append(all, c)
		}
	})
	return all, err
}

// Find returns a channel; CodeNotFound if there is none.
func (s *Store) Find(ctx context.Context, name string) (notify.Channel, error) {
	kv, _, err := s.get(ctx, common.ChannelKey(name))
	if err != nil {
		return notify.Channel{}, err
	}
	if kv == nil {
		return notify.Channel{}, errNoChannel(name)
	}
	return channelOf(kv)
}

func errNoChannel(name string) error {
	return common.Errorf(common.CodeNotFound, "channel %q not found", common.Excerpt(name))
}

// Channel returns a channel with its target, for sending.
func (s *Store) Channel(ctx context.Context, name string) (notify.Channel, notify.Target, error) {
	kv, _, err := s.get(ctx, common.ChannelKey(name))
	if err != nil || kv == nil {
		return notify.Channel{}, notify.Target{}, err
	}
	c, err := channelOf(kv)
	if err != nil || c.Sealed == "" {
		return c, notify.Target{}, err
	}
	target, err := s.open(&c)
	return c, target, err
}

func (s *Store) open(c *notify.Channel) (notify.Target, error) {
	plain, err := s.box.Open(common.ChannelKey(c.Name), c.Sealed)
	if err != nil {
		return notify.Target{}, fmt.Errorf("%w: %w", notify.ErrSealed, err)
	}
	target, err := common.Decode[notify.Target](plain)
	if err != nil {
		return notify.Target{}, fmt.Errorf("%w: damaged value", notify.ErrSealed)
	}
	return target, nil
}

// Save creates or changes a channel and returns it. A generated signing secret is returned as well:
// it is not shown again.
func (s *Store) Save(ctx context.Context, actor common.Actor, name string, wish notify.Wish,
	pre common.Precondition) (c notify.Channel, secret string, created bool, err error) {
	if !common.ValidName(name) {
		return c, "", false, common.Invalid("the channel cannot be saved", common.Fault{
			Location: "name",
			Code:     "name",
			Value:    common.Excerpt(name),
			Message: "must be 1 to 128 characters of a–z, 0–9, '.', '_' and '-', and begin and end with a letter or " +
				"digit",
		})
	}
	for range tries {
		kv, _, err := s.get(ctx, common.ChannelKey(name))
		if err != nil {
			return c, "", false, err
		}
		var before notify.Channel
		if kv != nil {
			if before, err = channelOf(kv); err != nil {
				return c, "", false, err
			}
		}
		if err := holds(name, pre, before.Version); err != nil {
			return c, "", false, err
		}
		after, secret, err := s.merge(&before, name, wish)
		if err != nil {
			return c, "", false, err
		}
		if kv != nil && reflect.DeepEqual(before, after) {
			return before, "", false, nil
		}
		if kv == nil {
			if err := s.room(ctx); err != nil {
				return c, "", false, err
			}
			after.CreatedAt = s.now().UTC()
		}
		after.UpdatedAt, after.UpdatedBy = s.now().UTC(), actor.Name
		done, err := s.write(ctx, actor, kv, &before, &after)
		if err != nil || done {
			return after, secret, kv == nil, err
		}
	}
	return c, "", false, common.Errorf(common.CodeConflict, "channel %s changes too fast; retry", common.Excerpt(name))
}

// holds returns CodeStale if a precondition does not hold; version is zero if there is no channel.
func holds(name string, pre common.Precondition, version int64) error {
	switch {
	case pre.Absent && version != 0:
		return common.Errorf(common.CodeStale, "channel %s exists", name)
	case pre.Version != 0 && version == 0:
		return common.Errorf(common.CodeStale, "channel %s no longer exists", name)
	case pre.Version != 0 && version != pre.Version:
		return &common.Error{
			Code:    common.CodeStale,
			Message: fmt.Sprintf("channel %s is at version %d, not %d", name, version, pre.Version),
			Hint:    "read it again and repeat the change: it was saved in the meantime",
		}
	}
	return nil
}

// room returns an error if the number of channels is at its limit.
func (s *Store) room(ctx context.Context) error {
	callCtx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.client.Get(callCtx, common.ChannelsPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return etcdkit.Wrap(err)
	}
	if resp.Count >= notify.MaxChannels {
		return common.Errorf(common.CodeConflict, "there are %d channels, which is the limit", resp.Count)
	}
	return nil
}

// merge returns the channel after a change, and the signing secret if one was generated.
func (s *Store) merge(before *notify.Channel, name string, wish notify.Wish) (after notify.Channel, secret string,
	err error) {
	same := before.Version != 0 && before.Kind == wish.Kind
	if faults := wish.Faults(same); len(faults) > 0 {
		return after, "", common.Invalid("the channel cannot be saved", faults...)
	}
	after = *before
	after.Name, after.Kind, after.To, after.Disabled = name, wish.Kind, slices.Clone(wish.To), wish.Disabled
	if !wish.Disabled || !before.Disabled {
		after.Why = ""
	}
	if wish.Kind != notify.KindWebhook {
		after.Origin, after.Sealed = "", ""
		return after, "", nil
	}
	if wish.URL == "" && wish.Secret == "" && !wish.NewSecret {
		return after, "", nil
	}
	var target notify.Target
	if same {
		if target, err = s.open(before); err != nil && (wish.URL == "" || wish.Secret == "" && !wish.NewSecret) {
			return after, "", &common.Error{
				Code:    common.CodeConflict,
				Message: "the channel's secret cannot be decrypted",
				Err:     err,
				Hint: "add the secretsKey that the channel was saved with to this master, or save url and secret " +
					"again",
			}
		}
	}
	if wish.URL != "" {
		target.URL = wish.URL
	}
	switch {
	case wish.Secret != "":
		target.Secret = wish.Secret
	case wish.NewSecret || target.Secret == "":
		target.Secret = notify.NewSecret()
		secret = target.Secret
	}
	if after.Origin, err = notify.OriginOf(target.URL); err != nil {
		return after, "", common.Invalid("the channel cannot be saved", common.Fault{
			Location: "url",
			Code:     "url",
			Message:  err.Error(),
		})
	}
	plain, err := json.Marshal(target)
	if err != nil {
		return after, "", err
	}
	if after.Sealed, err = s.box.Seal(common.ChannelKey(name), plain); err != nil {
		return after, "", &common.Error{
			Code:    common.CodeConflict,
			Message: "this master has no key to encrypt a webhook's secret",
			Err:     err,
			Hint:    "set secretsKey to the same value on all masters; generate one with: openssl rand -base64 32",
		}
	}
	return after, secret, nil
}

// shown returns a channel for the audit. The entry shows that the target changed, but not the target.
func shown(c *notify.Channel) any {
	if c.Version == 0 && c.Name == "" {
		return nil
	}
	said := *c
	said.Sealed = ""
	return said
}

// write stores a channel with its audit entry, if the channel is unchanged.
func (s *Store) write(ctx context.Context, actor common.Actor, kv *mvccpb.KeyValue, before,
	after *notify.Channel) (done bool, err error) {
	verb := "replace"
	var held []byte
	if kv == nil {
		verb = "create"
	} else {
		held = kv.Value
	}
	change, err := common.NewChange(s.now(), actor, verb, "channel", after.Name, shown(before), shown(after))
	if err != nil {
		return false, err
	}
	data, err1 := common.EncodeOver(held, after)
	entry, err2 := json.Marshal(change)
	if err1 != nil || err2 != nil {
		return false, fmt.Errorf("encode channel %s: %w, %w", after.Name, err1, err2)
	}
	key := common.ChannelKey(after.Name)
	revision, done, err := s.commit(ctx, etcdkit.Unchanged(key, before.Version), clientv3.OpPut(key, string(data)),
		clientv3.OpPut(common.ChangeKey(change.ID), string(entry)))
	after.Version = revision
	return done, err
}

func (s *Store) commit(ctx context.Context, cmp clientv3.Cmp, ops ...clientv3.Op) (revision int64, done bool,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	resp, err := s.client.Txn(ctx).If(cmp).Then(ops...).Commit()
	if err != nil {
		return 0, false, etcdkit.Wrap(fmt.Errorf("write a channel: %w", err))
	}
	if resp.Succeeded {
		s.changed()
	}
	return resp.Header.Revision, resp.Succeeded, nil
}

// Delete deletes a channel. Its pending notifications fail with CodeUnknown.
func (s *Store) Delete(ctx context.Context, actor common.Actor, name string, pre common.Precondition) error {
	for range tries {
		kv, _, err := s.get(ctx, common.ChannelKey(name))
		if err != nil {
			return err
		}
		if kv == nil {
			return errNoChannel(name)
		}
		if err := holds(name, pre, kv.ModRevision); err != nil {
			return err
		}
		before, err := channelOf(kv)
		if err != nil {
			before = notify.Channel{Name: name} // the record is unreadable
		}
		change, err := common.NewChange(s.now(), actor, "delete", "channel", name, shown(&before), nil)
		if err != nil {
			return err
		}
		entry, err := json.Marshal(change)
		if err != nil {
			return err
		}
		key := common.ChannelKey(name)
		if _, done, err := s.commit(ctx, etcdkit.Unchanged(key, kv.ModRevision), clientv3.OpDelete(key),
			clientv3.OpPut(common.ChangeKey(change.ID), string(entry))); err != nil || done {
			return err
		}
	}
	return common.Errorf(common.CodeConflict, "channel %s changes too fast; retry", common.Excerpt(name))
}

// NoteTest adds an audit entry for a test of a channel.
func (s *Store) NoteTest(ctx context.Context, actor common.Actor, name string) error {
	change, err := common.NewChange(s.now(), actor, "test", "channel", name, nil, nil)
	if err != nil {
		return err
	}
	entry, err := json.Marshal(change)
	if err != nil {
		return err
	}
	there := clientv3.Compare(clientv3.CreateRevision(common.ChannelKey(name)), ">", 0)
	_, done, err := s.commit(ctx, there, clientv3.OpPut(common.ChangeKey(change.ID), string(entry)))
	if err == nil && !done {
		err = errNoChannel(name)
	}
	return err
}

// Disable disables a channel that has not changed since it was read.
func (s *Store) Disable(ctx context.Context, c notify.Channel, why string) error {
	kv, _, err := s.get(ctx, common.ChannelKey(c.Name))
	if err != nil || kv == nil || kv.ModRevision != c.Version || c.Disabled {
		return err
	}
	after := c
	after.Disabled, after.Why, after.UpdatedAt, after.UpdatedBy = true, why, s.now().UTC(), "carillon"
	_, err = s.write(ctx, common.Actor{Name: "carillon"}, kv, &c, &after)
	return err
}

// Reseal encrypts channels again that are encrypted with an older key, so that the older key can be
// removed. It returns their number.
func (s *Store) Reseal(ctx context.Context, actor common.Actor) (n int, err error) {
	var all []*mvccpb.KeyValue
	if err := s.list(ctx, common.ChannelsPrefix, func(kv *mvccpb.KeyValue) { all = append(all, kv) }); err != nil {
		return 0, err
	}
	for _, kv := range all {
		done, err := s.resealOne(ctx, actor, kv)
		if err != nil {
			return n, err
		}
		if done {
			n++
		}
	}
	return n, nil
}

func (s *Store) resealOne(ctx context.Context, actor common.Actor, kv *mvccpb.KeyValue) (bool, error) {
	key := string(kv.Key)
	for range tries {
		c, err := channelOf(kv)
		if err != nil || c.Sealed == "" {
			return false, err
		}
		sealed, fresh, err := s.box.Renew(key, c.Sealed)
		if err != nil {
			return false, &common.Error{
				Code:    common.CodeConflict,
				Message: fmt.Sprintf("channel %s cannot be decrypted: %v", c.Name, err),
				Err:     err,
				Hint:    "list the key that it was encrypted with after the new one",
			}
		}
		if !fresh {
			return false, nil
		}
		c.Sealed = sealed
		change, err := common.NewChange(s.now(), actor, "reseal", "channel", c.Name, nil, nil)
		if err != nil {
			return false, err
		}
		data, err1 := common.EncodeOver(kv.Value, &c)
		entry, err2 := json.Marshal(change)
		if err := errors.Join(err1, err2); err != nil {
			return false, err
		}
		if _, done, err := s.commit(ctx, etcdkit.Unchanged(key, kv.ModRevision), clientv3.OpPut(key, string(data)),
			clientv3.OpPut(common.ChangeKey(change.ID), string(entry))); err != nil || done {
			return done, err
		}
		if kv, _, err = s.get(ctx, key); err != nil || kv == nil {
			return false, err
		}
	}
	return false, common.Errorf(common.CodeConflict, "channel %s changes too fast; retry", common.Excerpt(key))
}
