package catalog

import (
	"testing"
	"time"
)

func TestStaleWatch(t *testing.T) {
	var f freshness
	if f.Fault() == nil {
		t.Error("before the first list a daemon is not ready")
	}
	f.mark()
	if f.Fault() != nil {
		t.Error("a fresh watch is at fault")
	}
	f.at.Store(time.Now().Add(-2 * stale).UnixNano())
	if f.Fault() == nil {
		t.Error("a watch that is silent is no fault")
	}
}
