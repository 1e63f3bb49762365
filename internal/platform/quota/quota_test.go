package quota

import "testing"

func TestTake_GrantsAQuarterToAClientAndAllTogether(t *testing.T) {
	p := New(8)
	for i, c := range []struct {
		client string
		want   bool
	}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"b", true}, {"c", true}, {"c", true}, {"d", true},
		{"d", true}, {"e", false}} {
		if got := p.Take(c.client); got != c.want {
			t.Errorf("%d: %s gets a place: %t", i, c.client, got)
		}
	}
	for range 2 {
		p.GiveBack("a")
	}
	if _, remembered := p.by["a"]; remembered || p.Taken() != 6 {
		t.Errorf("%d are taken, by %v", p.Taken(), p.by)
	}
	few := New(1)
	if !few.Take("a") || few.Take("b") {
		t.Error("one place is not for one client")
	}
}
