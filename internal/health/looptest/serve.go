package looptest

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/platform/lifecycle"
	"carillon/internal/runlog/sqlitelog"
)

// Limit is the limit of loops in tests.
const Limit = 200 * time.Millisecond

// Serve runs the parts of a daemon until the test ends, without those that need processes of their own.
func Serve(t *testing.T, parts []lifecycle.Part) {
	t.Helper()
	parts = slices.DeleteFunc(parts, func(p lifecycle.Part) bool {
		return p.Name == "guardian"
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- lifecycle.New(slog.New(slog.DiscardHandler), parts...).Run(ctx, ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Logf("ended with %v", err)
		}
	})
}

// Becomes waits until a loop has, or no longer has, a condition with the gate's error.
func Becomes(t *testing.T, conditions func() []common.Condition, loop, code string, stuck bool) {
	t.Helper()
	var all []common.Condition
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		all = conditions()
		found := slices.ContainsFunc(all, func(c common.Condition) bool {
			return c.Data["loop"] == loop && c.Code == code &&
				(!stuck || loop == "election" || c.Data["error"] != "") && (stuck || c.Data["error"] != "")
		})
		if found == stuck {
			return
		}
	}
	t.Fatalf("loop %s: stuck is never %t; conditions %+v", loop, stuck, all)
}

// Store returns an empty log store.
func Store(t *testing.T) *sqlitelog.Store {
	t.Helper()
	store, err := sqlitelog.Open(t.Context(), filepath.Join(t.TempDir(), "runs.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}
