package system

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
)

// waitingFlows is the number of flows in each of the groups that wait for each other.
const waitingFlows = 20

// waitCase is the steps of a group that waits, for the flows with the same number in groups before it.
type waitCase struct {
	group string
	waits []map[string]any
}

func waitFor(group, fires string) map[string]any { return map[string]any{"job": group, "fires": fires} }

// 100 daily flows of five groups wait for each other's day: all of them are requested at once, the last group first.
// One of the first group fails: the four that wait for it wait on, and go on once it has been run again.
func TestWaits_FlowsOfFiveGroups_WaitForEachOthersDay(t *testing.T) {
	t.Parallel()
	_, a := standalone(t, t.TempDir())
	fails := filepath.Join(t.TempDir(), "fails")
	if err := os.WriteFile(fails, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -2)
	groups := []waitCase{
		{"a", nil},
		{"b", []map[string]any{waitFor("a", "same")}},
		{"c", []map[string]any{waitFor("b", "interval")}},
		{"d", []map[string]any{waitFor("a", "latest"), waitFor("c", "same")}},
		{"e", []map[string]any{waitFor("b", "same"), waitFor("d", "latest")}},
	}
	name := func(group string, n int) string { return fmt.Sprintf("%s%02d", group, n) }
	for _, g := range groups {
		for n := range waitingFlows {
			a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", g.flow(name, n, fails), nil)
		}
	}
	for _, g := range slices.Backward(groups) {
		for n := range waitingFlows {
			a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/"+name(g.group, n)+"/backfills", map[string]any{
				"from": day, "to": day.Add(time.Hour), "includeUnknown": true}, nil)
		}
	}
	ended := func(g string, n int) common.Run {
		t.Helper()
		var run common.Run
		eventually(t, "the flow run of "+name(g, n)+" ends", func() bool {
			var page struct{ Items []common.Run }
			a.do(http.StatusOK, http.MethodGet, "/api/v1/runs?limit=5&job="+name(g, n), nil, &page)
			if len(page.Items) > 0 {
				run = page.Items[0]
			}
			return run.Status.Terminal()
		})
		return run
	}
	failed := ended("a", 0)
	if failed.Status != common.StatusFailed {
		t.Fatalf("the first flow has %s", failed.Status)
	}
	for _, g := range groups {
		for n := 1; n < waitingFlows; n++ {
			if run := ended(g.group, n); run.Status != common.StatusSucceeded {
				t.Fatalf("%s has %s: %+v", name(g.group, n), run.Status, run.Reason)
			}
		}
	}
	// Nothing else has ended, and the reason names the fire that is missing.
	for _, g := range groups[1:] {
		var page struct{ Items []common.Run }
		a.do(http.StatusOK, http.MethodGet, "/api/v1/runs?job="+name(g.group, 0), nil, &page)
		if len(page.Items) != 1 || page.Items[0].Status != common.StatusRunning {
			t.Fatalf("runs of %s: %+v", name(g.group, 0), page.Items)
		}
		wait := g.nodes(a, page.Items[0].ID)[0]
		eventually(t, "the wait of "+name(g.group, 0)+" names what is missing", func() bool {
			wait = g.nodes(a, page.Items[0].ID)[0]
			return wait.Reason != nil && wait.Reason.Data["at1"] == day.Format(time.RFC3339)
		})
		if wait.Status != common.StatusWaiting || wait.Reason.Code != common.ReasonWaitsForFires {
			t.Errorf("%s: %+v", name(g.group, 0), wait)
		}
	}
	if err := os.Remove(fails); err != nil {
		t.Fatal(err)
	}
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/runs/"+failed.ID+"/rerun", map[string]any{}, nil)
	var longest time.Duration
	ends := map[string]time.Time{}
	for _, g := range groups {
		for n := range waitingFlows {
			var run common.Run
			eventually(t, name(g.group, n)+" succeeds", func() bool {
				run = ended(g.group, n)
				return run.Status == common.StatusSucceeded
			})
			ends[name(g.group, n)] = *run.EndedAt
			var page struct{ Items []common.Run }
			a.do(http.StatusOK, http.MethodGet, "/api/v1/runs?job="+name(g.group, n), nil, &page)
			if want := map[bool]int{true: 2, false: 1}[g.group == "a" && n == 0]; len(page.Items) != want ||
				!run.PlannedAt.Equal(day) {
				t.Errorf("%s has %d runs, want %d; the last one is of %s", name(g.group, n), len(page.Items), want,
					run.PlannedAt)
			}
			nodes := g.nodes(a, run.ID)
			for i, w := range g.waits {
				if nodes[i].Status != common.StatusSucceeded || nodes[i].Reason.Code != common.ReasonFiresSucceeded {
					t.Errorf("%s: %+v", name(g.group, n), nodes[i])
				}
				happened := ends[name(w["job"].(string), n)]
				if began := nodes[i].StartedAt; began.After(happened) {
					happened = began
				}
				if nodes[i].EndedAt.Before(ends[name(w["job"].(string), n)]) {
					t.Errorf("%s did not wait for %s", name(g.group, n), w["job"])
				}
				longest = max(longest, nodes[i].EndedAt.Sub(happened))
			}
		}
	}
	t.Logf("a step waited for at most %s for what had happened", longest)
	if longest > patience/4 {
		t.Errorf("a step waited for %s for what had happened", longest)
	}
}

// flow returns a flow of the group.
func (g *waitCase) flow(name func(string, int) string, n int, fails string) map[string]any {
	var steps []map[string]any
	var after []string
	for i, w := range g.waits {
		step := fmt.Sprintf("wait%d", i)
		steps = append(steps, map[string]any{"name": step,
			"wait": map[string]any{"job": name(w["job"].(string), n), "fires": w["fires"]}})
		after = append(after, step)
	}
	command := "true"
	if g.group == "a" && n == 0 {
		command = "[ ! -e " + fails + " ]"
	}
	steps = append(steps, map[string]any{"name": "work", "after": after, "command": command})
	return map[string]any{"name": name(g.group, n), "cronExpr": "0 0 * * *", "timezone": "UTC", "timeout": "2d",
		"steps": steps}
}

// waitNode is a step of a flow run.
type waitNode struct {
	Node               string
	Status             common.Status
	Reason             *common.Reason
	StartedAt, EndedAt time.Time
}

// nodes returns the steps of a flow run, in the order of their definition.
func (g *waitCase) nodes(a *api, run string) []waitNode {
	a.t.Helper()
	var page struct{ Items []waitNode }
	a.do(http.StatusOK, http.MethodGet, "/api/v1/runs/"+run+"/nodes", nil, &page)
	if len(page.Items) != len(g.waits)+1 {
		a.t.Fatalf("nodes of %s: %+v", run, page.Items)
	}
	return page.Items
}
