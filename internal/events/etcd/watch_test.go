package etcd_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit/etcdtest"
	"carillon/internal/events"
	eventsetcd "carillon/internal/events/etcd"
)

type world struct {
	*testing.T
	client *clientv3.Client
	source *eventsetcd.Source
}

func (w *world) encode(v any) string {
	w.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

func (w *world) commit(ops ...clientv3.Op) int64 {
	w.Helper()
	resp, err := w.client.Txn(w.Context()).Then(ops...).Commit()
	if err != nil {
		w.Fatal(err)
	}
	return resp.Header.Revision
}

// newSource returns a source that knows the flow f with the uid uf.
func newSource(client *clientv3.Client) *eventsetcd.Source {
	return eventsetcd.New(client, func(uid string) (string, bool) {
		name := map[string]string{"uf": "f"}[uid]
		return name, name != ""
	})
}

func (w *world) put(key string, v any) clientv3.Op { return clientv3.OpPut(key, w.encode(v)) }

// between returns the batches after one revision and up to another.
func (w *world) between(after, upto int64) (told []events.Batch) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	err := w.source.Watch(ctx, after, func(b events.Batch) {
		if len(b.Events) > 0 {
			told = append(told, b)
		}
		if b.Revision >= upto {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		w.Fatalf("the watch ended with %v", err)
	}
	return told
}

func TestWatch(t *testing.T) {
	client := etcdtest.Start(t)
	w := &world{T: t, client: client, source: newSource(client)}
	begin, err := w.source.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	job := common.StoredJob{
		Job: common.Job{
			Name:    "a",
			Group:   "g",
			Title:   "A",
			Command: "canary",
			Env:     map[string]string{"K": "canary"},
			Paused:  true,
		},
		UID: "u",
	}
	trigger := common.Trigger{
		ID:        "t1",
		Job:       "a",
		JobUID:    "u",
		Group:     "g",
		Fire:      "u.tt1",
		PlannedAt: noon,
		Attempt:   1,
		Cause:     common.CauseManual,
		Note:      "canary",
		Params:    map[string]string{"P": "canary"},
	}
	record := common.Record{
		Run:       trigger.RunID(),
		Job:       "a",
		JobUID:    "u",
		Group:     "g",
		Fire:      trigger.Fire,
		PlannedAt: noon,
		Attempt:   1,
		Cause:     common.CauseManual,
		Owner:     common.Life{Worker: "w1", Name: "bell"},
		ClaimedAt: noon,
		Note:      "canary",
	}
	outcome := record.AsRun(common.StatusFailed)
	outcome.ExitCode, outcome.EndedAt, outcome.Reason = new(7), new(noon), &common.Reason{Code: "exit", Text: "canary"}
	worker := common.Registration{Life: common.Life{Worker: "w1", Name: "bell"}, Running: 1, Used: 2}

	revisions := []int64{
		w.commit(w.put(common.JobKey("a"), job), w.put(common.CursorKey("a"), noon),
			w.put(common.ChangeKey("1"), "canary")),
		w.commit(w.put(common.TokenKey("x"), "canary"), w.put(common.SecretKey("x"), "canary")), // no events
		w.commit(w.put(common.TriggerKey("a", "t1"), trigger)),
		w.commit(clientv3.OpDelete(common.TriggerKey("a", "t1")), w.put(common.LockKey("a", "r"), 1),
			w.put(common.RecordKey("a", record.Run), record)),
		w.commit(clientv3.OpDelete(common.RecordKey("a", record.Run)),
			w.put(common.OutboxKey("w1", outcome.ID), outcome), w.put(common.LateKey("w1", outcome.ID), outcome)),
		w.commit(clientv3.OpDelete(common.OutboxKey("w1", outcome.ID))),
		w.commit(w.put(common.WorkerKey("w1"), worker)),
	}
	worker.Clock = noon
	w.commit(w.put(common.WorkerKey("w1"), worker)) // nothing new
	worker.Running = 2
	revisions = append(revisions, w.commit(w.put(common.WorkerKey("w1"), worker)),
		w.commit(w.put(common.WorkerSettingsKey("w1"), common.WorkerSettings{Drain: true, DrainNote: "canary"})),
		w.commit(clientv3.OpDelete(common.WorkerKey("w1"))),
		w.commit(clientv3.OpPut(common.JobKey("b"), "{"), clientv3.OpPut(common.RecordKey("b", "x"), "{")),
		w.commit(clientv3.OpDelete(common.JobKey("a"))))
	last := w.commit(w.put(common.MasterKey("m"), 1)) // progress up to it is reported, without an event

	run := events.RunData{
		ID:        trigger.RunID(),
		Job:       "a",
		JobUID:    "u",
		Group:     "g",
		Fire:      "u.tt1",
		PlannedAt: noon,
		Cause:     common.CauseManual,
		Attempt:   1,
		Status:    common.StatusWaiting,
	}
	running := run
	running.Status, running.Worker, running.WorkerName = common.StatusRunning, "w1", "bell"
	failed := running
	failed.Status, failed.ExitCode, failed.EndedAt, failed.Reason = common.StatusFailed, new(7), new(noon), "exit"
	one := func(i int, kind events.Kind, job string, data any) events.Batch {
		return events.Batch{Revision: revisions[i], Events: []events.Event{{Kind: kind, Job: job, Data: data}}}
	}
	want := []events.Batch{
		one(0, events.Job, "a", events.JobData{Name: "a", Title: "A", Group: "g", Version: revisions[0], Paused: true}),
		one(2, events.Run, "a", run),
		one(3, events.Run, "a", running),
		one(4, events.Run, "a", failed),
		one(6, events.Worker, "", events.WorkerData{ID: "w1", Name: "bell", Running: 1, Used: 2}),
		one(7, events.Worker, "", events.WorkerData{ID: "w1", Name: "bell", Running: 2, Used: 2}),
		one(8, events.Worker, "", events.WorkerData{ID: "w1", Settings: true}),
		one(9, events.Worker, "", events.WorkerData{ID: "w1", Name: "bell", Gone: true}),
		one(10, events.Job, "b", events.JobData{Name: "b", Version: revisions[10]}),
		one(11, events.Job, "a", events.JobData{Name: "a", Version: revisions[11], Deleted: true}),
	}
	got := w.between(begin, last)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("told\n%s\nwant\n%s", w.encode(got), w.encode(want))
	}
	if text := w.encode(got); strings.Contains(text, "canary") {
		t.Errorf("an event contains the job's definition: %s", text)
	}
	if got := w.between(revisions[8], last); !reflect.DeepEqual(got[len(got)-2:], want[8:]) || len(got) != 3 {
		t.Errorf("told after %d\n%s", revisions[8], w.encode(got))
	}

	// Any revision is valid, also one without changes of these keys.
	quiet, err := client.Put(t.Context(), "/other", "x")
	if err != nil {
		t.Fatal(err)
	}
	if got := w.between(last, quiet.Header.Revision); len(got) != 0 {
		t.Errorf("told %s", w.encode(got))
	}
	if _, err := client.Compact(t.Context(), last); err != nil {
		t.Fatal(err)
	}
	err = w.source.Watch(t.Context(), begin, func(events.Batch) {})
	if !errors.Is(err, events.ErrGone) {
		t.Errorf("after it was compacted: %v", err)
	}
}

func TestWatch_FlowRuns(t *testing.T) {
	client := etcdtest.Start(t)
	w := &world{T: t, client: client, source: newSource(client)}
	begin, err := w.source.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	head := common.Head{Kind: common.KindFlow, Run: "uf.1.1", Fire: "uf.1", Attempt: 1, Job: "f", UID: "uf", Group: "g",
		PlannedAt: noon, ClaimedAt: noon, Cause: common.CauseCron, Note: "canary",
		Params: map[string]string{"P": "canary"}}
	paused, ending := head, head
	paused.Paused, ending.Kill = true, &common.FlowKill{By: "canary"}
	mark := common.Node{State: common.NodeStarted, Round: 1, Job: "f:a", Fire: "uf.nx", Attempt: 1}
	ended := mark
	ended.State, ended.Status, ended.Class = common.NodeEnded, common.StatusFailed, common.ClassFailure
	ended.Reason, ended.Outputs = "exit", map[string]string{"k": "canary"}
	backfill := head
	backfill.Kind, backfill.Job, backfill.Run = common.KindBackfill, common.BackfillJob("f"), "uf.b1.1"
	of := common.FlowNode{Kind: common.KindFlow, Job: "f", Run: head.Run, Node: "a", UID: "uf"}
	trigger := common.Trigger{ID: "uf.nx.1", Job: "f:a", Fire: "uf.nx", PlannedAt: noon, Attempt: 1,
		Cause: common.CauseFlow, Flow: &of}

	headKey, markKey := common.FlowRunKey("f", head.Run), common.FlowNodeKey(head.Run, "a")
	revisions := []int64{
		w.commit(w.put(headKey, head)),
		w.commit(w.put(markKey, mark), w.put(common.TriggerKey("f:a", trigger.ID), trigger)),
		w.commit(w.put(headKey, paused)),
		w.commit(w.put(headKey, ending)),
		w.commit(w.put(markKey, ended)),
		w.commit(w.put(common.FlowNodeKey("other.1.1", "a@00002"), mark)),
		w.commit(w.put(common.FlowRunKey(backfill.Job, backfill.Run), backfill)),
	}
	last := w.commit(clientv3.OpPut(headKey+"x", "{"), clientv3.OpPut(markKey+"x", "{"), clientv3.OpDelete(headKey),
		clientv3.OpDelete(markKey), w.put(common.FlowWaitKey("f", head.Run, "b"), "canary"))

	run := events.RunData{ID: head.Run, Job: "f", JobUID: "uf", Group: "g", Fire: "uf.1", PlannedAt: noon,
		Cause: common.CauseCron, Attempt: 1, Status: common.StatusRunning}
	pausedRun, backfilled := run, run
	pausedRun.Reason = common.ReasonFlowPaused
	backfilled.ID, backfilled.Job = backfill.Run, backfill.Job
	node := events.RunData{ID: "uf.nx.1", Job: "f:a", JobUID: "uf", Fire: "uf.nx", PlannedAt: noon,
		Cause: common.CauseFlow, Attempt: 1, Status: common.StatusWaiting, FlowRun: head.Run, Node: "a"}
	told := func(i int, all ...events.Event) events.Batch {
		return events.Batch{Revision: revisions[i], Events: all}
	}
	of1 := func(data events.RunData) events.Event {
		return events.Event{Kind: events.Run, Job: data.Job, Data: data}
	}
	flow := func(data events.FlowRunData) events.Event {
		return events.Event{Kind: events.FlowRun, Job: data.Job, Data: data}
	}
	started := events.FlowRunData{Run: head.Run, Job: "f", Node: "a", State: common.NodeStarted, Round: 1, Attempt: 1}
	over, unknown := started, started
	over.State, over.Status, over.Reason = common.NodeEnded, common.StatusFailed, "exit"
	unknown.Run, unknown.Job, unknown.Node = "other.1.1", "", "a@00002"
	want := []events.Batch{
		told(0, of1(run), flow(events.FlowRunData{Run: head.Run, Job: "f"})),
		told(1, flow(started), of1(node)),
		told(2, of1(pausedRun), flow(events.FlowRunData{Run: head.Run, Job: "f", Paused: true})),
		told(3, of1(run), flow(events.FlowRunData{Run: head.Run, Job: "f", Ending: true})),
		told(4, flow(over)),
		told(5, flow(unknown)),
		told(6, of1(backfilled), flow(events.FlowRunData{Run: backfill.Run, Job: "f"})),
	}
	got := w.between(begin, last)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("told\n%s\nwant\n%s", w.encode(got), w.encode(want))
	}
	if text := w.encode(got); strings.Contains(text, "canary") {
		t.Errorf("an event contains what only readers of the flow run may see: %s", text)
	}
}
