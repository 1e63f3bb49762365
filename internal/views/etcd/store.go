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
)

// Maximum numbers of views.
const (
	maxOwn    = 50
	maxShared = 200
)

// Store stores views.
type Store struct {
	etcd etcdkit.Store
}

// New returns a store; now is the wall clock. changed is called after a change, which adds an audit entry to deliver.
func New(client *clientv3.Client, now func() time.Time, changed func()) *Store {
	return &Store{etcd: etcdkit.Store{Client: client, Now: now, Changed: changed}}
}

// read decodes a view and checks that it belongs to its key.
func read(kv *mvccpb.KeyValue, owner string) (common.View, error) {
	v, err := common.Decode[common.View](kv.Value)
	if err != nil || common.ViewKey(owner, v.ID) != string(kv.Key) {
		return common.View{}, common.Errorf(common.CodeInternal, "damaged view in etcd: %s",
			common.Excerpt(string(kv.Key))).WithCause(err).WithHint("delete it and save it again")
	}
	v.Version, v.Shared = kv.ModRevision, owner == common.SharedViews
	return v, nil
}

// Views returns the views of an owner and the shared ones, by name, without damaged ones.
func (s *Store) Views(ctx context.Context, owner string) (all []common.View, err error) {
	for _, one := range []string{owner, common.SharedViews} {
		_, err := etcdkit.Each(ctx, s.etcd.Client, common.ViewsOf(one), func(kv *mvccpb.KeyValue) error {
			if v, err := read(kv, one); err == nil {
				all = append(all, v)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(a, b common.View) int {
		return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name))
	})
	return all, nil
}

// SaveView creates or changes a view of the owner, which may be common.SharedViews. created reports that there was
// none of this id.
func (s *Store) SaveView(ctx context.Context, actor common.Actor, owner, id string, wanted common.ViewDefinition,
	pre common.Precondition) (saved common.View, created bool, err error) {
	if faults := wanted.Faults(); len(faults) > 0 {
		return common.View{}, false, common.Invalid("the view cannot be saved", faults...)
	}
	key := common.ViewKey(owner, id)
	var before, after common.View
	revision, err := s.etcd.Update(ctx, "view "+id, func(t *etcdkit.Txn) error {
		kv, err := etcdkit.Get(ctx, s.etcd.Client, key)
		if err != nil {
			return err
		}
		if before, err = s.check(ctx, kv, owner, id, pre); err != nil {
			return err
		}
		after = before
		after.ID, after.Name, after.Query = id, strings.TrimSpace(wanted.Name), wanted.Query
		if kv != nil && after == before {
			return nil
		}
		verb, from := "replace", any(before)
		if kv == nil {
			verb, from, after.CreatedAt = "create", nil, s.etcd.Now().UTC()
		}
		after.UpdatedAt, after.UpdatedBy = s.etcd.Now().UTC(), actor.Name
		etcdkit.Swap(t, key, kv, &after)
		t.Audit(actor, verb, "view", id, from, after)
		return nil
	})
	if err != nil {
		return common.View{}, false, err
	}
	if revision == 0 {
		return before, false, nil
	}
	after.Version, after.Shared = revision, owner == common.SharedViews
	return after, before.Version == 0, nil
}

// check decodes the existing view, and checks the precondition and, for a new one, that there is room.
func (s *Store) check(ctx context.Context, kv *mvccpb.KeyValue, owner, id string, pre common.Precondition,
) (before common.View, err error) {
	if kv != nil {
		if before, err = read(kv, owner); err != nil {
			before = common.View{ID: id, Version: kv.ModRevision, Shared: owner == common.SharedViews}
		}
		return before, pre.Holds("view "+id, kv.ModRevision)
	}
	if err := pre.Holds("view "+id, 0); err != nil {
		return before, err
	}
	count, err := etcdkit.Count(ctx, s.etcd.Client, common.ViewsOf(owner))
	most := int64(maxOwn)
	if owner == common.SharedViews {
		most = maxShared
	}
	if err == nil && int64(count) >= most {
		err = common.Errorf(common.CodeConflict, "there are %d views, which is the limit", count)
	}
	return before, err
}

// DeleteView deletes a view of the owner: CodeNotFound if there is none.
func (s *Store) DeleteView(ctx context.Context, actor common.Actor, owner, id string, pre common.Precondition) error {
	key := common.ViewKey(owner, id)
	_, err := s.etcd.Update(ctx, "view "+id, func(t *etcdkit.Txn) error {
		kv, err := etcdkit.Get(ctx, s.etcd.Client, key)
		if err != nil {
			return err
		}
		if kv == nil {
			return common.Errorf(common.CodeNotFound, "view %q not found", common.Shorten(id))
		}
		before, err := s.check(ctx, kv, owner, id, pre)
		if err != nil {
			return err
		}
		t.If(etcdkit.Unchanged(key, kv.ModRevision))
		t.Delete(key)
		t.Audit(actor, "delete", "view", id, before, nil)
		return nil
	})
	return err
}
