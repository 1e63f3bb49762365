package redact

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func write(t *testing.T, path, text string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// age makes a change of a file visible, however soon after the last one it is.
func age(t *testing.T, path string, n int) {
	t.Helper()
	if err := os.Chtimes(path, time.Time{}, time.Unix(int64(1_000_000+n), 0)); err != nil {
		t.Fatal(err)
	}
}

func TestSecretFiles_Changed_AreReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	write(t, path, "first-secret\n", 0o600)
	var log bytes.Buffer
	f, err := Open(map[string]string{"db": path}, nil, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want string) {
		t.Helper()
		if got := f.Masker("", true).Text("first-secret second-secret third-secret"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	first := f.Masker("", true)
	expect("[secret:db] second-secret third-secret")
	if f.Masker("", true) != first {
		t.Error("a new masker without a change")
	}
	write(t, path, "second-secret\r\n", 0o600)
	age(t, path, 1)
	expect("[secret:db] [secret:db] third-secret")
	write(t, path, "half", 0o600) // being written
	age(t, path, 2)
	expect("[secret:db] [secret:db] third-secret")
	expect("[secret:db] [secret:db] third-secret")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expect("[secret:db] [secret:db] third-secret")
	write(t, path, "third-secret", 0o400)
	expect("[secret:db] [secret:db] [secret:db]")
	if n := strings.Count(log.String(), "secret_not_read"); n != 2 {
		t.Errorf("%d failures logged, want each once:\n%s", n, &log)
	}
	for _, value := range []string{"first-secret", "second-secret", "third-secret"} {
		if strings.Contains(log.String(), value) {
			t.Errorf("%s is in the log:\n%s", value, &log)
		}
	}
}

// A secret that is written in parts, with reads in between, keeps the previous one masked. Much
// older ones are not masked any more.
func TestPreviousSecrets_StayMasked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	write(t, path, "the-old-secret", 0o600)
	f, err := Open(map[string]string{"db": path}, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for n, c := range []struct{ holds, text, want string }{
		{"the-new-", "the-old-secret", "[secret:db]"},
		{"the-new-sec", "the-old-secret", "[secret:db]"},
		{"the-new-secret", "the-old-secret the-new-secret", "[secret:db] [secret:db]"},
		{"the-old-secret", "the-old-secret the-new-secret", "[secret:db] [secret:db]"},
		{"the-new-secret", "the-old-secret the-new-secret", "[secret:db] [secret:db]"},
		{"a-third-secret", "the-old-secret the-new-secret", "[secret:db] [secret:db]"},
		{"a-fourth-secret", "the-old-secret the-new-secret", "[secret:db] [secret:db]"},
		{"a-fifth-secret", "the-old-secret the-new-secret a-third-secret a-fourth-secret",
			"the-old-secret [secret:db] [secret:db] [secret:db]"},
	} {
		write(t, path, c.holds, 0o600)
		age(t, path, n)
		if got := f.Masker("", true).Text(c.text); got != c.want {
			t.Errorf("%s: %q, want %q", c.holds, got, c.want)
		}
	}
}

func TestSecretFiles_Invalid_AreRefused(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		mode fs.FileMode
		want string
	}{
		"short":    {"1234567\n", 0o600, "too short"},
		"empty":    {"\n", 0o600, "too short"},
		"long":     {strings.Repeat("x", MaxSecret+1), 0o600, "more than 4096"},
		"huge":     {strings.Repeat("x", 1<<20), 0o600, "more than 4096"},
		"readable": {"long enough", 0o604, "all users"},
		"writable": {"long enough", 0o602, "all users"},
		"least":    {"12345678\n", 0o600, ""},
		"most":     {strings.Repeat("x", MaxSecret) + "\r\n", 0o640, ""},
	} {
		path := filepath.Join(dir, name)
		write(t, path, c.text, c.mode)
		_, err := Open(map[string]string{name: path}, nil, slog.New(slog.DiscardHandler))
		if c.want == "" && err == nil {
			continue
		}
		if err == nil || c.want == "" || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), "secrets."+name) || strings.Contains(err.Error(), "long enough") {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, dir, filepath.Join(dir, "missing")} {
		if _, err := Open(map[string]string{"x": path}, nil, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s holds a secret", path)
		}
	}
}

// A command that prints guesses finds a secret that is masked in its output. So a secret is masked only in runs that
// can read its file, or in those of its groups.
func TestSecretFiles_AreMaskedInTheirGroupsOnly(t *testing.T) {
	dir := t.TempDir()
	paths := map[string]string{}
	for _, name := range []string{"own", "shop", "all"} {
		paths[name] = filepath.Join(dir, name)
		write(t, paths[name], "the-secret-of-"+name, 0o600)
	}
	groups := map[string][]string{"shop": {"shop", "billing"}, "all": {"*"}}
	f, err := Open(paths, groups, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		group    string
		readable bool
		want     string
	}{
		{"shop", true, "[secret:own] [secret:shop] [secret:all]"},
		{"billing", false, "the-secret-of-own [secret:shop] [secret:all]"},
		{"other", true, "[secret:own] the-secret-of-shop [secret:all]"},
		{"other", false, "the-secret-of-own the-secret-of-shop [secret:all]"},
		{"", false, "the-secret-of-own the-secret-of-shop [secret:all]"},
		{"*", false, "the-secret-of-own the-secret-of-shop [secret:all]"},
	} {
		masker := f.Masker(c.group, c.readable)
		if got := masker.Text("the-secret-of-own the-secret-of-shop the-secret-of-all"); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if f.Masker("a", false) != f.Masker("b", false) {
		t.Error("a masker for each group")
	}
	write(t, paths["shop"], "another-secret-of-shop", 0o600)
	if got := f.Masker("shop", false).Text("another-secret-of-shop"); got != "[secret:shop]" {
		t.Errorf("after a change: %s", got)
	}
}
