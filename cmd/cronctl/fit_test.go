package main

import (
	"bytes"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestWidth_CountsColumnsOfATerminal(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "每晚报表": 8, "한글": 4, "ｶﾅ": 2, "ＡＢ": 4, "e\u0301": 1, "a\u200db": 2, "🔔": 2, "…": 1, "─": 1,
	} {
		if got := width(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}

func TestCut_NeverExceedsTheLimit(t *testing.T) {
	for _, c := range []struct {
		text        string
		limit       int
		end, middle string
	}{
		{"short", 5, "short", "short"},
		{"nightly-report-europe", 11, "nightly-re…", "night…urope"},
		{"nightly-report-europe", 10, "nightly-r…", "night…rope"},
		{"每晚报表的名称", 8, "每晚报…", "每晚…称"},
		{"每晚报表的名称", 7, "每晚报…", "每…名称"},
		{"a每晚报表", 4, "a每…", "a…表"},
		{"e\u0301e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301…", "e\u0301…e\u0301"},
	} {
		if end, middle := cut(c.text, c.limit), cutMiddle(c.text, c.limit); end != c.end || middle != c.middle ||
			width(end) > c.limit || width(middle) > c.limit {
			t.Errorf("%q in %d columns: %q and %q, want %q and %q", c.text, c.limit, end, middle, c.end, c.middle)
		}
	}
}

func TestTable_OneLongName_FitsTheTerminal(t *testing.T) {
	long := "team-data-" + strings.Repeat("import-", 8) + "eu"
	for name, c := range map[string]struct {
		rows [][]string
		fit  int
		want string
	}{
		"fits": {
			rows: [][]string{{"NAME", "COMMAND"}, {"a", "make"}},
			fit:  80,
			want: "NAME  COMMAND\na     make\n",
		},
		"no terminal": {
			rows: [][]string{{"NAME", "NEXT"}, {long, "never"}, {"a", "never"}},
			want: "NAME" + strings.Repeat(" ", len(long)-2) + "NEXT\n" + long + "  never\na" +
				strings.Repeat(" ", len(long)+1) + "never\n",
		},
		"a name is cut in the middle": {
			rows: [][]string{{"NAME", "NEXT"}, {long, "2026-01-01 00:00:00"}, {"a", "-"}},
			fit:  50,
			want: "NAME                           NEXT\n" +
				"team-data-impo…port-import-eu  2026-01-01 00:00:00\n" +
				"a                              -\n",
		},
		"a command is cut at its end": {
			rows: [][]string{{"NAME", "COMMAND"}, {"a", strings.Repeat("0123456789", 9)}},
			fit:  40,
			want: "NAME  COMMAND\na     012345678901234567890123456789012…\n",
		},
		"prose stays whole": {
			rows: [][]string{{"CHECK", "TEXT"}, {"etcd", strings.Repeat("word ", 20) + "end"}},
			fit:  40,
			want: "CHECK  TEXT\netcd   " + strings.Repeat("word ", 20) + "end\n",
		},
		"wide characters": {
			rows: [][]string{{"NAME", "TITLE"}, {"a", strings.Repeat("报", 40)}},
			fit:  40,
			want: "NAME  TITLE\na     " + strings.Repeat("报", 16) + "…\n",
		},
		"names that would be equal": {
			rows: [][]string{{"NAME", "X"}, {"aaaaaaaaaaaaaaaaaaaa-1-bbbbbbbbbbbbbbbbbbbb", "1"},
				{"aaaaaaaaaaaaaaaaaaaa-2-bbbbbbbbbbbbbbbbbbbb", "2"}},
			fit: 30,
			want: "NAME" + strings.Repeat(" ", 41) + "X\naaaaaaaaaaaaaaaaaaaa-1-bbbbbbbbbbbbbbbbbbbb  1\n" +
				"aaaaaaaaaaaaaaaaaaaa-2-bbbbbbbbbbbbbbbbbbbb  2\n",
		},
		"a narrow terminal": {
			rows: [][]string{{"ID", "WHEN"}, {"abcdefghijklmnop", "2026-01-01 00:00:00"}},
			fit:  10,
			want: "ID                WHEN\nabcdefghijklmnop  2026-01-01 00:00:00\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			printed := table{rows: c.rows, fit: c.fit}
			if err := printed.print(&b); err != nil || b.String() != c.want {
				t.Errorf("%v\n%s\nwant\n%s", err, b.String(), c.want)
			}
		})
	}
}

// Only tables on a terminal are cut, and not with -o wide.
func TestGetJobs_OnATerminal_CutsLongCells(t *testing.T) {
	s := newStage(t)
	long := "team-data-" + strings.Repeat("import-", 8) + "eu"
	s.run("create", "job", long, "--cron", "0 3 * * *", "--", "make "+strings.Repeat("x", 90)).want(t, exitOK)
	s.run("create", "job", "a", "--", "true").want(t, exitOK)
	for _, c := range []struct {
		args []string
		cut  bool
	}{
		{[]string{"get", "jobs"}, true},
		{[]string{"get", "job", long}, true},
		{[]string{"get", "jobs", "-o", "wide"}, false},
		{[]string{"get", "jobs", "-o", "yaml"}, false},
		{[]string{"get", "jobs", "-o", "json"}, false},
	} {
		screen, program := openTerminal(t)
		size := &unix.Winsize{Col: 100, Row: 24}
		if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, size); err != nil {
			t.Fatal(err)
		}
		if code := run(t.Context(), c.args, strings.NewReader(""), program, program, []string{
			"CARILLON_SERVER=" + s.server.URL, "CARILLON_TOKEN=" + goodToken, "NO_COLOR=1"}); code != exitOK {
			t.Errorf("%q: exit code %d", c.args, code)
		}
		seen := readTerminal(t, screen, program)
		if strings.Contains(seen, long) == c.cut || strings.Contains(seen, "…") != c.cut {
			t.Errorf("%q:\n%s", c.args, seen)
		}
		for line := range strings.SplitSeq(seen, "\r\n") {
			if c.cut && width(line) > 100 {
				t.Errorf("%q: %d columns: %s", c.args, width(line), line)
			}
		}
		s.run(c.args...).want(t, exitOK, long)
	}
}
