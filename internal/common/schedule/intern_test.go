package schedule

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestInterner_SharesExpressions(t *testing.T) {
	in := NewInterner()
	a, err := in.Parse(Spec{Expr: "30 2 * * MON-FRI", Zone: "Europe/Berlin"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := in.Parse(Spec{Expr: "030 2 ? * 1,2,3,4,5", Zone: "Europe/Berlin", Rules: Rules{Gap: GapSkip}})
	if err != nil {
		t.Fatal(err)
	}
	if a.expr != b.expr || a.zone.name != b.zone.name || a.Zone() != "Europe/Berlin" {
		t.Error("the same line is held twice")
	}
	if a == b {
		t.Error("the rules are lost")
	}
}

func TestInterner_RemovesUnusedExpressions(t *testing.T) {
	in := NewInterner()
	kept, err := in.Parse(Spec{Expr: "7 7 * * *", Zone: "UTC"})
	if err != nil {
		t.Fatal(err)
	}
	for h := range 24 {
		for m := range 60 {
			if _, err := in.Parse(Spec{Expr: fmt.Sprintf("%d %d * * *", m, h), Zone: "UTC"}); err != nil {
				t.Fatal(err)
			}
		}
	}
	deadline := time.Now().Add(20 * time.Second)
	for in.size() > 1 && time.Now().Before(deadline) {
		runtime.GC()
		runtime.Gosched()
	}
	if n := in.size(); n != 1 {
		t.Errorf("%d lines are held, 1 is used", n)
	}
	again, err := in.Parse(Spec{Expr: "7 7 * * *", Zone: "UTC"})
	if err != nil || again.expr != kept.expr {
		t.Error("a line in use was forgotten")
	}
}

// The engine writes into expressions when it reads them; the race detector would report it.
func TestSharedExpression_ConcurrentUse(t *testing.T) {
	in := NewInterner()
	var work sync.WaitGroup
	for g := range 8 {
		work.Go(func() {
			zone := []string{"America/New_York", "Europe/Berlin"}[g%2]
			s, err := in.Parse(Spec{Expr: "*/20 1-3 * * 0-5", Zone: zone})
			if err != nil {
				t.Error(err)
				return
			}
			at := time.Date(2026, 1+time.Month(g), 1, 0, 0, 0, 0, time.UTC)
			for range 400 {
				next, ok, err := s.Next(at)
				if err != nil || !ok || !next.After(at) {
					t.Errorf("Next(%v) = %v %v %v", at, next, ok, err)
					return
				}
				if c := civilOf(next); c.minute%20 != 0 || c.hour < 1 || c.hour > 3 {
					t.Errorf("%v does not match", next)
				}
				at = next
			}
		})
	}
	work.Wait()
}

// size returns the number of shared expressions.
func (in *Interner) size() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.expressions)
}
