package common

import (
	"testing"
	"time"
)

func TestFenceGrace(t *testing.T) {
	for _, c := range []struct{ kill, lost, ttl, want time.Duration }{
		{10 * time.Second, 60 * time.Second, 15 * time.Second, 5 * time.Second},
		{2 * time.Second, 60 * time.Second, 15 * time.Second, 2 * time.Second},
		{6 * time.Second, 20 * time.Second, 15 * time.Second, 2500 * time.Millisecond},
		{6 * time.Second, 15 * time.Second, 20 * time.Second, 0},
	} {
		p := Policy{KillGrace: c.kill, LostAfter: c.lost}
		if got := p.FenceGrace(c.ttl); got != c.want {
			t.Errorf("killGrace %v, lostAfter %v, TTL %v: %v, want %v", c.kill, c.lost, c.ttl, got, c.want)
		}
	}
}
