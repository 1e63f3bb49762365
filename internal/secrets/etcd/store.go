package etcd

import (
	"context"
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

// maxSecrets bounds what every worker holds in memory.
const maxSecrets = 2000

// stored is the value of a secret's key.
type stored struct {
	common.Secret
	Sealed string `json:"sealed"`
}

// Store stores secrets.
type Store struct {
	etcd etcdkit.Store
	box  *crypt.Box // nil: no key
}

// New returns a store; now is the wall clock. changed is called after a change, which adds an audit
// entry to deliver. Without a box no value can be set.
func New(client *clientv3.Client, box *crypt.Box, now func() time.Time, changed func()) *Store {
	return &Store{etcd: etcdkit.Store{Client: client, Now: now, Changed: changed}, box: box}
}

// read decodes a secret and checks that it belongs to its key.
func read(kv *mvccpb.KeyValue) (stored, error) {
	s, err := common.Decode[stored](kv.Value)
	if err != nil || common.SecretKey(s.Name) != string(kv.Key) {
		return stored{}, common.Errorf(common.CodeInternal, "damaged secret in etcd: %s",
			common.Excerpt(string(kv.Key))).WithCause(err).WithHint("delete it and create it again")
	}
	s.Version = kv.ModRevision
	return s, nil
}

// Secrets returns all secrets by name, without their values and without damaged ones.
func (s *Store) Secrets(ctx context.Context) (all []common.Secret, err error) {
	_, err = etcdkit.Each(ctx, s.etcd.Client, common.SecretsPrefix, func(kv *mvccpb.KeyValue) error {
		if one, err := read(kv); err == nil {
			all = append(all, one.Secret)
		}
		return nil
	})
	return all, err
}

// Secret returns the description of a secret; CodeNotFound if there is none.
func (s *Store) Secret(ctx context.Context, name string) (common.Secret, error) {
	kv, err := etcdkit.Get(ctx, s.etcd.Client, common.SecretKey(name))
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
	return common.Errorf(common.CodeNotFound, "secret %q not found", common.Shorten(name))
}

// SaveSecret creates or changes a secret, if allowed returns no error for the existing one (nil if
// there is none).
func (s *Store) SaveSecret(ctx context.Context, actor common.Actor, name string, wanted common.SecretDefinition,
	pre common.Precondition,
	allowed func(*common.Secret) error) (common.Secret, bool, error) {
	if !common.ValidName(name) {
		return common.Secret{}, false, common.Invalid("the secret cannot be saved",
			common.NewFault("name", "name", name, "%s", common.NameRule))
	}
	var before, after stored
	revision, err := s.etcd.Update(ctx, "secret "+name, func(t *etcdkit.Txn) error {
		kv, err := etcdkit.Get(ctx, s.etcd.Client, common.SecretKey(name))
		if err != nil {
			return err
		}
		if before, err = s.check(kv, name, pre, allowed); err != nil {
			return err
		}
		if after, err = s.merge(&before, name, wanted); err != nil {
			return err
		}
		if kv != nil && wanted.Value == "" && reflect.DeepEqual(before, after) {
			return nil
		}
		verb, from := "replace", any(before.Secret)
		if kv == nil {
			if err := s.room(ctx); err != nil {
				return err
			}
			verb, from, after.CreatedAt = "create", nil, s.etcd.Now().UTC()
		}
		after.UpdatedAt, after.UpdatedBy = s.etcd.Now().UTC(), actor.Name
		if wanted.Value != "" {
			after.SetAt = after.UpdatedAt
		}
		etcdkit.Swap(t, common.SecretKey(name), kv, &after)
		// The entry contains the time at which the value was set, which shows that it changed, but not the value.
		t.Audit(actor, verb, "secret", name, from, after.Secret)
		return nil
	})
	if err != nil {
		return common.Secret{}, false, err
	}
	if revision == 0 {
		return before.Secret, false, nil
	}
	after.Version = revision
	return after.Secret, before.Version == 0, nil
}

// check decodes the existing secret and checks the precondition and allowed. A damaged secret may
// be replaced only by those who may change all secrets.
func (s *Store) check(kv *mvccpb.KeyValue, name string, pre common.Precondition,
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
	if err == nil {
		err = pre.Holds("secret "+name, version)
	}
	return before, err
}

// room returns an error if the number of secrets is at its limit.
func (s *Store) room(ctx context.Context) error {
	count, err := etcdkit.Count(ctx, s.etcd.Client, common.SecretsPrefix)
	if err == nil && count >= maxSecrets {
		err = common.Errorf(common.CodeConflict, "there are %d secrets, which is the limit", count)
	}
	return err
}

// merge returns the secret after a change.
func (s *Store) merge(before *stored, name string, wanted common.SecretDefinition) (after stored, err error) {
	if faults := wanted.Faults(before.Sealed != ""); len(faults) > 0 {
		return after, common.Invalid("the secret cannot be saved", faults...)
	}
	after = *before
	after.Name, after.Description, after.Groups = name, wanted.Description, nil
	if len(wanted.Groups) > 0 {
		after.Groups = slices.Sorted(slices.Values(wanted.Groups))
	}
	if wanted.Value == "" {
		return after, nil
	}
	if after.Sealed, err = s.box.Seal(common.SecretKey(name), []byte(wanted.Value)); err != nil {
		return after, common.Errorf(common.CodeConflict, "this master has no key to encrypt a secret").WithCause(err).
			WithHint("set secretsKey to the same value on all masters and workers; generate one with: " +
				"openssl rand -base64 32")
	}
	return after, nil
}

// DeleteSecret deletes a secret if allowed returns no error.
func (s *Store) DeleteSecret(ctx context.Context, actor common.Actor, name string, pre common.Precondition,
	allowed func(*common.Secret) error) error {
	key := common.SecretKey(name)
	_, err := s.etcd.Update(ctx, "secret "+common.Excerpt(name), func(t *etcdkit.Txn) error {
		kv, err := etcdkit.Get(ctx, s.etcd.Client, key)
		if err != nil {
			return err
		}
		if kv == nil {
			return notFound(name)
		}
		before, err := s.check(kv, name, pre, allowed)
		if err != nil {
			return err
		}
		t.If(etcdkit.Unchanged(key, kv.ModRevision))
		t.Delete(key)
		t.Audit(actor, "delete", "secret", name, before.Secret, nil)
		return nil
	})
	return err
}

// Faults returns the faults of a job's references to secrets: missing secrets, and those that its
// group may not use.
func (s *Store) Faults(ctx context.Context, job *common.Job) (faults []common.Fault, err error) {
	checked := map[string]common.Fault{} // by name of the secret
	check := func(at string, refs map[string]string) error {
		for _, variable := range slices.Sorted(maps.Keys(refs)) {
			name := refs[variable]
			if !common.ValidName(name) {
				continue // reported with the job's own faults
			}
			fault, done := checked[name]
			if !done {
				if fault, err = s.faultOf(ctx, name, job.Group); err != nil {
					return err
				}
				checked[name] = fault
			}
			if fault.Code != "" {
				fault.Location = at + common.SecretAt(variable)
				faults = append(faults, fault)
			}
		}
		return nil
	}
	if err := check("", job.SecretRefs()); err != nil {
		return nil, err
	}
	for i := range job.Steps {
		if err := check(fmt.Sprintf("steps[%d].", i), job.Steps[i].SecretRefs()); err != nil {
			return nil, err
		}
	}
	return faults, nil
}

// faultOf returns the fault of a reference to a secret; without a code if it has none.
func (s *Store) faultOf(ctx context.Context, name, group string) (common.Fault, error) {
	fault := common.Fault{Value: common.Excerpt(name)}
	one, err := s.Secret(ctx, name)
	switch {
	case err != nil && common.CodeOf(err) != common.CodeNotFound:
		return fault, err
	case err != nil || !one.ForGroup(group):
		// One answer for both: which secrets other groups have is not told.
		fault.Code, fault.Message = "unknown_secret", "jobs of this group have no such secret"
		fault.Hint = "create it first, or ask an admin to create it or to allow it for the group"
	}
	return fault, nil
}

// Reseal encrypts secrets again that are encrypted with an older key, so that the older key can be
// removed. It returns their number.
func (s *Store) Reseal(ctx context.Context, actor common.Actor) (n int, err error) {
	return etcdkit.Rewrite(ctx, &s.etcd, actor, "reseal", "secret", common.SecretsPrefix,
		func(kv *mvccpb.KeyValue) (string, *stored, error) {
			one, err := read(kv)
			if err != nil {
				return "", nil, err
			}
			sealed, fresh, err := s.box.Renew(string(kv.Key), one.Sealed)
			if err != nil {
				return "", nil, common.Errorf(common.CodeConflict, "secret %s cannot be decrypted: %v", one.Name, err).
					WithCause(err).WithHint("list the key that it was encrypted with after the new one")
			}
			if one.Sealed = sealed; !fresh {
				return "", nil, nil
			}
			return one.Name, &one, nil
		})
}
