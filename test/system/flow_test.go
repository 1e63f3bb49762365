package system

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/scheduler/placement"
)

// fanIn is the number of items before the join.
const fanIn = 5000

// The worker that keeps a flow run is killed while a wide map runs: the other one continues the flow run. Each item
// runs once, or again if it was lost with the worker; the join starts once, after all of them.
func TestFlow_KeeperKilled_JoinStartsOnceAfterAllItems(t *testing.T) {
	t.Parallel() // it mostly waits
	c := newCluster(t)
	a := c.master()
	a.token = c.bootstrap()
	eventually(t, "the master is ready", a.ready)
	workers := map[string]*process{"east": c.worker("east"), "west": c.worker("west")}
	client := c.keys()
	eventually(t, "both workers are registered", func() bool { return len(registered(t, client)) == len(workers) })

	ledger := filepath.Join(c.dir, "ledger")
	line := []string{"/bin/sh", "-c",
		`echo "$CARILLON_STEP ${CARILLON_ITEM_INDEX:--} $CARILLON_ATTEMPT $CARILLON_WORKER" >>"$0"; exec sleep 0.05`, ledger}
	items := make([]string, fanIn)
	for i := range items {
		items[i] = fmt.Sprint(i)
	}
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{
		"name":        "wide",
		"concurrency": 100,
		"lostAfter":   "20s",
		"onLost":      "rerun",
		"killGrace":   "1s",
		"steps": []map[string]any{
			{"name": "first", "args": line},
			{"name": "each", "args": line, "after": []string{"first"}, "forEach": map[string]any{"items": items}},
			{"name": "join", "args": line, "after": []string{"each"}},
		},
	}, nil)
	var accepted struct{ Run string }
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/wide/run", map[string]any{}, &accepted)

	eventually(t, "a fifth of the items runs", func() bool { return len(flowLines(t, ledger)) > fanIn/5 })
	keeper := keeperOf(registered(t, client), accepted.Run)
	killed := time.Now()
	workers[keeper.Name].Kill() // its guardian too: the others do not learn of it before its lease expires
	t.Logf("the next node started %v after the death of the keeper", nextStart(t, client, accepted.Run, killed))

	eventually(t, "the flow run ends", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		resp, err := client.Get(ctx, common.FlowRunKey("wide", accepted.Run), clientv3.WithCountOnly())
		return err == nil && resp.Count == 0
	})
	t.Logf("the flow run ended %v after that death", time.Since(killed).Round(time.Millisecond))
	var end struct {
		Status string
		Nodes  common.NodeCounts
	}
	eventually(t, "its outcome is stored", func() bool {
		status, err := a.try(http.MethodGet, "/api/v1/runs/"+accepted.Run, nil, &end)
		return err == nil && status == http.StatusOK && end.Status != "running"
	})
	if end.Status != "succeeded" || end.Nodes.Total != fanIn+2 || end.Nodes.Succeeded != fanIn+2 {
		t.Errorf("outcome: %+v", end)
	}
	checkFanIn(t, flowLines(t, ledger), keeper.Worker)
}

// keeperOf returns the registration of the worker that keeps a flow run.
func keeperOf(all map[string]common.Registration, run string) common.Registration {
	var candidates []placement.Candidate
	for _, reg := range all {
		candidates = append(candidates, placement.Candidate{ID: reg.Worker})
	}
	found := slices.Collect(maps.Values(all))
	return found[slices.IndexFunc(found, func(reg common.Registration) bool {
		return placement.SettleRank(run, candidates, reg.Worker) == 0
	})]
}

// nextStart returns how long after a time the next node of a flow run is started.
func nextStart(t *testing.T, client *clientv3.Client, run string, since time.Time) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for resp := range client.Watch(ctx, common.FlowNodesOf(run), clientv3.WithPrefix()) {
		for _, ev := range resp.Events {
			if mark, err := common.Decode[common.Node](ev.Kv.Value); err == nil && mark.State == common.NodeStarted {
				return time.Since(since).Round(time.Millisecond)
			}
		}
	}
	t.Fatal("no node was started within a minute")
	return 0
}

// flowLine is what a command of a flow wrote when it began.
type flowLine struct{ step, item, attempt, worker string }

func flowLines(t *testing.T, ledger string) (lines []flowLine) {
	t.Helper()
	data, err := os.ReadFile(ledger)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(data)) {
		if f := strings.Fields(text); len(f) == 4 && strings.HasSuffix(text, "\n") {
			lines = append(lines, flowLine{f[0], f[1], f[2], f[3]})
		}
	}
	return lines
}

// checkFanIn compares the lines of a map and its join with the promises. Only what the killed worker had begun, or was
// about to begin, may have a second attempt.
func checkFanIn(t *testing.T, lines []flowLine, killed string) {
	t.Helper()
	attempts := map[flowLine]int{}
	var ran [fanIn]map[string]flowLine // by attempt
	again := 0
	for i, l := range lines {
		attempts[flowLine{step: l.step, item: l.item, attempt: l.attempt}]++
		if (l.step == "first") != (i == 0) && l.attempt == "1" {
			t.Errorf("line %d is of %+v", i, l)
		}
		if l.step == "join" && i < len(lines)-1 {
			t.Errorf("the join began before %+v", lines[i+1])
		}
		if l.step != "each" {
			continue
		}
		var item int
		if _, err := fmt.Sscan(l.item, &item); err != nil || item >= fanIn {
			t.Fatalf("line %d is of %+v", i, l)
		}
		if ran[item] == nil {
			ran[item] = map[string]flowLine{}
		}
		ran[item][l.attempt] = l
	}
	for l, n := range attempts {
		if n > 1 {
			t.Errorf("%s %s, attempt %s, began %d times", l.step, l.item, l.attempt, n)
		}
	}
	for item, by := range ran {
		second, twice := by["2"]
		first, begun := by["1"]
		switch {
		case len(by) == 0:
			t.Errorf("item %d did not run", item)
		case twice && (second.worker == killed || begun && first.worker != killed):
			t.Errorf("item %d ran again on %s after %+v", item, second.worker, first)
		case twice:
			again++
		}
	}
	if last := lines[len(lines)-1]; last.step != "join" {
		t.Errorf("the last line is of %+v, want the join", last)
	}
	t.Logf("%d lines for %d items; %d items ran again", len(lines), fanIn, again)
}
