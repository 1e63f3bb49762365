package etcd

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/etcdkit"
)

type waitsRig struct {
	*Waits
	t      *testing.T
	client *clientv3.Client
	run    common.FlowRun
	key    string
}

func newWaitsRig(t *testing.T) *waitsRig {
	t.Helper()
	client := shared.Start(t)
	r := &waitsRig{Waits: NewWaits(client, time.Now), t: t, client: client}
	head := common.Head{Kind: common.KindFlow, Run: "u.1.1", Fire: "u.1", Attempt: 1, Job: "report", UID: "u"}
	r.put(common.FlowRunKey(head.Job, head.Run), head)
	r.run = common.FlowRun{Head: head, Created: r.get(common.FlowRunKey(head.Job, head.Run)).created}
	r.key = common.FlowWaitKey(head.Job, head.Run, "orders")
	r.put(r.key, common.NewFiresWait(&r.run, r.run.Node("orders", 2, "u"), &common.Wait{Job: "import"}, time.Now()))
	return r
}

func (r *waitsRig) put(key string, value any) {
	r.t.Helper()
	putJSON(r.t, r.client, key, value)
}

type waitsValue struct {
	value            string
	created, version int64
}

func (r *waitsRig) get(key string) waitsValue {
	r.t.Helper()
	kv, err := etcdkit.Get(r.t.Context(), r.client, key)
	if err != nil {
		r.t.Fatal(err)
	}
	if kv == nil {
		return waitsValue{}
	}
	return waitsValue{string(kv.Value), kv.CreateRevision, kv.ModRevision}
}

// pending returns the wait as it is followed.
func (r *waitsRig) pending() *common.PendingWait {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	first := make(chan []common.PendingWait, 1)
	var following sync.WaitGroup
	following.Go(func() {
		_ = r.Follow(ctx, func(error) {}, func(_ context.Context, whole bool,
			put []common.PendingWait, _ []string) error {
			if whole {
				first <- put
			}
			return nil
		})
	})
	defer following.Wait()
	defer cancel()
	select {
	case put := <-first:
		if len(put) != 1 || put[0].Key != r.key {
			r.t.Fatalf("followed are %+v", put)
		}
		return &put[0]
	case <-time.After(time.Minute):
		r.t.Fatal("nothing was listed")
		return nil
	}
}

func (r *waitsRig) end(p *common.PendingWait) bool {
	r.t.Helper()
	outcome := p.Wait.Ended(common.StatusSucceeded, &common.Reason{Code: common.ReasonFiresSucceeded}, time.Now())
	done, err := r.End(r.t.Context(), p, &outcome)
	if err != nil {
		r.t.Fatal(err)
	}
	return done
}

func (r *waitsRig) mark() common.Node {
	r.t.Helper()
	value := r.get(common.FlowNodeKey(r.run.Run, "orders")).value
	if value == "" {
		return common.Node{}
	}
	mark, err := common.Decode[common.Node]([]byte(value))
	if err != nil {
		r.t.Fatal(err)
	}
	return mark
}

func TestFollow_PassesOnWaitsForFiresOnly(t *testing.T) {
	r := newWaitsRig(t)
	r.put(common.FlowWaitKey("report", "u.1.1", "ask"), common.NewFlowWait(&r.run, r.run.Node("ask", 1, "u"),
		&common.Approval{Text: "?"}, "?", time.Now()))
	r.put(r.key+"x", common.NewFiresWait(&r.run, r.run.Node("orders", 1, "u"), &common.Wait{Job: "import"}, time.Now()))
	if _, err := r.client.Put(t.Context(), common.FlowWaitKey("report", "u.1.1", "bad"), "{"); err != nil {
		t.Fatal(err)
	}
	if p := r.pending(); p.Wait.Awaited.Job != "import" || p.Wait.Awaited.Fires != common.WaitInterval {
		t.Errorf("%+v", p.Wait)
	}
}

func TestEnd_EndsTheNodeOnce(t *testing.T) {
	r := newWaitsRig(t)
	p := r.pending()
	if !r.end(p) || r.end(p) {
		t.Error("it did not end, or twice")
	}
	if r.get(r.key).version != 0 {
		t.Error("the key is still there")
	}
	if m := r.mark(); m.State != common.NodeEnded || m.Round != 2 || m.Class != common.ClassSuccess ||
		m.Reason != common.ReasonFiresSucceeded {
		t.Errorf("%+v", m)
	}
	outcome := common.OutboxKey(common.MasterOutbox, common.RunID(p.Wait.Fire, 1))
	if value := r.get(outcome).value; !strings.Contains(value, common.ReasonFiresSucceeded) {
		t.Errorf("the outcome is %s", value)
	}
}

func TestEnd_OfAWaitThatHasChanged_OrWithoutItsFlowRun_IsRefused(t *testing.T) {
	for name, change := range map[string]func(r *waitsRig, p *common.PendingWait){
		"it was started again": func(r *waitsRig, p *common.PendingWait) { r.put(r.key, p.Wait) },
		"the flow run is gone": func(r *waitsRig, _ *common.PendingWait) {
			if _, err := r.client.Delete(r.t.Context(), common.FlowRunKey("report", "u.1.1")); err != nil {
				r.t.Fatal(err)
			}
		},
		"another flow run has its name": func(r *waitsRig, _ *common.PendingWait) {
			key := common.FlowRunKey("report", "u.1.1")
			if _, err := r.client.Delete(r.t.Context(), key); err != nil {
				r.t.Fatal(err)
			}
			r.put(key, r.run.Head)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newWaitsRig(t)
			p := r.pending()
			change(r, p)
			if r.end(p) || r.mark().State != "" {
				t.Error("it ended")
			}
		})
	}
}

func TestNote_KeepsTheRest_AndIsNotWrittenOverAChange(t *testing.T) {
	r := newWaitsRig(t)
	first := r.pending()
	with := strings.TrimSuffix(r.get(r.key).value, "}") + `,"newer":1}`
	if _, err := r.client.Put(t.Context(), r.key, with); err != nil {
		t.Fatal(err)
	}
	now := common.AwaitedNow{Total: 3, Open: 1, Missing: []common.AwaitedFire{{At: time.Unix(60, 0).UTC(),
		Status: common.StatusFailed}}}
	if version, err := r.Note(t.Context(), first, now); version != 0 || err != nil {
		t.Errorf("noted over a change: %d, %v", version, err)
	}
	p := r.pending()
	version, err := r.Note(t.Context(), p, now)
	if err != nil || version != r.get(r.key).version {
		t.Fatal(version, err)
	}
	if value := r.get(r.key).value; !strings.Contains(value, `"newer":1`) || !strings.Contains(value, `"open":1`) {
		t.Errorf("the value is %s", value)
	}
	again := r.pending()
	if again.Version != version || again.Wait.Awaited.Found.Open != 1 || again.Wait.Deadline == nil {
		t.Errorf("%+v", again)
	}
	if run := again.Wait.AsRun(); run.Status != common.StatusWaiting || run.Reason.Data["job"] != "import" ||
		!strings.Contains(run.Reason.Text, "1 of 3 fires") {
		t.Errorf("%+v", run.Reason)
	}
}
