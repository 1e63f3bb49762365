package executor

import (
	"errors"
	"os/user"
	"reflect"
	"slices"
	"testing"

	"carillon/internal/executor/runas"
)

// The C library finds the users of the files as well, so both ways must return the same account.
func TestDirectory_ReturnsTheAccountOfTheFiles(t *testing.T) {
	x, err := New(Config{BaseDir: t.TempDir(), Worker: "askingaskingaski", Life: "lifelifelifelife", Name: "asking"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	for _, name := range []string{"daemon", "nobody", "mail"} {
		want, err := runas.Local(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := x.directory(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(want.Groups)
		slices.Sort(got.Groups)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v, want %+v", name, got, want)
		}
	}
	if a, err := x.directory(t.Context(), "root"); err == nil {
		t.Errorf("a directory makes root of %+v", a)
	}
	for _, name := range []string{"no.such-user", `EXAMPLE\ann`, "-h", "Ann Lee"} {
		a, err := x.lookUp(t.Context(), name)
		if _, unknown := errors.AsType[user.UnknownUserError](err); !unknown {
			t.Errorf("%q is %+v, %v", name, a, err)
		}
	}
}
