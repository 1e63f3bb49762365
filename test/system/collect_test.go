package system

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
)

// One of thousands of items fails: the step succeeds, and a later step reads what the others have reported.
func TestMapOfThousandsOfItems_CollectsTheirValues(t *testing.T) {
	const n, bad = 4900, 1234 // two such maps are as large as a flow run may be
	if testing.Short() {
		t.Skip("it runs thousands of commands")
	}
	dir := t.TempDir()
	_, a := standalone(t, dir)
	seen := filepath.Join(t.TempDir(), "seen")
	a.do(http.StatusCreated, http.MethodPost, "/api/v1/jobs", map[string]any{"name": "each", "timeout": "1h",
		"concurrency": 50, "steps": []any{
			map[string]any{"name": "list", "command": fmt.Sprintf(`seq %d -1 1 > "$CARILLON_OUTPUT/l"`, n),
				"outputs": map[string]any{"l": map[string]any{"list": true}}},
			map[string]any{"name": "each", "after": []string{"list"}, "outputs": map[string]any{"v": map[string]any{}},
				"command": fmt.Sprintf(`test "$ITEM" != %d && echo "v$ITEM" > "$CARILLON_OUTPUT/v"`, bad),
				"forEach": map[string]any{"list": "steps.list.outputs.l", "maxFailures": 10, "collect": "v"}},
			// Each line of the list is an item of its own: what they write, in order of their numbers, is the list.
			map[string]any{"name": "read", "after": []string{"each"},
				"command": fmt.Sprintf(`printf '%%05d %%s\n' "$CARILLON_ITEM_INDEX" "$ITEM" >> %s`,
					common.ShellWord(seen)),
				"forEach": map[string]any{"list": "steps.each.outputs.v"}},
		}}, nil)
	var accepted struct{ Run string }
	a.do(http.StatusAccepted, http.MethodPost, "/api/v1/jobs/each/run", map[string]any{}, &accepted)
	var end common.Run
	for deadline := time.Now().Add(10 * time.Minute); !end.Status.Terminal(); time.Sleep(time.Second) {
		_, err := a.try(http.MethodGet, "/api/v1/runs/"+accepted.Run, nil, &end)
		if err != nil || time.Now().After(deadline) {
			t.Fatalf("the flow run does not end: %v, %+v", err, end)
		}
	}
	if end.Status != common.StatusSucceeded || end.Nodes.Failed != 1 {
		t.Errorf("the flow run is %s, %+v", end.Status, end.Nodes)
	}
	data, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(string(data))
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	slices.Sort(lines)
	var want []string
	for i := n; i > 0; i-- {
		if i != bad {
			want = append(want, fmt.Sprintf("%05d v%d", len(want), i))
		}
	}
	if !slices.Equal(lines, want) {
		t.Errorf("%d values, want %d: %.200q", len(got)/2, len(want), lines)
	}
}
