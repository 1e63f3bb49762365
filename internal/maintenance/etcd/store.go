// Package etcd stores maintenance windows in etcd, and follows them.
package etcd

import (
	"context"
	"reflect"
	"slices"
	"time"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/maintenance"
)

// Store stores windows.
type Store struct {
	etcd etcdkit.Store
}

// New returns a store; now is the wall clock. changed is called after a change, whose audit entry is then to be
// delivered.
func New(client *clientv3.Client, now func() time.Time, changed func()) *Store {
	return &Store{etcdkit.Store{Client: client, Now: now, Changed: changed}}
}

// windowOf decodes a window and checks that it belongs to its key.
func windowOf(kv *mvccpb.KeyValue) (maintenance.Window, error) {
	w, err := common.Decode[maintenance.Window](kv.Value)
	if err != nil || common.WindowKey(w.Name) != string(kv.Key) {
		return maintenance.Window{}, common.Errorf(common.CodeInternal, "damaged maintenance window in etcd: %s",
			common.Excerpt(string(kv.Key))).WithCause(err).WithHint("delete it and create it again")
	}
	w.Version = kv.ModRevision
	return w, nil
}

// Windows returns all windows by name, without damaged ones.
func (s *Store) Windows(ctx context.Context) (all []maintenance.Window, err error) {
	_, err = etcdkit.Each(ctx, s.etcd.Client, common.WindowsPrefix, func(kv *mvccpb.KeyValue) error {
		if w, err := windowOf(kv); err == nil {
			all = append(all, w)
		}
		return nil
	})
	return all, err
}

// Find returns a window; CodeNotFound if there is none.
func (s *Store) Find(ctx context.Context, name string) (maintenance.Window, error) {
	kv, err := etcdkit.Get(ctx, s.etcd.Client, common.WindowKey(name))
	if err != nil {
		return maintenance.Window{}, err
	}
	if kv == nil {
		return maintenance.Window{}, notFound(name)
	}
	return windowOf(kv)
}

func notFound(name string) error {
	return common.Errorf(common.CodeNotFound, "maintenance window %q not found", common.Shorten(name))
}

// Save creates or changes a window and returns it. allowed is called with the window as it was, if there was one, and
// as it is to be; its error is returned. A window that begins in the past is refused, unless it did before: fires that
// have run cannot be held. Windows that ended long ago are deleted.
func (s *Store) Save(ctx context.Context, actor common.Actor, name string, wanted maintenance.WindowDefinition,
	pre common.Precondition, allowed func(before, after *maintenance.Window) error) (w maintenance.Window, created bool,
	err error) {
	if !common.ValidName(name) {
		return w, false, common.Invalid("the window cannot be saved",
			common.NewFault("name", "name", name, "%s", common.NameRule))
	}
	var before maintenance.Window
	revision, err := s.etcd.Update(ctx, "maintenance window "+name, func(t *etcdkit.Txn) error {
		now := s.etcd.Now()
		kv, err := etcdkit.Get(ctx, s.etcd.Client, common.WindowKey(name))
		if err != nil {
			return err
		}
		before = maintenance.Window{}
		if kv != nil {
			if before, err = windowOf(kv); err != nil {
				return err
			}
		}
		if err := pre.Holds("maintenance window "+name, before.Version); err != nil {
			return err
		}
		w = before
		w.Name, w.WindowDefinition = name, wanted
		w.Groups, w.Workers = slices.Clone(wanted.Groups), slices.Clone(wanted.Workers)
		if kv != nil && w.From == nil && !w.Recurs() {
			w.From = before.From
		}
		w.Fill(now)
		faults := w.Faults()
		if len(faults) == 0 && !w.Recurs() && w.From.Before(now.Add(-time.Minute)) &&
			(before.From == nil || !w.From.Equal(*before.From)) {
			faults.Add("from", "past", w.From.Format(time.RFC3339), "must not be in the past")
		}
		if len(faults) > 0 {
			return common.Invalid("the window cannot be saved", faults...)
		}
		if err := allowed(existing(&before), &w); err != nil || kv != nil && reflect.DeepEqual(before, w) {
			return err
		}
		if kv == nil {
			if err := s.room(ctx, t, now); err != nil {
				return err
			}
			w.CreatedAt = now.UTC()
		}
		w.UpdatedAt, w.UpdatedBy = now.UTC(), actor.Name
		verb := "replace"
		if kv == nil {
			verb = "create"
		}
		etcdkit.Swap(t, common.WindowKey(name), kv, &w)
		t.Audit(actor, verb, "maintenance", name, shown(&before), shown(&w))
		return nil
	})
	switch {
	case err != nil:
		return maintenance.Window{}, false, err
	case revision == 0:
		return before, false, nil
	}
	w.Version = revision
	return w, before.Version == 0, nil
}

func existing(w *maintenance.Window) *maintenance.Window {
	if w.Version == 0 {
		return nil
	}
	return w
}

// shown returns a window for the audit.
func shown(w *maintenance.Window) any {
	if w.Name == "" {
		return nil
	}
	return *w
}

// room deletes the windows that ended long ago, and returns an error if there are too many others.
func (s *Store) room(ctx context.Context, t *etcdkit.Txn, now time.Time) error {
	all, err := s.Windows(ctx)
	if err != nil {
		return err
	}
	left := len(all)
	for i := range all {
		if all[i].Over(now.Add(-maintenance.Kept)) {
			t.Delete(common.WindowKey(all[i].Name))
			left--
		}
	}
	if left >= maintenance.MaxWindows {
		return common.Errorf(common.CodeConflict, "there are %d maintenance windows, which is the limit", left)
	}
	return nil
}

// Delete deletes a window: what waited for its end is no longer held, and what was planned within it and not yet
// skipped runs, or is late. allowed is called with the window; its error is returned.
func (s *Store) Delete(ctx context.Context, actor common.Actor, name string, pre common.Precondition,
	allowed func(before, after *maintenance.Window) error) error {
	key := common.WindowKey(name)
	_, err := s.etcd.Update(ctx, "maintenance window "+common.Excerpt(name), func(t *etcdkit.Txn) error {
		kv, err := etcdkit.Get(ctx, s.etcd.Client, key)
		if err != nil {
			return err
		}
		if kv == nil {
			return notFound(name)
		}
		before, damaged := windowOf(kv) // a damaged one can be deleted by those who may change any
		if err := pre.Holds("maintenance window "+name, kv.ModRevision); err != nil {
			return err
		}
		if damaged != nil {
			before = maintenance.Window{Name: name, WindowDefinition: maintenance.WindowDefinition{Everything: true}}
		}
		if err := allowed(&before, nil); err != nil {
			return err
		}
		t.If(etcdkit.Unchanged(key, kv.ModRevision))
		t.Delete(key)
		t.Audit(actor, "delete", "maintenance", name, shown(&before), nil)
		return nil
	})
	return err
}
