package members

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

// Bounds of an operator's settings of a worker.
const (
	MaxSlots  = 100_000
	MaxWeight = 1000
	MaxNote   = 500 // characters
)

// Settings is the masters' access to the workers and the operator's settings of them. A worker is found by
// its id while it is registered or has settings, and by its name while it is the only registered worker of
// that name.
type Settings struct {
	etcd etcdkit.Store
}

// NewSettings returns a store of settings; now is the wall clock. changed is called after a change, which is
// then to be delivered.
func NewSettings(client *clientv3.Client, now func() time.Time, changed func()) *Settings {
	return &Settings{etcdkit.Store{Client: client, Now: now, Changed: changed}}
}

// Workers lists all workers by id: the registered ones with their settings, then those that only have
// settings, whose Lease is zero.
func (s *Settings) Workers(ctx context.Context) ([]common.Member, error) {
	seen, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	all := make([]common.Member, 0, len(seen.workers))
	registered := map[string]bool{}
	for _, kv := range seen.workers {
		if reg, readable := registrationOf(kv); readable {
			registered[reg.Worker] = true
			settings, _ := settingsOf(seen.settings[reg.Worker])
			all = append(all, common.Member{Registration: reg, Settings: settings})
		}
	}
	for _, id := range seen.ids {
		if settings, readable := settingsOf(seen.settings[id]); readable && !registered[id] {
			all = append(all, common.Member{
				Registration: common.Registration{Life: common.Life{Worker: id}},
				Settings:     settings,
			})
		}
	}
	return all, nil
}

// Get reads the settings of a worker; a worker without settings has the zero value.
func (s *Settings) Get(ctx context.Context, worker string) (common.WorkerSettings, error) {
	seen, err := s.read(ctx)
	if err != nil {
		return common.WorkerSettings{}, err
	}
	id, _, err := seen.find(worker)
	if err != nil {
		return common.WorkerSettings{}, err
	}
	settings, readable := settingsOf(seen.settings[id])
	if !readable {
		return common.WorkerSettings{}, common.Errorf(common.CodeInternal,
			"the settings of worker %s are damaged in etcd", common.Excerpt(worker)).WithHint("set them again")
	}
	return settings, nil
}

// UpdateWorker changes the settings of a worker and returns the result. The function receives the present settings,
// empty if they are damaged, and is called again after a conflict; its error is returned. Empty settings are
// removed.
func (s *Settings) UpdateWorker(ctx context.Context, actor common.Actor, worker string,
	change func(*common.WorkerSettings) error) (common.WorkerSettings, error) {
	var after common.WorkerSettings
	_, err := s.etcd.Update(ctx, "the settings of worker "+common.Excerpt(worker), func(t *etcdkit.Txn) error {
		seen, err := s.read(ctx)
		if err != nil {
			return err
		}
		id, cmps, err := seen.find(worker)
		if err != nil {
			return err
		}
		kv := seen.settings[id]
		before, readable := settingsOf(kv)
		after = before
		after.Labels = maps.Clone(before.Labels)
		if err := change(&after); err != nil {
			return err
		}
		if faults := settingsFaults(&after); len(faults) > 0 {
			return common.Invalid("the settings cannot be saved", faults...)
		}
		after.UpdatedAt, after.UpdatedBy = before.UpdatedAt, before.UpdatedBy
		after.DrainedAt, after.DrainedBy = before.DrainedAt, before.DrainedBy
		if readable && reflect.DeepEqual(before, after) {
			return nil
		}
		after.UpdatedAt, after.UpdatedBy = s.etcd.Now().UTC(), actor.Name
		switch {
		case !after.Drain:
			after.DrainedAt, after.DrainedBy = time.Time{}, ""
		case !before.Drain || after.DrainNote != before.DrainNote:
			after.DrainedAt, after.DrainedBy = after.UpdatedAt, actor.Name
		}
		t.If(cmps...)
		writeSettings(t, actor, id, kv, before, &after)
		return nil
	})
	if err != nil {
		return common.WorkerSettings{}, err
	}
	return after, nil
}

// DeleteSettings deletes the settings of a worker that is not registered: CodeNotFound if there are none, CodeConflict
// if the worker is registered.
func (s *Settings) DeleteSettings(ctx context.Context, actor common.Actor, worker string) error {
	_, err := s.etcd.Update(ctx, "the settings of worker "+common.Excerpt(worker), func(t *etcdkit.Txn) error {
		seen, err := s.read(ctx)
		if err != nil {
			return err
		}
		id, cmps, err := seen.find(worker)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(seen.workers, func(kv *mvccpb.KeyValue) bool {
			return string(kv.Key) == common.WorkerKey(id)
		}) {
			return common.Errorf(common.CodeConflict, "worker %s is alive", common.Excerpt(worker)).
				WithReason("worker_alive").WithHint("undrain it and reset its settings instead, or stop it first")
		}
		var before any // the settings may be unreadable
		if settings, readable := settingsOf(seen.settings[id]); readable {
			before = settings
		}
		t.If(etcdkit.Absent(common.WorkerKey(id)))
		t.If(cmps...)
		t.Delete(common.WorkerSettingsKey(id))
		t.Audit(actor, "delete", "worker", id, before, nil)
		return nil
	})
	return err
}

// writeSettings adds the write or deletion of the settings, with its audit entry. after becomes zero if
// nothing is left.
func writeSettings(t *etcdkit.Txn, actor common.Actor, id string, kv *mvccpb.KeyValue, before common.WorkerSettings,
	after *common.WorkerSettings) {
	said := *after
	said.UpdatedAt, said.UpdatedBy = time.Time{}, ""
	var from, to any
	var held []byte
	if kv != nil {
		from, held = before, kv.Value
	}
	key := common.WorkerSettingsKey(id)
	if reflect.ValueOf(said).IsZero() && !common.HoldsUnknown[common.WorkerSettings](held) {
		*after = said
		t.Delete(key)
	} else {
		etcdkit.Swap(t, key, kv, after)
		to = after
	}
	t.Audit(actor, "replace", "worker", id, from, to)
}

// seen holds the values that a change of settings is decided on.
type seen struct {
	workers  []*mvccpb.KeyValue
	settings map[string]*mvccpb.KeyValue
	ids      []string // of the settings, in order
}

func (s *Settings) read(ctx context.Context) (seen, error) {
	results, err := etcdkit.Read(ctx, s.etcd.Client, clientv3.OpGet(common.WorkersPrefix, clientv3.WithPrefix()),
		clientv3.OpGet(common.WorkerSettingsPrefix, clientv3.WithPrefix()))
	if err != nil {
		return seen{}, err
	}
	found := seen{workers: results[0].Kvs, settings: map[string]*mvccpb.KeyValue{}}
	for _, kv := range results[1].Kvs {
		id := string(kv.Key[len(common.WorkerSettingsPrefix):])
		found.settings[id] = kv
		found.ids = append(found.ids, id)
	}
	return found, nil
}

// find returns the id of a worker, and the compares that hold as long as the name refers to it and its
// settings are unchanged.
func (s seen) find(worker string) (id string, cmps []clientv3.Cmp, err error) {
	var byID, byName *mvccpb.KeyValue
	named := 0
	for _, kv := range s.workers {
		reg, readable := registrationOf(kv)
		if string(kv.Key) == common.WorkerKey(worker) {
			byID = kv
		} else if readable && reg.Name == worker {
			byName = kv
			named++
		}
	}
	kv := s.settings[worker]
	switch {
	case kv != nil:
		return worker, []clientv3.Cmp{etcdkit.Unchanged(string(kv.Key), kv.ModRevision)}, nil
	case byID != nil:
		id = worker
	case named > 1:
		return "", nil, common.Errorf(common.CodeConflict, "%d workers are named %s", named, common.Excerpt(worker)).
			WithReason("named_alike").With("count", named).WithHint("give the id of the one you mean")
	case named == 1:
		id, byID = string(byName.Key[len(common.WorkersPrefix):]), byName
		kv = s.settings[id]
	default:
		return "", nil, common.Errorf(common.CodeNotFound, "there is no worker %s", common.Excerpt(worker))
	}
	cmps = []clientv3.Cmp{etcdkit.Same(string(byID.Key), byID.CreateRevision),
		etcdkit.Absent(common.WorkerSettingsKey(id))}
	if kv != nil {
		cmps[1] = etcdkit.Unchanged(string(kv.Key), kv.ModRevision)
	}
	return id, cmps, nil
}

// registrationOf decodes a registration; readable is false if it does not match its key.
func registrationOf(kv *mvccpb.KeyValue) (reg common.Registration, readable bool) {
	reg, err := common.Decode[common.Registration](kv.Value)
	return reg, err == nil && common.WorkerKey(reg.Worker) == string(kv.Key)
}

// settingsOf decodes settings; absent settings are zero.
func settingsOf(kv *mvccpb.KeyValue) (settings common.WorkerSettings, readable bool) {
	if kv == nil {
		return common.WorkerSettings{}, true
	}
	settings, err := common.Decode[common.WorkerSettings](kv.Value)
	if err != nil {
		return common.WorkerSettings{}, false
	}
	return settings, true
}

func settingsFaults(s *common.WorkerSettings) common.Faults {
	faults := common.LabelFaults(s.Labels)
	within := func(location string, value *int, most int) {
		if value != nil && (*value < 0 || *value > most) {
			faults.Add(location, "range", *value, "must be from 0 to %d", most)
		}
	}
	within("slots", s.Slots, MaxSlots)
	within("weight", s.Weight, MaxWeight)
	if utf8.RuneCountInString(s.DrainNote) > MaxNote {
		faults.Add("drainNote", "too_long", nil, "must be at most %d characters", MaxNote)
	}
	if !utf8.ValidString(s.DrainNote) || strings.ContainsFunc(s.DrainNote, func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t'
	}) {
		faults.Add("drainNote", "control", s.DrainNote, "must be UTF-8 text without control characters")
	}
	return faults
}
