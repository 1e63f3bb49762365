package etcd

import (
	"context"
	"fmt"
	"reflect"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/hooks"
	"carillon/internal/secrets/crypt"
)

// Store stores hooks.
type Store struct {
	etcd etcdkit.Store
	box  *crypt.Box // nil: no key
}

// New returns a store; now is the wall clock. changed is called after a change, which adds an audit entry to deliver.
// Without a box no hook with a signature can be saved or called.
func New(client *clientv3.Client, box *crypt.Box, now func() time.Time, changed func()) *Store {
	return &Store{etcd: etcdkit.Store{Client: client, Now: now, Changed: changed}, box: box}
}

// read decodes a hook and checks that it belongs to its key.
func read(kv *mvccpb.KeyValue) (hooks.Hook, error) {
	h, err := common.Decode[hooks.Hook](kv.Value)
	if err != nil || common.HookKey(h.JobUID, h.Name) != string(kv.Key) {
		return hooks.Hook{}, common.Errorf(common.CodeInternal, "damaged hook in etcd: %s",
			common.Excerpt(string(kv.Key))).WithCause(err).WithHint("delete it and create it again")
	}
	h.Version = kv.ModRevision
	return h, nil
}

// Hooks returns the hooks of the job with a uid, by name, without damaged ones.
func (s *Store) Hooks(ctx context.Context, jobUID string) (all []hooks.Hook, err error) {
	if jobUID == "" {
		return nil, nil
	}
	_, err = etcdkit.Each(ctx, s.etcd.Client, common.HooksOf(jobUID), func(kv *mvccpb.KeyValue) error {
		if h, err := read(kv); err == nil {
			all = append(all, h)
		}
		return nil
	})
	return all, err
}

// Find returns the hook that a key opens, which may be disabled; CodeNotFound if there is none.
func (s *Store) Find(ctx context.Context, key hooks.Key) (hooks.Hook, error) {
	all, err := s.Hooks(ctx, key.JobUID)
	if err != nil {
		return hooks.Hook{}, err
	}
	for i := range all {
		if key.Opens(&all[i]) {
			return all[i], nil
		}
	}
	return hooks.Hook{}, common.Errorf(common.CodeNotFound, "not found")
}

// Secret returns the secret of a hook's signature; nil if it has none. The message of its error, which senders see,
// tells nothing of the hook: the cause does.
func (s *Store) Secret(h *hooks.Hook) ([]byte, error) {
	if h.Sealed == "" {
		return nil, nil
	}
	plain, err := s.box.Open(common.HookKey(h.JobUID, h.Name), h.Sealed)
	if err != nil {
		return nil, common.Errorf(common.CodeUnavailable, "deliveries cannot be checked at the moment").
			WithReason("hook_sealed").WithCause(fmt.Errorf("the secret of hook %q of job %q cannot be decrypted: add "+
			"the secretsKey that it was saved with to this master, or save the secret again: %w", h.Name, h.Job, err))
	}
	return plain, nil
}

// change is a change of a hook of a job.
type change struct {
	job  common.StoredJob
	kv   *mvccpb.KeyValue // nil: there is none of this name
	hook hooks.Hook       // as it was read; the zero value if it is damaged
}

// update changes the hook of a job, which must have the version of the precondition. decide adds the writes, with a
// compare of the hook's key.
func (s *Store) update(ctx context.Context, job, name string, pre common.Precondition,
	decide func(*etcdkit.Txn, *change) error) (revision int64, err error) {
	return s.etcd.Update(ctx, "hook "+common.Excerpt(name)+" of job "+common.Excerpt(job),
		func(t *etcdkit.Txn) error {
			kv, err := etcdkit.Get(ctx, s.etcd.Client, common.JobKey(job))
			if err != nil {
				return err
			}
			if kv == nil {
				return common.Errorf(common.CodeNotFound, "there is no job %q", common.Shorten(job))
			}
			if err := pre.Check(job, kv.ModRevision); err != nil {
				return err
			}
			c := &change{}
			if c.job, err = common.Decode[common.StoredJob](kv.Value); err != nil || c.job.UID == "" {
				return common.Errorf(common.CodeConflict, "job %q is damaged, or has no uid", job).WithCause(err).
					WithHint("save the job again")
			}
			if c.kv, err = etcdkit.Get(ctx, s.etcd.Client, common.HookKey(c.job.UID, name)); err != nil {
				return err
			}
			if c.kv != nil {
				c.hook, _ = read(c.kv) // a damaged one can be replaced, or deleted
			}
			t.If(etcdkit.Unchanged(common.JobKey(job), kv.ModRevision))
			return decide(t, c)
		})
}

func notFound(job, name string) error {
	return common.Errorf(common.CodeNotFound, "job %q has no hook %q", common.Shorten(job), common.Shorten(name))
}

// Create creates a hook of a job: CodeExists if there is one of this name.
func (s *Store) Create(ctx context.Context, actor common.Actor, job, name string, pre common.Precondition,
	wanted hooks.HookDefinition) (h hooks.Hook, shown hooks.Shown, err error) {
	if !common.ValidName(name) {
		return h, shown, common.Invalid("the hook cannot be saved",
			common.NewFault("name", "name", name, "%s", common.NameRule))
	}
	revision, err := s.update(ctx, job, name, pre, func(t *etcdkit.Txn, c *change) error {
		if c.kv != nil {
			return common.Errorf(common.CodeExists, "job %q already has a hook %q", job, name)
		}
		if c.job.Daemon != nil {
			return common.Errorf(common.CodeConflict, "job %q is a daemon: it runs all the time", job).
				WithReason("daemon")
		}
		if err := s.room(ctx, t, c.job.UID); err != nil {
			return err
		}
		now, key := s.etcd.Now().UTC(), hooks.NewKey(c.job.UID)
		h = hooks.Hook{ID: common.NewID(), Name: name, Job: job, JobUID: c.job.UID, Hash: key.Hash(), CreatedAt: now}
		if shown.Secret, err = s.define(&h, &c.job.Job, wanted); err != nil {
			return err
		}
		shown.Key = key.Reveal()
		h.UpdatedAt, h.UpdatedBy = now, actor.Name
		etcdkit.Swap(t, common.HookKey(h.JobUID, name), nil, &h)
		audit(t, actor, "create", nil, &h)
		return nil
	})
	if err != nil {
		return hooks.Hook{}, hooks.Shown{}, err
	}
	h.Version = revision
	return h, shown, nil
}

// room returns an error if the job has as many hooks as it may have.
func (s *Store) room(ctx context.Context, t *etcdkit.Txn, jobUID string) error {
	resp, err := etcdkit.Range(ctx, s.etcd.Client, common.HooksOf(jobUID), clientv3.WithPrefix(),
		clientv3.WithCountOnly())
	if err != nil {
		return err
	}
	if resp.Count >= hooks.MaxHooks {
		return common.Errorf(common.CodeConflict, "the job has %d hooks, which is the limit", resp.Count).
			WithReason("too_many_hooks").With("most", hooks.MaxHooks)
	}
	t.If(etcdkit.NoneNewer(common.HooksOf(jobUID), resp.Header.Revision))
	return nil
}

// define changes a hook as wanted. It returns the secret of the signature if it was generated.
func (s *Store) define(h *hooks.Hook, job *common.Job, wanted hooks.HookDefinition) (generated string, err error) {
	if faults := wanted.Faults(job); len(faults) > 0 {
		return "", common.Invalid("the hook cannot be saved", faults...)
	}
	wanted.Apply(h)
	secret := wanted.Secret
	switch {
	case wanted.Signature == "":
		h.Sealed = ""
		return "", nil
	case secret == "" && h.Sealed != "":
		return "", nil
	case secret == "":
		generated = access.NewSecret()
		secret = generated
	}
	return generated, s.seal(h, secret)
}

// seal encrypts the secret of a hook's signature.
func (s *Store) seal(h *hooks.Hook, secret string) (err error) {
	if h.Sealed, err = s.box.Seal(common.HookKey(h.JobUID, h.Name), []byte(secret)); err != nil {
		return common.Errorf(common.CodeConflict, "this master has no key to encrypt the secret of the signature").
			WithReason("no_secrets_key").WithCause(err).
			WithHint("set secretsKey to the same value on all masters; generate one with: openssl rand -base64 32")
	}
	return nil
}

// Change changes a hook of a version, 0 for any, and keeps its key: CodeNotFound if there is none.
func (s *Store) Change(ctx context.Context, actor common.Actor, job, name string, pre common.Precondition,
	version int64, wanted hooks.HookDefinition) (h hooks.Hook, shown hooks.Shown, err error) {
	revision, err := s.update(ctx, job, name, pre, func(t *etcdkit.Txn, c *change) error {
		if c.hook.ID == "" {
			return notFound(job, name)
		}
		if err := c.hook.Check(version); err != nil {
			return err
		}
		h = c.hook
		if shown.Secret, err = s.define(&h, &c.job.Job, wanted); err != nil {
			return err
		}
		if reflect.DeepEqual(h, c.hook) {
			return nil
		}
		s.put(t, actor, "replace", c, &h)
		return nil
	})
	return written(h, shown, revision, err)
}

// Rotate replaces the key of a hook: the previous one opens nothing from then on. With secret, it also replaces the
// secret of the signature by a generated one.
func (s *Store) Rotate(ctx context.Context, actor common.Actor, job, name string, pre common.Precondition,
	secret bool) (h hooks.Hook, shown hooks.Shown, err error) {
	revision, err := s.update(ctx, job, name, pre, func(t *etcdkit.Txn, c *change) error {
		if c.hook.ID == "" {
			return notFound(job, name)
		}
		h = c.hook
		key := hooks.NewKey(h.JobUID)
		shown.Key, h.Hash, h.RotatedAt = key.Reveal(), key.Hash(), s.etcd.Now().UTC()
		if secret && h.Signature != "" {
			shown.Secret = access.NewSecret()
			if err := s.seal(&h, shown.Secret); err != nil {
				return err
			}
		}
		s.put(t, actor, "rotate", c, &h)
		return nil
	})
	return written(h, shown, revision, err)
}

func written(h hooks.Hook, shown hooks.Shown, revision int64, err error) (hooks.Hook, hooks.Shown, error) {
	if err != nil {
		return hooks.Hook{}, hooks.Shown{}, err
	}
	if revision != 0 { // otherwise nothing has changed
		h.Version = revision
	}
	return h, shown, nil
}

// put adds the write of a changed hook.
func (s *Store) put(t *etcdkit.Txn, actor common.Actor, verb string, c *change, h *hooks.Hook) {
	h.UpdatedAt, h.UpdatedBy = s.etcd.Now().UTC(), actor.Name
	etcdkit.Swap(t, string(c.kv.Key), c.kv, h)
	audit(t, actor, verb, &c.hook, h)
}

// Delete deletes a hook: CodeNotFound if there is none.
func (s *Store) Delete(ctx context.Context, actor common.Actor, job, name string, pre common.Precondition) error {
	_, err := s.update(ctx, job, name, pre, func(t *etcdkit.Txn, c *change) error {
		if c.kv == nil {
			return notFound(job, name)
		}
		t.If(etcdkit.Unchanged(string(c.kv.Key), c.kv.ModRevision))
		t.Delete(string(c.kv.Key))
		c.hook.Name, c.hook.Job = name, job // of a damaged one
		audit(t, actor, "delete", &c.hook, nil)
		return nil
	})
	return err
}

// audit adds an audit entry without what authenticates deliveries.
func audit(t *etcdkit.Txn, actor common.Actor, verb string, before, after *hooks.Hook) {
	var from, to any
	var of *hooks.Hook
	if before != nil {
		from, of = before.Redacted(), before
	}
	if after != nil {
		to, of = after.Redacted(), after
	}
	t.Audit(actor, verb, "hook", of.Job+"/"+of.Name, from, to)
}

// Reseal encrypts secrets again that are encrypted with an older key, so that the older key can be removed. It returns
// their number.
func (s *Store) Reseal(ctx context.Context, actor common.Actor) (n int, err error) {
	return etcdkit.Rewrite(ctx, &s.etcd, actor, "reseal", "hook", common.HooksPrefix,
		func(kv *mvccpb.KeyValue) (string, *hooks.Hook, error) {
			h, err := read(kv)
			if err != nil || h.Sealed == "" {
				return "", nil, nil // a damaged hook is reported by the health checks
			}
			sealed, fresh, err := s.box.Renew(string(kv.Key), h.Sealed)
			if err != nil {
				return "", nil, common.Errorf(common.CodeConflict, "hook %s of job %s cannot be decrypted: %v", h.Name,
					h.Job, err).WithCause(err).WithHint("list the key that it was encrypted with after the new one")
			}
			if h.Sealed = sealed; !fresh {
				return "", nil, nil
			}
			return h.Job + "/" + h.Name, &h, nil
		})
}
