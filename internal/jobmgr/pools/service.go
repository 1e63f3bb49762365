package pools

import (
	"context"
	"strings"
	"sync"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/jobmgr/catalog"
)

// Catalog is the copy of all jobs.
type Catalog interface {
	Pooled(ctx context.Context) []*catalog.Entry
	Cursors(ctx context.Context, jobs []string) (map[string]time.Time, error)
	Referring(ctx context.Context, kind common.Referent, object string, most int) []string
	// Expect makes Referring wait until it has received a revision.
	Expect(revision int64)
}

// Service manages pools.
type Service struct {
	etcd    etcdkit.Store
	catalog Catalog

	mu     sync.Mutex // held while the states are read
	states map[string]*common.PoolState
	read   time.Time
}

// New returns a service. changed is called after a change, which is then to be delivered; it may be nil.
func New(client *clientv3.Client, now func() time.Time, changed func(), catalog Catalog) *Service {
	return &Service{
		etcd:    etcdkit.Store{Client: client, Now: now, Changed: changed, Batch: etcdkit.NewBatch(client)},
		catalog: catalog,
	}
}

// poolOf decodes a pool and checks that it belongs to its key.
func poolOf(kv *mvccpb.KeyValue) (common.Pool, error) {
	p, err := common.Decode[common.Pool](kv.Value)
	if err != nil || common.PoolKey(p.Name) != string(kv.Key) {
		return common.Pool{}, common.Errorf(common.CodeInternal, "damaged pool in etcd: %s",
			common.Excerpt(string(kv.Key))).WithCause(err).WithHint("save it again")
	}
	p.Version = kv.ModRevision
	return p, nil
}

func notFound(name string) error {
	return common.Errorf(common.CodeNotFound, "pool %q not found", common.Shorten(name))
}

// Save creates or changes a pool and returns it. allow returns why the caller may not change a pool of a group.
func (s *Service) Save(ctx context.Context, actor common.Actor, name string, wanted common.PoolDefinition,
	pre common.Precondition, allow func(group string) error) (pool common.Pool, created bool, err error) {
	faults := wanted.Faults()
	if !common.ValidName(name) {
		faults.Add("name", "name", name, "%s", common.NameRule)
	}
	if len(faults) > 0 {
		return pool, false, common.Invalid("the pool cannot be saved", faults...)
	}
	var before common.Pool
	revision, err := s.etcd.Update(ctx, "pool "+name, func(t *etcdkit.Txn) error {
		kv, err := etcdkit.Get(ctx, s.etcd.Client, common.PoolKey(name))
		if err != nil {
			return err
		}
		if before, err = s.before(ctx, kv, allow); err != nil {
			return err
		}
		if err := pre.Holds("pool "+name, before.Version); err != nil {
			return err
		}
		if err := allow(wanted.Group); err != nil {
			return err
		}
		pool = before
		if pool.Name, pool.Slots, pool.Group = name, wanted.Slots, wanted.Group; before == pool {
			return nil
		}
		now := s.etcd.Now().UTC()
		if before.Version == 0 {
			pool.CreatedAt = now
		}
		pool.UpdatedAt, pool.UpdatedBy = now, actor.Name
		verb, from := "create", any(nil)
		if before.Version != 0 {
			verb, from = "replace", before
		}
		etcdkit.Swap(t, common.PoolKey(name), kv, &pool)
		t.Audit(actor, verb, "pool", name, from, pool)
		return nil
	})
	switch {
	case err != nil:
		return common.Pool{}, false, err
	case revision == 0:
		return before, false, nil
	}
	pool.Version = revision
	s.forget()
	return pool, before.Version == 0, nil
}

// before returns the pool before a change; the zero value if there is none.
func (s *Service) before(ctx context.Context, kv *mvccpb.KeyValue,
	allow func(group string) error) (common.Pool, error) {
	if kv != nil {
		p, err := poolOf(kv)
		if err != nil {
			return common.Pool{Version: kv.ModRevision}, nil //nolint:nilerr // it is replaced
		}
		return p, allow(p.Group)
	}
	count, err := etcdkit.Count(ctx, s.etcd.Client, common.PoolsPrefix)
	if err == nil && count >= common.MaxPools {
		err = common.Errorf(common.CodeConflict, "there are %d pools, which is the limit", count)
	}
	return common.Pool{}, err
}

// mostNamed bounds the jobs that a refusal names.
const mostNamed = 10

// Delete deletes a pool that no job uses. Runs that have slots of it keep them.
func (s *Service) Delete(ctx context.Context, actor common.Actor, name string, pre common.Precondition,
	allow func(group string) error) error {
	_, err := s.etcd.Update(ctx, "pool "+common.Excerpt(name), func(t *etcdkit.Txn) error {
		key, users := common.PoolKey(name), common.PoolUsersKey(name)
		read, err := etcdkit.Read(ctx, s.etcd.Client, clientv3.OpGet(key), clientv3.OpGet(users))
		if err != nil {
			return err
		}
		if len(read[0].Kvs) == 0 {
			return notFound(name)
		}
		kv, last := read[0].Kvs[0], int64(0)
		if err := pre.Holds("pool "+name, kv.ModRevision); err != nil {
			return err
		}
		before, err := poolOf(kv)
		if err == nil {
			err = allow(before.Group)
		} else { // it is unreadable
			before, err = common.Pool{Name: name}, allow("")
		}
		if err != nil {
			return err
		}
		if len(read[1].Kvs) > 0 {
			last = read[1].Kvs[0].ModRevision
			s.catalog.Expect(last) // a later save changes the key
		}
		if jobs := s.catalog.Referring(ctx, common.ReferentPool, name, mostNamed+1); len(jobs) > 0 {
			return inUse(name, jobs)
		}
		t.If(etcdkit.Unchanged(key, kv.ModRevision), etcdkit.Unchanged(users, last))
		t.Delete(key, users)
		t.Audit(actor, "delete", "pool", name, before, nil)
		return nil
	})
	s.forget()
	return err
}

// inUse returns the error of a pool that jobs use.
func inUse(name string, jobs []string) error {
	listed, more := jobs, ""
	if len(jobs) > mostNamed {
		listed, more = jobs[:mostNamed], " and others"
	}
	var text strings.Builder
	for i, job := range listed {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(job)
	}
	return common.Errorf(common.CodeConflict, "pool %q is used by jobs: %s%s", name, text.String(), more).
		WithReason("pool_in_use").With("pool", name, "jobs", text.String()+more).
		WithHint("remove pool from these jobs, or give them another one")
}
