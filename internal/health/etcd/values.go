package etcd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.etcd.io/etcd/api/v3/mvccpb"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
	"carillon/internal/health"
	"carillon/internal/jobmgr/catalog"
)

const (
	// mostExamined bounds the values that are read under a prefix.
	mostExamined = 5000

	adviseRecords = "cronctl doctor lists them for admins, with the command that deletes each or how to proceed. If " +
		"a newer version wrote them, upgrade instead."
)

// errFull ends the reading of a prefix.
var errFull = errors.New("enough values read")

// undecodable lists the stored values that do not decode, at most health.MaxRecords, and returns the finding about
// them.
func (s *State) undecodable(ctx context.Context) ([]health.Finding, []health.Record) {
	found, partial, err := s.records(ctx)
	if err != nil {
		return []health.Finding{health.Fault(health.FindingUnknown, "records", "", "",
			"stored values cannot be read while etcd does not respond")}, found
	}
	if len(found) == 0 {
		return []health.Finding{health.OK("records", "", "no value in etcd that does not decode")}, nil
	}
	kinds := map[string]int{}
	for i := range found {
		kinds[found[i].Kind]++
	}
	parts := make([]string, 0, len(kinds))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s: %d", strings.ReplaceAll(kind, "_", " "), kinds[kind]))
	}
	text := common.Count(len(found), "value in etcd does not decode", "values in etcd do not decode")
	if partial {
		text = "at least " + text
	}
	return []health.Finding{health.Fault(health.FindingWarning, "records", "", adviseRecords, "%s (%s)", text,
		strings.Join(parts, ", "))}, found
}

// records reads the values of all kinds, and the jobs that the catalog could not read. partial reports that there are
// more values than are read, or more records than are returned.
func (s *State) records(ctx context.Context) (found []health.Record, partial bool, err error) {
	if found, err = s.badJobs(ctx); err != nil {
		return nil, false, err
	}
	for _, kind := range recordKinds {
		if kind.name == kindJob {
			continue
		}
		read := 0
		_, err := etcdkit.Each(ctx, s.cfg.Client, kind.prefix, func(kv *mvccpb.KeyValue) error {
			if read++; read > mostExamined {
				return errFull
			}
			if fault := kind.decode(kv); fault != nil {
				found = append(found, recordOf(&kind, kv, fault))
			}
			return nil
		})
		if partial = partial || errors.Is(err, errFull); err != nil && !errors.Is(err, errFull) {
			return found, partial, err
		}
	}
	if len(found) > health.MaxRecords {
		found, partial = found[:health.MaxRecords], true
	}
	return found, partial, nil
}

// badJobs returns the jobs that the catalog could not read and that still cannot be read.
func (s *State) badJobs(ctx context.Context) (found []health.Record, err error) {
	names := slices.Sorted(maps.Keys(s.cfg.Catalog.Bad()))
	names = names[:min(len(names), health.MaxRecords+1)]
	keys := make([]string, 0, 2*len(names))
	for _, name := range names {
		keys = append(keys, common.JobKey(name), common.CursorKey(name))
	}
	kvs, err := etcdkit.GetAll(ctx, s.cfg.Client, keys)
	if err != nil {
		return nil, err
	}
	held := map[string]*mvccpb.KeyValue{}
	for _, kv := range kvs {
		held[string(kv.Key)] = kv
	}
	for _, name := range names {
		job := held[common.JobKey(name)]
		if job == nil {
			continue
		}
		kind, _ := recordKindOf(string(job.Key))
		fault := kind.decode(job)
		if fault == nil {
			if _, err := catalog.Decode(job, held[common.CursorKey(name)]); err != nil {
				fault = errCursor
			}
		}
		if fault != nil {
			found = append(found, recordOf(kind, job, fault))
		}
	}
	return found, nil
}

// recordOf describes a value that does not decode.
func recordOf(kind *recordKind, kv *mvccpb.KeyValue, err error) health.Record {
	r := health.Record{
		Key:      string(kv.Key),
		Kind:     kind.name,
		Size:     len(kv.Value),
		Revision: kv.ModRevision,
		Advice:   kind.adviceFor(string(kv.Key)),
	}
	r.Fault, r.Text = faultOf(err)
	return r
}

// faultOf classifies the error of a decoder. The text of the error itself may quote the value.
func faultOf(err error) (fault health.RecordFault, text string) {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return health.RecordJSON, fmt.Sprintf("not JSON, at byte %d", syntax.Offset)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return health.RecordType, "another JSON type than expected"
		}
		return health.RecordType, fmt.Sprintf("the field %s has another JSON type than expected",
			common.Excerpt(wrong.Field))
	}
	switch {
	case errors.Is(err, errOtherKey):
		return health.RecordKey, "the value belongs to another key"
	case errors.Is(err, errCursor):
		return health.RecordCursor, "the cursor of the job is missing or invalid"
	}
	return health.RecordValue, "a field has an invalid value"
}

// DeleteRecord deletes a stored value that does not decode, if its last change is of the revision: CodeNotFound if the
// key does not exist, CodeStale if it has changed. It refuses values that decode, and those on which the outcome of a
// fire, a lock or a job depends.
func (s *State) DeleteRecord(ctx context.Context, actor common.Actor, key string, revision int64) error {
	kind, known := recordKindOf(key)
	if !known {
		return common.Errorf(common.CodeConflict, "no value under %s is deleted here", common.Excerpt(key)).
			WithReason("record_unknown").WithHint("cronctl doctor lists the values that do not decode, with their keys")
	}
	if advice := kind.adviceFor(key); advice != "" {
		return common.Errorf(common.CodeConflict, "a value of the kind %s is not deleted here", kind.name).
			WithReason("record_kept").With("kind", kind.name).WithHint(advice)
	}
	store := etcdkit.Store{Client: s.cfg.Client, Now: s.cfg.Now, Changed: s.cfg.Changed}
	_, err := store.Update(ctx, "record "+common.Excerpt(key), func(t *etcdkit.Txn) error {
		kv, err := etcdkit.Get(ctx, s.cfg.Client, key)
		if err != nil {
			return err
		}
		if kv == nil {
			return common.Errorf(common.CodeNotFound, "key %q not found", common.Shorten(key))
		}
		if kv.ModRevision != revision {
			return common.Errorf(common.CodeStale, "the value of %s has revision %d, not %d", common.Excerpt(key),
				kv.ModRevision, revision).WithHint("read it again: it was changed in the meantime")
		}
		fault := kind.decode(kv)
		if fault == nil {
			return common.Errorf(common.CodeConflict, "the value of %s decodes", common.Excerpt(key)).
				WithReason("record_decodes").WithHint("delete or change the object itself")
		}
		t.If(etcdkit.Unchanged(key, revision))
		t.Delete(key)
		if kind.with != nil {
			t.Delete(kind.with(strings.TrimPrefix(key, kind.prefix)))
		}
		t.Audit(actor, "delete", "record", key, recordOf(kind, kv, fault), nil)
		return nil
	})
	return err
}
