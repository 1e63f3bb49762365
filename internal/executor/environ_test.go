package executor

import (
	"testing"

	"carillon/internal/common"
)

// Without an export and a request with a context, nothing is computed.
func TestTraceparent_CostsNothingUnlessTraced(t *testing.T) {
	x, record := &Executor{}, &common.Record{Run: "uid.1.1", Fire: "uid.1"}
	if n := testing.AllocsPerRun(100, func() {
		if x.traceparent(record) != "" {
			t.Error("there is a context")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	x.cfg.Traced = true
	if got := x.traceparent(record); got != record.CommandTrace().Traceparent() {
		t.Errorf("the command continues %q", got)
	}
}
