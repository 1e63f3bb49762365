package etcd

import (
	"testing"
	"time"

	"carillon/internal/common"
)

func TestLoad_Why_CountsTheLiveFlowRuns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	now := time.Now()
	load := NewLoad(r.client, 10, func() time.Time { return now })
	flow := func(steps, items int) *common.StoredJob {
		return &common.StoredJob{Job: common.Job{Name: "f"}, Flow: &common.FlowRef{Digest: "d", Parts: 1, Steps: steps,
			Items: items}}
	}
	if why := load.Why(flow(11, 0)); why != nil {
		t.Errorf("without a live flow run: %+v", why)
	}
	r.begin(func(h *common.Head) { h.Run, h.Nodes = "u.2.1", 4 })
	r.begin(func(h *common.Head) { h.Run = "u.3.1" }) // of an older worker
	r.begin(func(h *common.Head) { h.Run, h.Kind, h.Nodes = "u.4.1", common.KindBackfill, 100 })
	r.begin(func(h *common.Head) { h.Run, h.Kind, h.Spread = "u.5.1", common.KindSpread, &common.Spread{Nodes: 2} })
	if why := load.Why(flow(4, 0)); why != nil {
		t.Errorf("the count is used for some time: %+v", why)
	}
	now = now.Add(loadFresh + time.Second)
	for _, c := range []struct {
		job  *common.StoredJob
		full bool
	}{
		{flow(3, 0), false},
		{flow(4, 0), true},
		{flow(2, 2), true},
		{&common.StoredJob{Job: common.Job{Name: "j", Command: "true"}}, false},
	} {
		why := load.Why(c.job)
		if (why != nil) != c.full || c.full && why.Code != common.ReasonFlowsFull {
			t.Errorf("%+v: %+v", c.job.Flow, why)
		}
	}
}
