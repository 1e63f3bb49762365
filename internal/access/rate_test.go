package access

import (
	"strconv"
	"testing"
	"time"
)

func TestRate(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := NewRate(10)
	for i := range 10 {
		if _, ok := r.Take(now, "a"); !ok {
			t.Fatalf("use %d within a second is refused", i+1)
		}
	}
	wait, ok := r.Take(now, "a")
	if ok || wait != 100*time.Millisecond {
		t.Errorf("the eleventh: %v, wait %v", ok, wait)
	}
	if _, ok := r.Take(now, "b"); !ok {
		t.Error("another key is limited too")
	}
	if _, ok := r.Take(now.Add(wait), "a"); !ok {
		t.Error("a caller that waited as advised is refused")
	}
	if _, ok := r.Take(now.Add(wait), "a"); ok {
		t.Error("a caller that waited for one use gets two")
	}
	passed := 0
	for i := range 1000 {
		if _, ok := r.Take(now.Add(time.Hour+time.Duration(i)*10*time.Millisecond), "a"); ok {
			passed++
		}
	}
	if passed < 100 || passed > 110 {
		t.Errorf("of ten seconds' tries %d passed", passed)
	}
	if !r.Known("a") || r.Known("c") {
		t.Error("Known is wrong for a used or an unused key")
	}
	if r.Forget("a"); r.Known("a") {
		t.Error("a forgotten key is known")
	}
	free := NewRate(0)
	for range 100_000 {
		if _, ok := free.Take(now, "a"); !ok {
			t.Fatal("an unlimited rate refuses")
		}
	}
}

func TestRateIsBounded(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r := NewRate(2)
	passed := 0
	for i := range 2 * maxKeys {
		if _, ok := r.Take(now, strconv.Itoa(i)); ok {
			passed++
		}
	}
	if len(r.next) > maxKeys+1 || passed > maxKeys+2 {
		t.Errorf("%d keys are kept, %d passed", len(r.next), passed)
	}
	later := now.Add(2 * keyLife)
	if _, ok := r.Take(later, "new"); !ok || !r.Known("new") {
		t.Error("after the flood a new key is refused")
	}
}
