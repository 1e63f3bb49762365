package search

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"carillon/internal/common"
	"carillon/internal/platform/virtualtime"
	"carillon/internal/runlog"
)

// output is the output of one run.
type output []common.Chunk

func (o output) Output(ctx context.Context, _ string, offset int64, limit int) (found []common.Chunk, err error) {
	size := 0
	for _, c := range o {
		if c.End() <= offset {
			continue
		}
		if size > 0 && size+len(c.Data) > limit {
			break
		}
		found, size = append(found, c), size+max(1, len(c.Data))
	}
	return found, ctx.Err()
}

func (o output) size() int64 {
	if len(o) == 0 {
		return 0
	}
	return o[len(o)-1].End()
}

// printed returns chunks of texts, one of each. A text that begins with ! comes from stderr, and ~ is a gap
// of ten bytes.
func chunked(texts ...string) (o output) {
	at := int64(0)
	for _, text := range texts {
		c := common.Chunk{Offset: at, Stream: common.Stdout}
		switch {
		case text == "~":
			c.Stream, c.Missing = "", 10
		case strings.HasPrefix(text, "!"):
			c.Stream, c.Data = common.Stderr, []byte(text[1:])
		default:
			c.Data = []byte(text)
		}
		o, at = append(o, c), c.End()
	}
	return o
}

func pattern(t interface{ Fatalf(string, ...any) }, text string, isRegexp, exact bool) *Pattern {
	p, fault := Compile(text, isRegexp, exact)
	if fault != nil {
		t.Fatalf("%q: %+v", text, fault)
	}
	return p
}

var wide = Bounds{Bytes: 1 << 40, Runs: 1 << 30, Matches: 1 << 30}

func ended(o output) *common.Run {
	return &common.Run{ID: "r", Attempt: 1, Status: common.StatusSucceeded, OutputBytes: o.size()}
}

func TestWhatIsFound(t *testing.T) {
	word, re := false, true
	for name, c := range map[string]struct {
		output []string
		text   string
		regex  bool
		exact  bool
		stream common.Stream
		want   string // offset+length of each match
	}{
		"a word":                     {[]string{"one\ntwo\nthree two\n"}, "two", word, true, "", "4+3 14+3"},
		"once for a line":            {[]string{"two two\ntwo\n"}, "two", word, true, "", "0+3 8+3"},
		"capitals":                   {[]string{"Two\ntWO\n"}, "tWo", word, false, "", "0+3 4+3"},
		"capitals count":             {[]string{"Two\ntwo\n"}, "Two", word, true, "", "0+3"},
		"capitals beyond ASCII":      {[]string{"ÄRGER\närger\n"}, "ärger", word, false, "", "0+6 7+6"},
		"CJK":                        {[]string{"每晚报表 完成\n"}, "完成", word, false, "", "13+6"},
		"not a regexp":               {[]string{"a.c\nabc\n"}, "A.C", word, false, "", "0+3"},
		"a regexp":                   {[]string{"a.c\nabc\n"}, "a.c$", re, true, "", "0+3 4+3"},
		"a regexp with capitals":     {[]string{"ERROR 5\nerror x\n"}, `error \d`, re, false, "", "0+7"},
		"alternatives stay together": {[]string{"ab\nb\nc\n"}, `^a|b$`, re, true, "", "0+1 3+1"},
		"alternatives and capitals":  {[]string{"AB\nB\nc\n"}, `^ab|b$`, re, false, "", "0+2 3+1"},
		"a quoted expression":        {[]string{"axb\na.b)\n"}, `\QA.b`, re, false, "", "4+3"},
		"ends of a line":             {[]string{"ab\r\nab \nxab\n"}, `^ab$`, re, true, "", "0+2"},
		"an empty line":              {[]string{"a\n\nb\n\r\n"}, `^$`, re, true, "", "2+0 5+0"},
		"a lone return":              {[]string{"10%\r20%\r30%\n"}, "20%\r30", word, true, "", "4+6"},
		"no last line end":           {[]string{"a\nlast"}, "last", word, true, "", "2+4"},
		"over chunks":                {[]string{"a sword", "fish\nb"}, "swordfish", word, true, "", "2+9"},
		"over many chunks":           {[]string{"a", "b", "c", "d"}, "bcd", word, true, "", "1+3"},
		"both streams as they came":  {[]string{"pass", "!word\n", "x"}, "password", word, true, "", "0+8"},
		"one stream": {[]string{"sword", "!no sword\n", "fish\n"}, "swordfish", word, true,
			common.Stdout, "0+18"},
		"the other stream": {[]string{"sword", "!no sword\n", "fish\n"}, "sword", word, true,
			common.Stderr, "8+5"},
		"not across a hole": {[]string{"sword", "~", "fish\nsword\n"}, "swordfish", word, true, "", ""},
		"beside a hole": {[]string{"sword", "~", "fish\nsword\n"}, "fish|sword", re, true, "",
			"0+5 15+4 20+5"},
		"NUL":                   {[]string{"a\x00b\x00c\n"}, "b\x00c", word, false, "", "2+3"},
		"no UTF-8":              {[]string{"\xff\xfesword\xff\n"}, "sword", word, false, "", "2+5"},
		"no UTF-8 for a regexp": {[]string{"\xffx\n"}, "^.x", re, false, "", "0+2"},
		"colours": {[]string{"\x1b[31mError:\x1b[0m disk \x1b[1mfull\x1b[m\n"}, "error: disk full",
			word, false, "", "5+24"},
		"colours at the ends": {[]string{"\x1b[31mError\x1b[0m\n"}, "^error$", re, false, "", "5+5"},
		"a title": {[]string{"sw\x1b]0;title\aord\x1b]8;;x\x1b\\fish\n"}, "swordfish", word, true,
			"", "0+27"},
		"a title without an end": {[]string{"\x1b]0;sword\nfish\n"}, "sword", word, true, "", "4+5"},
		"a lone escape":          {[]string{"sw\x1b", "ord\n"}, "sw", word, true, "", "0+2"},
		"only a sequence":        {[]string{"\x1b[2J\x1b(B\x1b=\n"}, `^$`, re, true, "", "9+0"},
	} {
		t.Run(name, func(t *testing.T) {
			o := chunked(c.output...)
			scan, err := InRun(t.Context(), o, ended(o), pattern(t, c.text, c.regex, c.exact), c.stream, 0, wide)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range scan.Matches {
				got = append(got, fmt.Sprintf("%d+%d", m.Offset, m.Length))
			}
			if strings.Join(got, " ") != c.want || !scan.Complete || scan.Until != o.size() || scan.Next != o.size() {
				t.Errorf("%q, want %q; %+v", got, c.want, scan)
			}
		})
	}
}

func TestPatternsThatAreRefused(t *testing.T) {
	for text, code := range map[string]string{
		"": "required", strings.Repeat("x", MaxPattern+1): "too_long", "\xff": "utf8", "a\nb": "line_end",
		"\x1b[31m": "escape",
		"(":        "regex", "a)(b": "regex", "*": "regex", `\C`: "regex", `a(?=b)`: "regex", "x{1001}": "regex",
		"((a{100}){100}){100}": "regex",
		`[\pL\pN]{500}`:        "too_large", strings.Repeat("a{900}", 3): "too_large",
		"(?:(?:a|b){30}c{5}){30}": "too_large",
		strings.Repeat("(", 1024): "regex",
	} {
		p, fault := Compile(text, true, false)
		if p != nil || fault == nil || fault.Code != code || fault.Message == "" ||
			strings.ContainsAny(fault.Message+fmt.Sprint(fault.Value), "\n\x1b\xff") {
			t.Errorf("%.40q: %+v, want %s", text, fault, code)
		}
	}
	for _, text := range []string{"x", "x{1000}", `\bfoo\b.*(bar|baz)+[^a-z]{20}`,
		strings.Repeat("x", MaxPattern), `\pL+`} {
		if _, fault := Compile(text, true, false); fault != nil {
			t.Errorf("%.40q: %+v", text, fault)
		}
	}
}

func TestShownText(t *testing.T) {
	o := chunked(strings.Repeat("é", 300) + "HIT" + strings.Repeat("é", 300) + "\n\x1b[1mplain\x1b[m\xffHIT\x00\n")
	scan, err := InRun(t.Context(), o, ended(o), pattern(t, "HIT", false, true), "", 0, wide)
	if err != nil || len(scan.Matches) != 2 {
		t.Fatal(scan, err)
	}
	long, short := scan.Matches[0], scan.Matches[1]
	if long.Before != strings.Repeat("é", shownBefore/2) || long.Text != "HIT" ||
		long.After != strings.Repeat("é", shownAfter/2) || !long.Cut || long.Line != 0 {
		t.Errorf("%+v", long)
	}
	if short.Before != "plain\ufffd" || short.After != "\x00" || short.Cut || short.Line != 1204 {
		t.Errorf("%+v", short)
	}
	o = chunked("<" + strings.Repeat("ab", 1000) + ">\n")
	if scan, err = InRun(t.Context(), o, ended(o), pattern(t, "<.*>", true, true), "", 0, wide); err != nil ||
		len(scan.Matches) != 1 || len(scan.Matches[0].Text) != shownMatch || scan.Matches[0].Length != 2002 {
		t.Errorf("%+v, %v", scan, err)
	}
}

// A word is found in a line of any length, wherever the pieces end, and offsets are right.
func TestLongLines(t *testing.T) {
	for _, at := range []int{0, maxLine - 9, maxLine - 8, maxLine - 5, maxLine - 1, maxLine, maxLine + 1,
		2*maxLine - overlap - 4, 200_000 - 9} {
		text := bytes.Repeat([]byte("-"), 200_000)
		copy(text[at:], "swordfish")
		o := chunked(string(text[:77_777]), string(text[77_777:]))
		scan, err := InRun(t.Context(), o, ended(o), pattern(t, "SWORDfish", false, false), "", 0, wide)
		if err != nil || len(scan.Matches) != 1 || scan.Matches[0].Offset != int64(at) || scan.Matches[0].Length != 9 ||
			!scan.Matches[0].Cut {
			t.Errorf("at %d: %+v, %v", at, scan, err)
		}
	}
}

// A line that the other stream interrupts for long ends there, so that a search makes progress.
func TestSearch_LineAcrossChunks_IsFound(t *testing.T) {
	texts := []string{"begun "}
	for range 40 {
		texts = append(texts, "!"+strings.Repeat("x", 64<<10))
	}
	o := chunked(append(texts, "and ended\n")...)
	p := pattern(t, "begun|ended", true, true)
	scan, err := InRun(t.Context(), o, ended(o), p, common.Stdout, 0, wide)
	if err != nil || len(scan.Matches) != 2 || scan.Matches[1].Line == 0 {
		t.Fatalf("%+v, %v", scan, err)
	}
	b := wide
	b.Bytes = 2 << 20
	if scan, err = InRun(t.Context(), o, ended(o), p, common.Stdout, 0, b); err != nil || len(scan.Matches) != 1 ||
		!scan.Short || scan.Next < 1<<20 {
		t.Errorf("%+v, %v", scan, err)
	}
}

// draw draws an output, with or without long lines, and the same output in other chunks.
func draw(t *rapid.T, long bool) (a, b output) {
	odd := []string{"~", "a\x1b[31mb\x1b[0m", "\xff\x00", "!\n", "\r\n", "é"}
	texts := rapid.SliceOfN(rapid.OneOf(rapid.StringMatching(`!?[abAB \n\r]{1,12}`), rapid.SampledFrom(odd)), 1,
		20).Draw(t, "texts")
	if long {
		at := rapid.IntRange(0, len(texts)).Draw(t, "at")
		texts = slices.Insert(texts, at, strings.Repeat("a b", 13_000), "!"+strings.Repeat("b", maxLine))
	}
	a = chunked(texts...)
	for _, c := range a {
		for len(c.Data) > 1 {
			n := len(c.Data)
			if n > 200 {
				n = rapid.IntRange(n/3, n).Draw(t, "cut")
			} else {
				n = rapid.IntRange(1, n).Draw(t, "cut")
			}
			first := c
			first.Data = c.Data[:n]
			c.Offset, c.Data = c.Offset+int64(n), c.Data[n:]
			b = append(b, first)
		}
		if len(c.Data)+int(c.Missing) > 0 {
			b = append(b, c)
		}
	}
	return a, b
}

func drawPattern(t *rapid.T) *Pattern {
	if rapid.Bool().Draw(t, "regexp") {
		return pattern(t, rapid.SampledFrom([]string{"a+b", "^a", "b$", "^$", "a b|b a", "[^a]b", `\bab?\b`,
			"a.{0,40}b"}).Draw(t, "expression"), true, rapid.Bool().Draw(t, "exact"))
	}
	return pattern(t, rapid.StringMatching(`[abAB ]{1,4}`).Draw(t, "word"), false, rapid.Bool().Draw(t, "exact"))
}

// The division of output into chunks never changes the matches.
func TestSearch_AnyChunking_SameMatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, rapid.IntRange(0, 3).Draw(t, "long") == 0)
		p := drawPattern(t)
		stream := rapid.SampledFrom([]common.Stream{"", common.Stdout, common.Stderr}).Draw(t, "stream")
		want, err := InRun(context.Background(), a, ended(a), p, stream, 0, wide)
		if err != nil {
			t.Fatal(err)
		}
		got, err := InRun(context.Background(), b, ended(b), p, stream, 0, wide)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%.2000q\nin other chunks %.2000q, %v", fmt.Sprint(want), fmt.Sprint(got), err)
		}
	})
}

// Offsets are right: from that of a match on, the output begins with the match. And a search in small steps
// finds the same as one in a single step.
func TestSearch_AnySteps_SameMatches(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, false) // in pieces of long lines, steps may report more
		p := drawPattern(t)
		want, err := InRun(context.Background(), a, ended(a), p, "", 0, wide)
		if err != nil {
			t.Fatal(err)
		}
		bytesAt := map[int64]byte{}
		for _, c := range a {
			for i, x := range c.Data {
				bytesAt[c.Offset+int64(i)] = x
			}
		}
		for _, m := range want.Matches {
			if x, ok := bytesAt[m.Offset]; m.Text != "" && m.Text[0] < utf8.RuneSelf && (!ok || x != m.Text[0]) {
				t.Fatalf("%+v: at its offset stands %q", m, x)
			}
		}
		bounds := Bounds{
			Bytes:   rapid.Int64Range(maxLine/64, maxLine/16).Draw(t, "bytes"),
			Matches: rapid.IntRange(1, 3).Draw(t, "matches"),
		}
		var got []Match
		for offset, steps := int64(0), 0; ; steps++ {
			scan, err := InRun(context.Background(), b, ended(b), p, "", offset, bounds)
			if err != nil || steps > 1000 {
				t.Fatalf("step %d at %d: %+v, %v", steps, offset, scan, err)
			}
			got = append(got, scan.Matches...)
			if scan.Complete {
				break
			}
			offset = scan.Next
		}
		got = slices.CompactFunc(got, func(x, y Match) bool { return x.Offset == y.Offset })
		offsets := func(all []Match) (list []int64) {
			for _, m := range all {
				list = append(list, m.Offset)
			}
			return list
		}
		if !slices.Equal(offsets(got), offsets(want.Matches)) {
			t.Fatalf("%v, in steps %v", offsets(want.Matches), offsets(got))
		}
	})
}

// The last line of an active run is searched, and again if it had no match.
func TestSearch_RunStillActive_Continues(t *testing.T) {
	o := chunked("one\nPass")
	run := ended(o)
	run.Status, run.OutputBytes = common.StatusRunning, 0
	p := pattern(t, "password|one", true, false)
	scan, err := InRun(t.Context(), o, run, p, "", 0, wide)
	if err != nil || len(scan.Matches) != 1 || scan.Complete || scan.Until != 8 || scan.Next != 4 {
		t.Fatalf("%+v, %v", scan, err)
	}
	o = chunked("one\nPass", "word:")
	if scan, err = InRun(t.Context(), o, run, p, "", scan.Next, wide); err != nil || len(scan.Matches) != 1 ||
		scan.Matches[0].Offset != 4 || scan.Next != 13 || scan.Complete {
		t.Fatalf("%+v, %v", scan, err)
	}
	o = chunked("one\nPass", "word:", " one")
	if scan, err = InRun(t.Context(), o, run, p, "", scan.Next, wide); err != nil || len(scan.Matches) != 1 ||
		scan.Matches[0].Offset != 14 {
		t.Fatalf("%+v, %v", scan, err)
	}
}

// An offset after the end of a run that has ended is its end.
func TestOffsetBehindTheEnd(t *testing.T) {
	o := chunked("one\n")
	for _, offset := range []int64{4, 5, math.MaxInt64} {
		scan, err := InRun(t.Context(), o, ended(o), pattern(t, "one", false, true), "", offset, wide)
		if err != nil || !scan.Complete || scan.Until != 4 || scan.Next != 4 || scan.Bytes != 0 {
			t.Errorf("%d: %+v, %v", offset, scan, err)
		}
	}
}

// book is a history in memory.
type book struct {
	runs    []common.Run
	outputs map[string]output
	slow    time.Duration // of each read
	reads   int
}

func (b *book) Output(ctx context.Context, run string, offset int64, limit int) ([]common.Chunk, error) {
	b.reads++
	select {
	case <-time.After(b.slow):
	case <-ctx.Done():
		return nil, common.Errorf(common.CodeUnavailable, "the log store is away")
	}
	return b.outputs[run].Output(ctx, run, offset, limit)
}

func (b *book) Runs(ctx context.Context, q runlog.Query) (page runlog.RunPage, err error) {
	for _, r := range b.runs {
		if q.Matches(&r) && len(page.Runs) < q.Limit {
			page.Runs = append(page.Runs, r)
		}
	}
	return page, ctx.Err()
}

// write adds n runs. Every third one printed a match, every tenth one nothing.
func writeBook(n int) *book {
	b := &book{outputs: map[string]output{}}
	for i := range n {
		r := common.Run{
			ID:        fmt.Sprintf("r%04d", i),
			Attempt:   1,
			Status:    common.StatusFailed,
			PlannedAt: time.Unix(int64(1_000_000+i/2), 0),
		}
		text := fmt.Sprintf("line one of %d\nline two\n", i)
		switch {
		case i%10 == 9:
			text = ""
		case i%3 == 0:
			text += strings.Repeat("needle\n", 5)
		}
		if text != "" {
			b.outputs[r.ID] = chunked(text)
		}
		r.OutputBytes = int64(len(text))
		b.runs = append(b.runs, r)
	}
	b.runs[4].Status, b.runs[4].OutputBytes = common.StatusRunning, 0
	b.outputs["r0004"] = chunked("a needle in what goes on")
	b.runs[5].Status, b.runs[5].Attempt = common.StatusWaiting, 1
	slices.SortFunc(b.runs, func(x, y common.Run) int {
		return cmp.Or(runlog.PositionOf(&x).Compare(runlog.PositionOf(&y)))
	})
	return b
}

func all(t *testing.T, b *book, limit int, bounds Bounds) (hits []Hit, steps int) {
	t.Helper()
	place := Place{}
	for {
		found, err := OverRuns(t.Context(), b, runlog.Query{Limit: limit}, pattern(t, "needle", false, false),
			place, bounds)
		if err != nil {
			t.Fatal(err)
		}
		steps++
		hits = append(hits, found.Hits...)
		if len(found.Hits) > limit || found.Runs > bounds.Runs {
			t.Errorf("%d hits, %d runs", len(found.Hits), found.Runs)
		}
		if found.Next == nil {
			return hits, steps
		}
		if found.Next.After != nil && !found.Until.Equal(found.Next.After.PlannedAt) && found.Next.Run == "" {
			t.Errorf("until %v, next %+v", found.Until, found.Next)
		}
		place = *found.Next
	}
}

func TestOverRuns(t *testing.T) {
	b := writeBook(350)
	want, _ := all(t, b, 1000, Bounds{Bytes: 1 << 30, Runs: 1000, Matches: 3})
	if len(want) != 105+1 { // 117 of three, 12 of them without output, and the active one
		t.Fatalf("%d hits", len(want))
	}
	for _, h := range want {
		if h.Run.ID != "r0004" && (len(h.Matches) != 3 || !h.More) {
			t.Fatalf("%+v", h)
		}
	}
	for _, c := range []struct {
		limit  int
		bounds Bounds
		least  int
	}{{7, Bounds{Bytes: 1 << 30, Runs: 1000, Matches: 3}, 15}, {1000, Bounds{Bytes: 1 << 30, Runs: 20, Matches: 3}, 17},
		{1000, Bounds{Bytes: 200, Runs: 1000, Matches: 3}, 30}, {1, Bounds{Bytes: 1, Runs: 1, Matches: 3}, 300}} {
		got, steps := all(t, b, c.limit, c.bounds)
		same := slices.EqualFunc(got, want, func(a, b Hit) bool {
			return a.Run.ID == b.Run.ID && reflect.DeepEqual(a.Matches, b.Matches)
		})
		if !same || steps < c.least {
			t.Errorf("%+v: %d hits in %d steps", c, len(got), steps)
		}
	}
}

// A search is continued in a run whose output exceeds the bound of one search.
func TestOverRunsGoesOnWithinARun(t *testing.T) {
	b := writeBook(12)
	var texts []string
	for i := range 40 {
		texts = append(texts, fmt.Sprintf("%d %s\n", i, strings.Repeat("x", 60<<10)))
	}
	b.outputs["r0006"] = chunked(append(texts, "the last needle\n")...)
	for i := range b.runs {
		if b.runs[i].ID == "r0006" {
			b.runs[i].OutputBytes = b.outputs["r0006"].size()
		}
	}
	hits, steps := all(t, b, 100, Bounds{Bytes: 512 << 10, Runs: 100, Matches: 3})
	var ids []string
	for _, h := range hits {
		ids = append(ids, h.Run.ID)
	}
	if fmt.Sprint(ids) != "[r0006 r0004 r0003 r0000]" || steps < 5 {
		t.Errorf("%v in %d steps", ids, steps)
	}
}

func TestTimeIsBounded(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		b := writeBook(345)
		b.slow = 100 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), 3050*time.Millisecond)
		defer cancel()
		found, err := OverRuns(ctx, b, runlog.Query{Limit: 1000}, pattern(t, "needle", false, false), Place{}, wide)
		if err != nil || found.Next == nil || found.Runs == 0 || found.Runs > 40 || found.Until.IsZero() {
			t.Errorf("%+v, %v", found, err)
		}
		b.slow = time.Hour
		ctx, cancel = context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err = OverRuns(ctx, b, runlog.Query{Limit: 1000}, pattern(t, "needle", false, false), Place{},
			wide); !errors.Is(err, ErrSlow) {
			t.Errorf("%v", err)
		}
		if _, err = InRun(ctx, b, &b.runs[0], pattern(t, "needle", false, false), "", 0,
			wide); !errors.Is(err, ErrSlow) {
			t.Errorf("%v", err)
		}
	})
}

// A search ends when its caller has left.
func TestSearch_ClientGone_Ends(t *testing.T) {
	virtualtime.Test(t, func(t *testing.T) {
		b := writeBook(350)
		b.slow = 100 * time.Millisecond
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		if found, err := OverRuns(ctx, b, runlog.Query{Limit: 1000}, pattern(t, "needle", false, false), Place{},
			wide); err == nil {
			t.Errorf("%+v", found)
		}
		if time.Since(began) > time.Second || b.reads > 12 {
			t.Errorf("went on for %v, %d reads", time.Since(began), b.reads)
		}
	})
}

func BenchmarkInRun(b *testing.B) {
	line := "2026-11-21T21:04:03Z level=info msg=\"stored batch\" table=orders rows=1382 took=12ms " +
		"path=/srv/data/part-00017\n"
	var texts []string
	for range 256 {
		texts = append(texts, strings.Repeat(line, 64<<10/len(line)))
	}
	o := chunked(texts...)
	for name, p := range map[string]*Pattern{
		"word":                pattern(b, "Error", false, true),
		"word any case":       pattern(b, "Error", false, false),
		"expression":          pattern(b, `error:? \d+`, true, true),
		"expression any case": pattern(b, `error:? \d+`, true, false),
		"large expression":    pattern(b, `(\w+\s?){100}!`, true, true),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(o.size())
			for b.Loop() {
				if _, err := InRun(b.Context(), o, ended(o), p, "", 0, wide); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
