package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// A first start that was killed between the creation of the token and the name of its file loses no token, and a later
// start replaces none.
func TestNameToken(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, TokenFile)
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(when, want string) {
		t.Helper()
		if err := NameToken(dir); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path)
		if string(got) != want || (want == "") != errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %q, %v", when, got, err)
		}
	}
	expect("without a file", "")
	write(path+incomplete, "")
	expect("before the token was written", "")
	write(path+incomplete, "token\n")
	expect("after it was written", "token\n")
	write(path+incomplete, "another\n")
	expect("beside the file", "token\n")
}
