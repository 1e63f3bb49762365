package access

import "testing"

// Names that people read must not show as others.
func TestFaults_OfNamesThatMislead(t *testing.T) {
	for _, name := range []string{"a\u202eb", "a\x1b[2Jb", "a\u2028b", "a\nb", "a\u2066b"} {
		if faults := (&TokenRequest{Name: name, Role: Viewer}).Faults(); len(faults) != 1 {
			t.Errorf("a token %q: %v", name, faults)
		}
		if faults := (&UserChange{Title: &name}).Faults("ann"); len(faults) != 1 {
			t.Errorf("a user %q: %v", name, faults)
		}
	}
}
