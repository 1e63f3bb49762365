package etcd

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/notify"
)

// raw writes a value that need not be JSON, and returns its revision.
func (r *rig) raw(key, value string) int64 {
	r.Helper()
	resp, err := r.etcd.Put(r.Context(), key, value)
	if err != nil {
		r.Fatal(err)
	}
	return resp.Header.Revision
}

// TestDoctor_ValueDoesNotDecode_IsListedWithoutTheValue shows that values of every kind are found, with their fault,
// and that nothing of a value is told.
func TestDoctor_ValueDoesNotDecode_IsListedWithoutTheValue(t *testing.T) {
	r := newRig(t)
	r.put(common.ChannelKey("good"), notify.Channel{Name: "good"})
	r.put(common.UserKey("ann"), access.UserRecord{Name: "ann"})
	r.examine("records", health.FindingOK)

	const hush = "hunter2-hush"
	for _, kind := range recordKinds {
		r.raw(kind.prefix+"some/"+hush[:2], `{"`+hush) // not JSON, and some are no keys either
	}
	r.erase(common.JobsPrefix + "some/" + hush[:2]) // a job's key is one name
	r.raw(common.JobKey("broken"), hush)
	r.put(common.JobKey("lost"), common.StoredJob{Job: common.Job{Name: "lost"}})
	for key, value := range map[string]string{
		common.SecretKey("db"):        `{"name":"` + hush + `"}`,
		common.WorkerSettingsKey("w"): `{"slots":"` + hush + `"}`,
		common.TokenKey("t"):          `{"id":"t","createdAt":"` + hush + `"}`,
		common.RecordKey("j", "r"):    `{"job":"j","run":"other"}`,
		common.OutboxKey("w", "r"):    `{"id":"r","status":"running"}`,
	} {
		r.raw(key, value)
	}
	want := map[string]health.RecordFault{
		common.JobKey("broken"):       health.RecordJSON,
		common.JobKey("lost"):         health.RecordCursor,
		common.SecretKey("db"):        health.RecordKey,
		common.WorkerSettingsKey("w"): health.RecordType,
		common.TokenKey("t"):          health.RecordValue,
		common.RecordKey("j", "r"):    health.RecordKey,
		common.OutboxKey("w", "r"):    health.RecordValue,
	}
	for _, kind := range recordKinds {
		if kind.name != kindJob {
			want[kind.prefix+"some/"+hush[:2]] = ""
		}
	}
	for deadline := time.Now().Add(time.Minute); len(r.state.cfg.Catalog.Bad()) != 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the catalog reports %v", r.state.cfg.Catalog.Bad())
		}
	}
	if f := r.examine("records", health.FindingWarning); !strings.Contains(f.Text, "job: 2") || f.Advice == "" {
		t.Errorf("%+v", f)
	}
	found := r.state.Examine(t.Context())
	for _, record := range found.Records {
		fault, expected := want[record.Key]
		if !expected || fault != "" && fault != record.Fault {
			t.Errorf("found %+v, want the fault %q", record, fault)
		}
		delete(want, record.Key)
		if record.Kind == "" || record.Size == 0 || record.Revision == 0 || record.Text == "" {
			t.Errorf("incomplete: %+v", record)
		}
	}
	if len(want) > 0 {
		t.Errorf("not found: %v", want)
	}
	if told, err := json.Marshal(found); err != nil || strings.Contains(string(told), hush) {
		t.Errorf("a value is told: %s, %v", told, err)
	}
}

// TestDeleteRecord shows what is deleted, with an audit entry, and what is refused.
func TestDeleteRecord(t *testing.T) {
	r := newRig(t)
	ann, changes := common.Actor{Name: "ann"}, 0
	r.state.cfg.Changed = func() { changes++ }
	held := func(key string) bool {
		t.Helper()
		resp, err := r.etcd.Get(t.Context(), key, clientv3.WithCountOnly())
		if err != nil {
			t.Fatal(err)
		}
		return resp.Count > 0
	}
	refused := func(key string, revision int64, code common.Code, reason string) {
		t.Helper()
		before := held(key)
		err := r.state.DeleteRecord(t.Context(), ann, key, revision)
		if e, ok := errors.AsType[*common.Error](err); !ok || e.Code != code || e.Reason != reason {
			t.Errorf("delete %s of revision %d: %v, want %s %s", key, revision, err, code, reason)
		}
		if held(key) != before || changes != 0 {
			t.Errorf("%s was deleted, or %d changes recorded", key, changes)
		}
	}
	const hush = `{"secret":"hunter2`
	for _, kind := range recordKinds {
		if key := kind.prefix + "some"; kind.advice != "" {
			refused(key, r.raw(key, hush), common.CodeConflict, "record_kept")
		}
	}
	for _, key := range []string{common.CursorKey("j"), common.LockKey("j", "r"), common.KillKey("w", "r"),
		common.WorkerKey("w"), common.ChangeKey("c"), common.AuditKey, common.LeaderKey, common.SessionKey("s"),
		common.PoolSlotsPrefix + "p/r", common.JobsPrefix, common.ChannelsPrefix, common.Root, "/other"} {
		refused(key, r.raw(key, hush), common.CodeConflict, "record_unknown")
	}
	good := r.raw(common.ChannelKey("good"), `{"name":"good"}`)
	refused(common.ChannelKey("good"), good, common.CodeConflict, "record_decodes")
	refused(common.ChannelKey("none"), good, common.CodeNotFound, "")
	for _, kind := range recordKinds {
		key := kind.prefix + "some"
		if kind.advice != "" {
			continue
		}
		old := r.raw(key, hush)
		now := r.raw(key, hush+"!")
		refused(key, old, common.CodeStale, "")
		refused(key, 0, common.CodeStale, "")
		if err := r.state.DeleteRecord(t.Context(), ann, key, now); err != nil || held(key) || changes != 1 {
			t.Errorf("delete %s: %v, %d changes", key, err, changes)
		}
		changes = 0
	}
	resp, err := r.etcd.Get(t.Context(), common.ChangesPrefix, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range resp.Kvs {
		change, err := common.Decode[common.Change](kv.Value)
		if string(kv.Key) == common.ChangeKey("c") {
			continue
		}
		if err != nil || change.Verb != "delete" || change.Kind != "record" || change.Actor != ann ||
			!strings.Contains(string(change.Before), `"fault":"json"`) || strings.Contains(string(kv.Value), "hunter2") {
			t.Errorf("audit entry %s, %v", kv.Value, err)
		}
	}
	if len(resp.Kvs) < 10 {
		t.Errorf("%d audit entries", len(resp.Kvs))
	}
}
