package common

import (
	"strings"
	"testing"
)

func TestValidUser(t *testing.T) {
	for _, name := range []string{"root", "_apt", "host$", "first.last", "User", "ann@example.com", `EXAMPLE\ann`,
		`EXAMPLE\Ann Lee`, "ann+ci", "1ann", "jörg", "王", "-ann", strings.Repeat("a", MaxUser)} {
		if !ValidUser(name) {
			t.Errorf("%q is refused", name)
		}
	}
	for _, name := range []string{"", " ", " ann", "ann ", "a:b", "a/b", "root;id", "?", "a,b", "a|b", "<a>", "a\nb",
		"a\tb", "a\x00", "a\x7f", "a\u202eb", "a\u2028b", "a\u00a0b", "\xff", "1000", "0", "-1", "+0", "-", ".", "..",
		strings.Repeat("a", MaxUser+1)} {
		if ValidUser(name) {
			t.Errorf("%q is accepted", name)
		}
	}
}
