package placement_test

import (
	"maps"
	"reflect"
	"testing"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

func selector(t testing.TB, text string) *placement.Selector {
	t.Helper()
	s, err := placement.ParseSelector(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fit returns a candidate that is eligible for any job that needs up to 4 slots.
func fit(id string) placement.Candidate {
	return placement.Candidate{ID: id, Name: "name-" + id, Slots: 4, Weight: 1, Labels: map[string]string{"zone": "a"}}
}

func TestExplainAndRank_AgreeOnEligibility(t *testing.T) {
	for name, c := range map[string]struct {
		req  placement.Requirements
		with func(*placement.Candidate)
		code string // empty: eligible
		data map[string]string
		text string
	}{
		"no requirements": {},
		"pinned by name":  {req: placement.Requirements{Workers: []string{"other", "name-w"}}},
		"pinned by id":    {req: placement.Requirements{Workers: []string{"w"}}},
		"pinned elsewhere": {
			req:  placement.Requirements{Workers: []string{"x", "y"}},
			code: placement.NotPinned,
			data: map[string]string{"workers": "x, y"},
			text: "the job runs only on x, y",
		},
		"selected": {req: placement.Requirements{Selector: selector(t, "zone=a,!rack")}},
		"another label": {
			req:  placement.Requirements{Selector: selector(t, "zone,zone=b")},
			code: placement.NotSelected,
			data: map[string]string{"selector": "zone,zone=b", "unmet": "zone=b", "label": "zone=a"},
			text: `it has the label zone=a (required: zone=b)`,
		},
		"no such label": {
			req:  placement.Requirements{Selector: selector(t, "rack in (1,2)")},
			code: placement.NotSelected,
			data: map[string]string{"selector": "rack in (1,2)", "unmet": "rack in (1,2)"},
			text: `it has no label rack (required: rack in (1,2))`,
		},
		"weight 0, by weight": {
			req:  placement.Requirements{Strategy: common.StrategyWeight},
			with: func(c *placement.Candidate) { c.Weight = 0 },
			code: placement.NoWeight,
			text: "its weight is 0",
		},
		"weight 0, by hash": {with: func(c *placement.Candidate) { c.Weight = 0 }},
		"just large enough": {req: placement.Requirements{Slots: 4}},
		"too small": {
			req:  placement.Requirements{Slots: 5},
			code: placement.TooSmall,
			data: map[string]string{"slots": "4", "takes": "5"},
			text: "it has 4 slots, and a run uses 5",
		},
		"no slots at all": {
			with: func(c *placement.Candidate) { c.Slots = 0 },
			code: placement.TooSmall,
			data: map[string]string{"slots": "0", "takes": "1"},
			text: "it has 0 slots, and a run uses 1",
		},
		"has the features": {
			req:  placement.Requirements{Needs: []string{"b", "a"}},
			with: func(c *placement.Candidate) { c.Features = []string{"a", "b", "c"} },
		},
		"of an older version": {
			req:  placement.Requirements{Needs: []string{"a", "b", "c"}},
			with: func(c *placement.Candidate) { c.Features, c.Draining = []string{"b"}, true },
			code: placement.NeedsFeature,
			data: map[string]string{"needs": "a, c"},
			text: `it lacks the feature "a, c", which the job needs: a newer version may have it`,
		},
		"with full outboxes": {
			with: func(c *placement.Candidate) { c.Trouble, c.Full = "full", true },
			code: placement.OutboxFull,
			text: "it claims no runs: the outboxes in etcd are full of undelivered outcomes",
		},
		"in trouble": {
			with: func(c *placement.Candidate) { c.Trouble = "its clock is off" },
			code: placement.Trouble,
			data: map[string]string{"trouble": "its clock is off"},
			text: "it claims no runs: its clock is off",
		},
		"draining": {
			with: func(c *placement.Candidate) { c.Draining = true },
			code: placement.Draining,
			text: "it is draining: it finishes its runs and claims no more",
		},
		"its last slots": {req: placement.Requirements{Slots: 2}, with: func(c *placement.Candidate) { c.Used = 2 }},
		"not enough free slots": {
			req:  placement.Requirements{Slots: 2},
			with: func(c *placement.Candidate) { c.Used = 3 },
			code: placement.NoSlot,
			data: map[string]string{"slots": "4", "used": "3", "takes": "2"},
			text: "3 of 4 slots are used, and a run uses 2",
		},
		"more used than it has": {
			with: func(c *placement.Candidate) { c.Used = 9 },
			code: placement.NoSlot,
			data: map[string]string{"slots": "4", "used": "9", "takes": "1"},
			text: "9 of 4 slots are used, and a run uses 1",
		},
		"permanent reason first": {
			req:  placement.Requirements{Workers: []string{"x"}},
			with: func(c *placement.Candidate) { c.Draining, c.Used = true, 4 },
			code: placement.NotPinned,
			data: map[string]string{"workers": "x"},
			text: "the job runs only on x",
		},
		"draining before no slot": {
			with: func(c *placement.Candidate) { c.Draining, c.Used = true, 4 },
			code: placement.Draining,
			text: "it is draining: it finishes its runs and claims no more",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.req.Job = "job"
			w := fit("w")
			if c.with != nil {
				c.with(&w)
			}
			all := []placement.Candidate{w}
			verdict := placement.Explain(&c.req, all)[0]
			rank, ok := placement.Rank(&c.req, all, "w")
			if ok != (c.code == "") || verdict.Eligible != ok || rank != 0 {
				t.Fatalf("rank %d, %v; verdict %+v", rank, ok, verdict)
			}
			if ok {
				if verdict.Reason != nil {
					t.Errorf("an eligible worker has the reason %+v", verdict.Reason)
				}
				return
			}
			if r := verdict.Reason; r.Code != c.code || r.Text != c.text || !maps.Equal(r.Data, c.data) {
				t.Errorf("reason %+v", r)
			}
		})
	}
}

func TestRank_UnknownWorker_IsNotEligible(t *testing.T) {
	req := &placement.Requirements{Job: "job"}
	if rank, ok := placement.Rank(req, []placement.Candidate{fit("w")}, "x"); ok || rank != 0 {
		t.Errorf("rank %d, %v", rank, ok)
	}
}

func TestCandidates(t *testing.T) {
	slots, weight := 2, 7
	got := placement.Candidates([]common.Member{
		{
			Registration: common.Registration{
				Life:    common.Life{Worker: "b", Name: "bee"},
				Labels:  map[string]string{"own": "1"},
				Slots:   8,
				Used:    3,
				Running: 2,
				Trouble: "spool",
			},
			Settings: common.WorkerSettings{
				Drain:  true,
				Labels: map[string]string{"set": "1"},
				Slots:  &slots,
				Weight: &weight,
			},
		},
		{Registration: common.Registration{
			Life:     common.Life{Worker: "a", Name: "ant"},
			Labels:   map[string]string{"own": "1"},
			Slots:    8,
			Draining: true,
		}},
	})
	want := []placement.Candidate{
		{ID: "a", Name: "ant", Labels: map[string]string{"own": "1"}, Slots: 8, Weight: 1, Draining: true},
		{
			ID:       "b",
			Name:     "bee",
			Labels:   map[string]string{"set": "1"},
			Slots:    2,
			Used:     3,
			Running:  2,
			Weight:   7,
			Draining: true,
			Trouble:  "spool",
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("candidates %+v", got)
	}
}

func TestWhy(t *testing.T) {
	full, drained, small := fit("full"), fit("drained"), fit("small")
	full.Used, drained.Draining, small.Slots = 4, true, 1
	waiting := fit("waiting")
	waiting.Trouble, waiting.Full = "the outboxes are full", true
	for name, c := range map[string]struct {
		req  placement.Requirements
		all  []placement.Candidate
		want common.Reason
	}{
		"none": {want: common.Reason{
			Code: common.ReasonNoWorker,
			Data: map[string]string{"alive": "0"},
			Text: "no worker is alive",
		}},
		"one, not eligible": {all: []placement.Candidate{drained}, want: common.Reason{Code: common.ReasonNoWorker,
			Data: map[string]string{"alive": "1", "draining": "1"},
			Text: "no eligible worker: the only one online is draining"}},
		"several, not eligible": {
			req: placement.Requirements{Slots: 2, Selector: selector(t, "zone=a")},
			all: []placement.Candidate{drained, small, {ID: "x"}, {ID: "y"}},
			want: common.Reason{
				Code: common.ReasonNoWorker,
				Data: map[string]string{
					"alive":     "4",
					"selector":  "2",
					"requires":  "zone=a",
					"too_small": "1",
					"draining":  "1",
				},
				Text: "no eligible worker: 4 online, of which " +
					"2 do not match the selector zone=a, 1 has fewer slots than a run uses, 1 is draining",
			},
		},
		"none with the labels": {
			req: placement.Requirements{Selector: selector(t, "zone=a,gpu=true")},
			all: []placement.Candidate{{ID: "x"}, {ID: "y"}},
			want: common.Reason{
				Code: common.ReasonNoWorker,
				Data: map[string]string{"alive": "2", "selector": "2", "requires": "zone=a,gpu=true"},
				Text: "no eligible worker: 2 online, none matches the selector zone=a,gpu=true",
			},
		},
		"pinned elsewhere": {
			req: placement.Requirements{Workers: []string{"berlin", "tokyo"}},
			all: []placement.Candidate{{ID: "x"}},
			want: common.Reason{
				Code: common.ReasonNoWorker,
				Data: map[string]string{"alive": "1", "not_pinned": "1", "pinned": "berlin, tokyo"},
				Text: "no eligible worker: the only one online is not one that the job is pinned to (berlin, tokyo)",
			},
		},
		"a full one": {all: []placement.Candidate{drained, full}, want: common.Reason{Code: common.ReasonNoSlot,
			Data: map[string]string{"alive": "2", "no_slot": "1"}, Text: "1 eligible worker has no free slot for it"}},
		"full outboxes": {
			all: []placement.Candidate{drained, waiting},
			want: common.Reason{Code: common.ReasonOutboxFull,
				Data: map[string]string{"alive": "2", "outbox_full": "1"},
				Text: "it waits for the log store: the outboxes in etcd are full of undelivered outcomes"},
		},
		"an eligible worker": {
			all: []placement.Candidate{drained, fit("w")},
			want: common.Reason{Code: common.ReasonStarting,
				Data: map[string]string{"worker": "name-w"}, Text: "name-w is about to start it"},
		},
	} {
		if got := placement.Why(&c.req, c.all); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
