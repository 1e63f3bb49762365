package etcd

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/notify"
)

// channelOf decodes a channel and checks that it belongs to its key.
func channelOf(kv *mvccpb.KeyValue) (notify.Channel, error) {
	c, err := common.Decode[notify.Channel](kv.Value)
	if err != nil || common.ChannelKey(c.Name) != string(kv.Key) {
		return notify.Channel{}, common.Errorf(common.CodeInternal, "damaged channel in etcd: %s",
			common.Excerpt(string(kv.Key))).WithCause(err).WithHint("delete it and create it again")
	}
	c.Version = kv.ModRevision
	return c, nil
}

// Channels returns all channels by name, without damaged ones.
func (s *Store) Channels(ctx context.Context) (all []notify.Channel, err error) {
	_, err = etcdkit.Each(ctx, s.etcd.Client, common.ChannelsPrefix, func(kv *mvccpb.KeyValue) error {
		if c, err := channelOf(kv); err == nil {
			all = append(all, c)
		}
		return nil
	})
	return all, err
}

// Find returns a channel; CodeNotFound if there is none.
func (s *Store) Find(ctx context.Context, name string) (notify.Channel, error) {
	kv, err := etcdkit.Get(ctx, s.etcd.Client, common.ChannelKey(name))
	if err != nil {
		return notify.Channel{}, err
	}
	if kv == nil {
		return notify.Channel{}, errNoChannel(name)
	}
	return channelOf(kv)
}

func errNoChannel(name string) error {
	return common.Errorf(common.CodeNotFound, "channel %q not found", common.Shorten(name))
}

// Channel returns a channel with its target, for sending.
func (s *Store) Channel(ctx context.Context, name string) (notify.Channel, notify.Target, error) {
	kv, err := etcdkit.Get(ctx, s.etcd.Client, common.ChannelKey(name))
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
func (s *Store) Save(ctx context.Context, actor common.Actor, name string, wanted notify.ChannelDefinition,
	pre common.Precondition) (c notify.Channel, secret string, created bool, err error) {
	if !common.ValidName(name) {
		return c, "", false, common.Invalid("the channel cannot be saved",
			common.NewFault("name", "name", name, "%s", common.NameRule))
	}
	var before notify.Channel
	revision, err := s.etcd.Update(ctx, "channel "+name, func(t *etcdkit.Txn) error {
		kv, err := etcdkit.Get(ctx, s.etcd.Client, common.ChannelKey(name))
		if err != nil {
			return err
		}
		before = notify.Channel{}
		if kv != nil {
			if before, err = channelOf(kv); err != nil {
				return err
			}
		}
		if err := pre.Holds("channel "+name, before.Version); err != nil {
			return err
		}
		if c, secret, err = s.merge(&before, name, wanted); err != nil || kv != nil && reflect.DeepEqual(before, c) {
			return err
		}
		if kv == nil {
			if err := s.room(ctx); err != nil {
				return err
			}
			c.CreatedAt = s.etcd.Now().UTC()
		}
		c.UpdatedAt, c.UpdatedBy = s.etcd.Now().UTC(), actor.Name
		write(t, actor, kv, &before, &c)
		return nil
	})
	switch {
	case err != nil:
		return notify.Channel{}, "", false, err
	case revision == 0:
		return before, "", false, nil
	}
	c.Version = revision
	return c, secret, before.Version == 0, nil
}

// room returns an error if the number of channels is at its limit.
func (s *Store) room(ctx context.Context) error {
	count, err := etcdkit.Count(ctx, s.etcd.Client, common.ChannelsPrefix)
	if err == nil && count >= notify.MaxChannels {
		err = common.Errorf(common.CodeConflict, "there are %d channels, which is the limit", count)
	}
	return err
}

// merge returns the channel after a change, and the signing secret if one was generated.
func (s *Store) merge(before *notify.Channel, name string, wanted notify.ChannelDefinition) (after notify.Channel,
	secret string, err error) {
	same := before.Version != 0 && before.Kind == wanted.Kind
	if faults := wanted.Faults(same); len(faults) > 0 {
		return after, "", common.Invalid("the channel cannot be saved", faults...)
	}
	after = *before
	after.Name, after.Kind, after.To, after.Disabled = name, wanted.Kind, slices.Clone(wanted.To), wanted.Disabled
	after.Language = wanted.Language
	if !wanted.Disabled || !before.Disabled {
		after.Why = ""
	}
	if wanted.Kind == notify.KindMail {
		after.Origin, after.Sealed = "", ""
		return after, "", nil
	}
	if !wanted.Retargets() {
		return after, "", nil
	}
	var old notify.Target
	var sealed error
	if same {
		old, sealed = s.open(before)
	}
	target, whole := wanted.With(old)
	if sealed != nil && !whole {
		return after, "", common.Errorf(common.CodeConflict, "the channel's secret cannot be decrypted").
			WithCause(sealed).
			WithHint("add the secretsKey that the channel was saved with to this master, or save all its fields again")
	}
	if wanted.Kind == notify.KindWebhook && (wanted.NewSecret || target.Secret == "") {
		target.Secret = notify.NewSecret()
		secret = target.Secret
	}
	if after.Origin, err = notify.OriginOf(target.URL); err != nil {
		return after, "", common.Invalid("the channel cannot be saved", common.NewFault("url", "url", nil, "%s",
			err.Error()))
	}
	if same && wanted.Key == "" && target.Key != "" && after.Origin != before.Origin {
		// An admin who may set a key must not get to read it.
		return after, "", common.Invalid("the channel cannot be saved", common.NewFault("key", "required", nil, "%s",
			"is required: the URL names another host, which would receive the current key"))
	}
	plain, err := json.Marshal(target)
	if err != nil {
		return after, "", err
	}
	if after.Sealed, err = s.box.Seal(common.ChannelKey(name), plain); err != nil {
		return after, "", common.Errorf(common.CodeConflict, "this master has no key to encrypt the channel's secret").
			WithCause(err).
			WithHint("set secretsKey to the same value on all masters; generate one with: openssl rand -base64 32")
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

// write adds the write of a channel with its audit entry, if the channel is unchanged.
func write(t *etcdkit.Txn, actor common.Actor, kv *mvccpb.KeyValue, before, after *notify.Channel) {
	verb := "replace"
	if kv == nil {
		verb = "create"
	}
	etcdkit.Swap(t, common.ChannelKey(after.Name), kv, after)
	t.Audit(actor, verb, "channel", after.Name, shown(before), shown(after))
}

// Delete deletes a channel. Its pending notifications fail with CodeUnknown.
func (s *Store) Delete(ctx context.Context, actor common.Actor, name string, pre common.Precondition) error {
	key := common.ChannelKey(name)
	_, err := s.etcd.Update(ctx, "channel "+common.Excerpt(name), func(t *etcdkit.Txn) error {
		kv, err := etcdkit.Get(ctx, s.etcd.Client, key)
		if err != nil {
			return err
		}
		if kv == nil {
			return errNoChannel(name)
		}
		if err := pre.Holds("channel "+name, kv.ModRevision); err != nil {
			return err
		}
		before, err := channelOf(kv)
		if err != nil {
			before = notify.Channel{Name: name} // the record is unreadable
		}
		t.If(etcdkit.Unchanged(key, kv.ModRevision))
		t.Delete(key)
		t.Audit(actor, "delete", "channel", name, shown(&before), nil)
		return nil
	})
	return err
}

// NoteTest adds an audit entry for a test of a channel.
func (s *Store) NoteTest(ctx context.Context, actor common.Actor, name string) error {
	t := s.etcd.Txn()
	t.If(etcdkit.Exists(common.ChannelKey(name)))
	t.Audit(actor, "test", "channel", name, nil, nil)
	_, done, err := s.etcd.Commit(ctx, "a test of channel "+name, t)
	if err == nil && !done {
		err = errNoChannel(name)
	}
	return err
}

// Disable disables a channel that has not changed since it was read.
func (s *Store) Disable(ctx context.Context, c notify.Channel, why string) error {
	kv, err := etcdkit.Get(ctx, s.etcd.Client, common.ChannelKey(c.Name))
	if err != nil || kv == nil || kv.ModRevision != c.Version || c.Disabled {
		return err
	}
	after := c
	after.Disabled, after.Why, after.UpdatedAt, after.UpdatedBy = true, why, s.etcd.Now().UTC(), "carillon"
	t := s.etcd.Txn()
	write(t, common.Actor{Name: "carillon"}, kv, &c, &after)
	_, _, err = s.etcd.Commit(ctx, "channel "+c.Name, t)
	return err
}

// Reseal encrypts channels again that are encrypted with an older key, so that the older key can be
// removed. It returns their number.
func (s *Store) Reseal(ctx context.Context, actor common.Actor) (n int, err error) {
	return etcdkit.Rewrite(ctx, &s.etcd, actor, "reseal", "channel", common.ChannelsPrefix,
		func(kv *mvccpb.KeyValue) (string, *notify.Channel, error) {
			c, err := channelOf(kv)
			if err != nil || c.Sealed == "" {
				return "", nil, err
			}
			sealed, fresh, err := s.box.Renew(string(kv.Key), c.Sealed)
			if err != nil {
				return "", nil, common.Errorf(common.CodeConflict, "channel %s cannot be decrypted: %v", c.Name, err).
					WithCause(err).WithHint("list the key that it was encrypted with after the new one")
			}
			if c.Sealed = sealed; !fresh {
				return "", nil, nil
			}
			return c.Name, &c, nil
		})
}
