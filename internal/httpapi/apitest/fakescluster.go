package apitest

import (
	"context"
	"slices"
	"time"

	"carillon/internal/common"
	"carillon/internal/health"
)

func (f *Fakes) Workers(context.Context) ([]common.Member, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	all := slices.Clone(f.WorkerList)
	for i := range all {
		all[i].Settings = f.Settings[all[i].Worker]
	}
	return all, nil
}

func (f *Fakes) UpdateWorker(_ context.Context, actor common.Actor, id string,
	change func(*common.WorkerSettings) error) (common.WorkerSettings, error) {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	set := f.Settings[id]
	if err := change(&set); err != nil {
		return common.WorkerSettings{}, err
	}
	set.UpdatedBy, set.UpdatedAt = actor.Name, time.Now()
	f.Settings[id] = set
	return set, nil
}

// DeleteSettings deletes the settings of a worker that is not alive.
func (f *Fakes) DeleteSettings(_ context.Context, actor common.Actor, id string) error {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	if _, known := f.Settings[id]; !known {
		return common.Errorf(common.CodeNotFound, "there is no worker %s", id)
	}
	delete(f.Settings, id)
	f.Actors = append(f.Actors, actor)
	return f.Fail
}

// Types lists a plug-in beside the types that are built in.
func (f *Fakes) Types(context.Context) ([]common.TypeInfo, error) {
	return []common.TypeInfo{
		{Name: "http", Version: "1", BuiltIn: true, With: []byte(`{"type":"object"}`)},
		{Name: "shell", Version: "1", BuiltIn: true},
		{
			Name:    "sql",
			Version: "1.2.0",
			Title:   map[string]string{"en": "SQL statement"},
			With:    []byte(`{"type":"object","properties":{"dsn":{"type":"string","x-secret":true}}}`),
			Outputs: []string{"rows"},
			Workers: []common.TypeWorker{{ID: "w1", Name: "north", Version: "1.2.0"}},
		},
	}, nil
}

// Warnings remarks on types that no worker has.
func (f *Fakes) Warnings(_ context.Context, job *common.Job) (all common.Faults, err error) {
	if job.IsTyped() && job.Type != "http" && job.Type != "sql" {
		all.Add("type", "unknown_type", job.Type, "no live worker has the type: fires are missed until one has")
	}
	return all, nil
}

func (f *Fakes) Ready(context.Context) []health.Check {
	return []health.Check{{Name: "etcd", OK: !f.Unready, Needed: true}, {Name: "log_store", OK: !f.StoreOff}}
}

func (f *Fakes) Conditions() []common.Condition { return f.Lasting }

func (f *Fakes) Overview(context.Context) (health.Overview, error) {
	o := health.Overview{Jobs: health.JobCounts{Total: len(f.Jobs)}, LogStore: health.StoreOK, Degraded: f.Lasting}
	if !f.Unready {
		o.Running = new(int64(3))
	}
	if f.StoreOff {
		o.LogStore = health.StoreAway
	}
	return o, nil
}

func (f *Fakes) Masters(context.Context) ([]health.Master, error) {
	if f.Unready {
		return nil, common.Errorf(common.CodeUnavailable, "not yet")
	}
	return []health.Master{{
		ID:         "m1",
		Host:       "box",
		Address:    "10.0.0.7:7070",
		Version:    "0.1.0",
		StartedAt:  Midnight,
		Clock:      Midnight,
		LeadsSince: new(Midnight),
		Answers:    true,
	},
		{ID: "m2", Host: "older", Version: "0.0.9", Clock: Midnight, SkewMs: -20}}, nil
}

// Examine finds what is said of degraded modes.
func (f *Fakes) Examine(context.Context) health.Examination {
	e := health.Examination{At: Midnight, Master: "host-m", Version: "1.2", Records: f.Records}
	for _, c := range f.Lasting {
		e.Findings = append(e.Findings, health.Finding{
			Check:  c.Code,
			Status: health.FindingWarning,
			Who:    c.Who,
			Text:   c.Text,
			Advice: "do something",
			Data:   c.Data,
		})
	}
	e.Status = health.Worst(e.Findings)
	return e
}

// DeleteRecord deletes a value that Examine lists.
func (f *Fakes) DeleteRecord(_ context.Context, actor common.Actor, key string, revision int64) error {
	f.Actors = append(f.Actors, actor)
	kept := slices.DeleteFunc(slices.Clone(f.Records), func(r health.Record) bool {
		return r.Key == key && r.Revision == revision
	})
	if len(kept) == len(f.Records) {
		return common.Errorf(common.CodeNotFound, "key %q not found", key)
	}
	f.Records = kept
	return f.Fail
}
