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
	f, err := Open(map[string]string{"db": path}, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want string) {
		t.Helper()
		if got := f.Masker().Text("first-secret second-secret third-secret"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	first := f.Masker()
	expect("[secret:db] second-secret third-secret")
	if f.Masker() != first {
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
	f, err := Open(map[string]string{"db": path}, slog.New(slog.DiscardHandler))
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
		if got := f.Masker().Text(c.text); got != c.want {
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
		_, err := Open(map[string]string{name: path}, slog.New(slog.DiscardHandler))
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
		if _, err := Open(map[string]string{"x": path}, slog.New(slog.DiscardHandler)); err == nil {
			t.Errorf("%s holds a secret", path)
		}
	}
}
