package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSanitizer(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                            "plain\ttext\n",
		"\x1b[1;31mred\x1b[0m":                     "\x1b[1;31mred\x1b[0m\x1b[0m",
		"\x1b[38:2:1:2:3mx":                        "\x1b[38:2:1:2:3mx\x1b[0m",
		"\x1b[2J\x1b[H\x1b[?25lx":                  "x",
		"\x1b[>4mx\x1b[ mx":                        "xx",
		"\x1b]0;title\ax":                          "x",
		"\x1b]8;;http://e\x1b\\link":               "link",
		"\x1b]52;c;AAAA\x1b\\x":                    "x",
		"\x1bPq#0\x1b\\x\x1b_a\x1b\\y":             "xy",
		"\x1b]0;never closed\nnext line":           "\nnext line",
		"\x1b]0;a\x1bb\x1b\\x":                     "x",
		"\x1b(0\x1bc\x1b7x":                        "x",
		"\x1b[12\nx":                               "\nx",
		"a\r\nb\rc\n":                              "a\nb\nc\n",
		"a\bb\x7f\x00\x07":                         "ab",
		"\u009b2J\u009d0;t":                        "2J0;t",
		"evil\u202etxt.exe\u2069":                  "evil<U+202E>txt.exe<U+2069>",
		"bad \xff\xfe utf8":                        "bad \ufffd\ufffd utf8",
		"每晚":                                       "每晚",
		"\x1b[" + strings.Repeat("1;", 100) + "mx": "x",
		"\x1b\x1b[31mx":                            "\x1b[31mx\x1b[0m",
	} {
		// However the bytes arrive, the result is the same.
		for _, size := range []int{len(in), 1, 3} {
			var out bytes.Buffer
			s := &sanitizer{to: &out}
			for i := 0; i < len(in); i += size {
				piece := in[i:min(i+size, len(in))]
				if n, err := s.Write([]byte(piece)); n != len(piece) || err != nil {
					t.Fatalf("write: %d, %v", n, err)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if out.String() != want {
				t.Errorf("%q in pieces of %d: %q, want %q", in, size, out.String(), want)
			}
		}
	}
}

func FuzzSanitizer(f *testing.F) {
	f.Add([]byte("a\x1b[31mb\x1b]0;t\ac\u202e\r\xff\x1b"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		s := &sanitizer{to: &out}
		_, _ = s.Write(data)
		_ = s.Close()
		rest := out.String()
		for {
			before, after, found := strings.Cut(rest, "\x1b")
			if strings.ContainsAny(before, "\x00\x07\x08\r\x7f\u009b\u009d\u202e") {
				t.Fatalf("%q lets %q through", data, out.String())
			}
			if !found {
				return
			}
			end := strings.IndexByte(after, 'm')
			if end < 1 || after[0] != '[' || strings.Trim(after[1:end], "0123456789;:") != "" {
				t.Fatalf("%q lets %q through", data, out.String())
			}
			rest = after[end+1:]
		}
	})
}

func TestMachineZone_FromTZAndLocaltime(t *testing.T) {
	etc := t.TempDir()
	expect := func(tz, zone, from string) {
		t.Helper()
		got, where, err := machineZone(tz, etc)
		if err != nil || got != zone || !strings.HasSuffix(where, from) {
			t.Errorf("zone %q from %q (%v), want %q from %q", got, where, err, zone, from)
		}
	}
	expect("", "UTC", "no zone is set on this machine")
	if err := os.Symlink("/usr/share/zoneinfo/Asia/Tokyo", filepath.Join(etc, "localtime")); err != nil {
		t.Fatal(err)
	}
	expect("", "Asia/Tokyo", "localtime")
	if err := os.WriteFile(filepath.Join(etc, "timezone"), []byte("Europe/Berlin\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("", "Europe/Berlin", "timezone")
	expect("nonsense", "Europe/Berlin", "timezone")
	expect("America/New_York", "America/New_York", "TZ")
	expect(":/usr/share/zoneinfo/Asia/Kolkata", "Asia/Kolkata", "TZ")
	if err := os.Remove(filepath.Join(etc, "timezone")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(etc, "localtime")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(etc, "localtime"), []byte("TZif"), 0o600); err != nil {
		t.Fatal(err)
	}
	if zone, _, err := machineZone("", etc); err == nil {
		t.Errorf("a copied localtime is taken for %q", zone)
	}
}

func TestTokenIsFound(t *testing.T) {
	t.Chdir(t.TempDir())
	home := t.TempDir()
	env := environment{"HOME": home}
	write := func(dir, text string) {
		t.Helper()
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "admin.token"), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want string) {
		t.Helper()
		c := &cli{env: env}
		if to, err := c.destination(); to.Token != want || err != nil {
			t.Errorf("token %q, %v, want %q", to.Token, err, want)
		}
	}
	expect("")
	write(filepath.Join(home, ".local", "state", "carillon"), "of-home")
	expect("of-home")
	state := t.TempDir()
	env["XDG_STATE_HOME"] = state
	write(filepath.Join(state, "carillon"), "of-state")
	expect("of-state")
	env["CARILLON_DATA_DIR"] = filepath.Join(state, "own")
	write(env["CARILLON_DATA_DIR"], "of-data-dir")
	expect("of-data-dir")
	write("data", "of-here")
	expect("of-here")
	env["CARILLON_TOKEN"] = "of-environment"
	expect("of-environment")
	if got, err := token("of-flag", "", env); got != "of-flag" || err != nil {
		t.Errorf("token %q, %v", got, err)
	}
}

func TestTable(t *testing.T) {
	var tb table
	tb.row("NAME", "TITLE", "X")
	tb.row("a", "每晚报表", "1")
	tb.row("longer", "b\nc\x1b", "2")
	var out bytes.Buffer
	if err := tb.print(&out); err != nil {
		t.Fatal(err)
	}
	want := "NAME    TITLE     X\na       每晚报表  1\nlonger  b c       2\n"
	if out.String() != want {
		t.Errorf("got\n%s", out.String())
	}
	if got := cut("每晚报表", 5); got != "每晚…" {
		t.Errorf("cut: %q", got)
	}
}
