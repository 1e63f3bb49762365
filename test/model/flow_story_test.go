package model

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

// byHand plays a flow whose second step has been started, and whose trigger no worker has received yet, when an
// operator removes something.
func byHand(t *testing.T, m mutation, what string) (broken []string) {
	t.Helper()
	server := startServer(t)
	server.wipe(t)
	w := newWorld(server, 1, m)
	w.beCalm()
	w.flows = &flowPlay{ends: [][]string{{"x"}}, define: func(_ *script, name string) common.Job {
		return common.Job{Name: name, Timezone: "UTC", LostAfter: "20s", KillGrace: "0s", Steps: []common.Step{
			{Name: "s0", Command: "true", AllowFailure: true},
			{Name: "s1", Command: "true", After: []common.Edge{{Step: "s0"}}},
		}}
	}}
	var until time.Time
	inBubble(t, func(t *testing.T) {
		until = run(t.Context(), w, []string{"x"}, level, func(ctx context.Context, s *script) {
			w.last(3 * time.Second)
			time.Sleep(20 * time.Second)
			if _, err := s.masters[0].store.Trigger(ctx, modelActor, common.TriggerRequest{Job: "x"}); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * time.Second)
			for _, b := range s.boxes {
				b.with(func(l *life) { l.link.lag(common.TriggersPrefix, 4*time.Second) })
			}
			time.Sleep(2 * time.Second)
			keys := w.keysNow(what)
			if len(keys) != 1 || len(w.keysNow(common.TriggersPrefix+"x:s1/")) != 1 {
				t.Errorf("etcd holds %v below %s", keys, what)
			}
			for _, key := range keys {
				w.remove(key)
			}
			time.Sleep(2 * time.Minute)
		})
	})
	return check(w, until)
}

// An operator removes the head of a flow run: what waits for a worker is not run.
func TestHeadRemovedByHand_ItsStepsAreNotRun(t *testing.T) {
	ran := func(b string) bool { return strings.HasPrefix(b, "F4") }
	if broken := byHand(t, nothing, common.FlowRunsPrefix); slices.ContainsFunc(broken, ran) {
		t.Error(broken)
	}
	if broken := byHand(t, claimsGone, common.FlowRunsPrefix); !slices.ContainsFunc(broken, ran) {
		t.Errorf("although %s, only this was broken: %v", claimsGone, broken)
	}
}

// An operator removes the trigger of a node that was started: the node is lost, and its flow run ends.
func TestTriggerRemovedByHand_TheFlowRunEnds(t *testing.T) {
	if broken := byHand(t, nothing, common.TriggersPrefix); len(broken) > 0 {
		t.Error(broken)
	}
	broken := byHand(t, neverVanishes, common.TriggersPrefix)
	if !slices.ContainsFunc(broken, func(b string) bool { return strings.HasPrefix(b, "F6") }) {
		t.Errorf("although %s, only this was broken: %v", neverVanishes, broken)
	}
}
