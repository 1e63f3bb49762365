package search

import (
	"context"
	"errors"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

// count counts the checks of a context, which ends with one of them.
type count struct {
	context.Context
	looks, last int
	end         error
}

func (c *count) Err() error {
	if c.looks++; c.looks > c.last {
		return c.end
	}
	return nil
}

func lasting(looks int, end error) *count {
	return &count{Context: context.Background(), last: looks, end: end}
}

func repeated(text string, size int) []byte { return []byte(strings.Repeat(text, size/len(text))) }

// slow are expressions for which regexp reads much for each match, or works much for each character, with a
// text for each.
var slow = map[string][]byte{
	`a.*?.{200}c|a`:                        repeated("a", maxLine),
	`^a.*?.{60}c|a`:                        repeated("a", maxLine),
	`a{900}b|a{1,9}?`:                      repeated("a", maxLine),
	strings.Repeat("k", MaxPattern):        repeated("\u212a", maxLine),
	".*" + strings.Repeat("k", 99) + "b|.": repeated("\u212a", maxLine),
	`.*[\pL\pN]{9}|.`:                      repeated("é", maxLine),
}

// For any slow expression, a line is read a few times at most, and no further once the context has ended.
func TestWorkOfAPattern(t *testing.T) {
	for text, line := range slow {
		p := pattern(t, text, true, false)
		for _, after := range []int{0, overlap} {
			ctx := lasting(1<<30, nil)
			if _, _, _, err := p.find(ctx, line, after); err != nil || ctx.looks < 10 ||
				ctx.looks > 4*len(line)/patience+overlap {
				t.Errorf("%.40s after %d: %d looks at the context, %v", text, after, ctx.looks, err)
			}
			ctx = lasting(5, context.Canceled)
			if _, _, _, err := p.find(ctx, line, after); !errors.Is(err, context.Canceled) || ctx.looks > 7 {
				t.Errorf("%.40s after %d: %v, %d looks", text, after, err, ctx.looks)
			}
		}
	}
}

// A search with a slow expression ends with its time, at any position in a line, and can be continued.
func TestSearch_TimeoutWithinLine_Ends(t *testing.T) {
	line := string(repeated("a", 2*maxLine))
	o := chunked("one\n"+line[:50_000], line[50_000:]+"\nlast")
	for _, text := range []string{"a.*?.{60}c|last|one", "^a.*?.{60}c|last|one"} {
		p := pattern(t, text, true, false)
		got := map[int64]bool{}
		for offset := int64(0); ; {
			ctx := lasting(3*maxLine/patience/2, context.DeadlineExceeded)
			scan, err := InRun(ctx, o, ended(o), p, "", offset, wide)
			if err != nil || ctx.looks > ctx.last+10 || !scan.Complete && scan.Next <= offset ||
				scan.Until < scan.Next || scan.Bytes > scan.Until-offset {
				t.Fatalf("%.40s from %d: %+v, %v, %d looks", text, offset, scan, err, ctx.looks)
			}
			for _, m := range scan.Matches {
				got[m.Offset] = true
			}
			if scan.Complete {
				break
			}
			offset = scan.Next
		}
		if len(got) != 2 || !got[0] || !got[o.size()-4] {
			t.Errorf("%s: %v", text, got)
		}
		if _, err := InRun(lasting(20, context.DeadlineExceeded), o, ended(o), p, "", 4, wide); !errors.Is(err,
			ErrHeavy) {
			t.Errorf("%.40s: %v", text, err)
		}
		gone := lasting(20, context.Canceled)
		if _, err := InRun(gone, o, ended(o), p, "", 0, wide); !errors.Is(err, context.Canceled) ||
			gone.looks > gone.last+10 {
			t.Errorf("%.40s: who is gone: %v, %d looks", text, err, gone.looks)
		}
	}
}

// Many runs, each with a slow line, take no longer than one.
func TestSearch_TimeoutBetweenRuns_Ends(t *testing.T) {
	b := &book{outputs: map[string]output{}}
	for _, id := range []string{"c", "b", "a"} {
		o := chunked(string(repeated("a", maxLine)))
		r := *ended(o)
		r.ID, b.outputs[id] = id, o
		b.runs = append(b.runs, r)
	}
	p := pattern(t, "a.*?.{60}c|b", true, true)
	found, err := OverRuns(lasting(5*maxLine/patience/2, context.DeadlineExceeded), b, runlog.Query{Limit: 10}, p,
		Place{}, wide)
	if err != nil || found.Runs != 2 || found.Next == nil || found.Next.After == nil || found.Next.After.ID != "b" ||
		found.Bytes != 2*maxLine {
		t.Errorf("%+v, %v", found, err)
	}
	if _, err = OverRuns(lasting(20, context.DeadlineExceeded), b, runlog.Query{Limit: 10}, p, Place{},
		wide); !errors.Is(err, ErrHeavy) {
		t.Errorf("%v", err)
	}
	if _, err = OverRuns(lasting(20, context.Canceled), b, runlog.Query{Limit: 10}, p, Place{}, wide); !errors.Is(err,
		context.Canceled) {
		t.Errorf("%v", err)
	}
}

// The matches are those of regexp: the first match, and the first of successive ones that ends after a
// position.
func TestSameAsRegexp(t *testing.T) {
	parts := []string{"a", "B", "é", "[ab]", "[^a]", `\w`, `\S`, ".", `\b`, `\B`, "^", "$", "(?s:.)", "(?m:^)",
		"(?m:$)", "(a|ab)", "(?:é|b)", "(?P<x>a)?", "a*?", "(b+)", "a{2}", "b{0,2}?", "(a*)+", "(|a)*", `\Qa.\E`,
		"(?-i)a", "()", `\z`}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 5).Draw(t, "parts"),
			rapid.SampledFrom([]string{"", "|"}).Draw(t, "between"))
		text = strings.Replace(text, "(?P<x>", "(", strings.Count(text, "(?P<x>")-1)
		exact := rapid.Bool().Draw(t, "exact")
		p := pattern(t, text, true, exact)
		if !exact {
			text = "(?i)" + text
		}
		re := regexp.MustCompile(text)
		line := []byte(rapid.StringOfN(rapid.SampledFrom([]rune("aAbBé. ")), 0, 12, -1).Draw(t, "line"))
		after := rapid.IntRange(0, len(line)).Draw(t, "after")
		line = append(line, repeated("-", 4096)...)
		var want []int
		if all := re.FindAllIndex(line, -1); after == 0 && len(all) > 0 {
			want = all[0]
		} else if after > 0 {
			for _, m := range all {
				if m[1] > after {
					want = m
					break
				}
			}
		}
		from, to, found, err := p.find(context.Background(), line, after)
		if err != nil || found != (want != nil) || found && (from != want[0] || to != want[1]) {
			t.Fatalf("%s in %q after %d: %d, %d, %v; want %v", text, line[:20], after, from, to, found, want)
		}
	})
}

// If matches that were reported before take much reading, the next one begins after all of them.
func TestSlowMatchesArePassedOver(t *testing.T) {
	line := string(repeated("a", 2*maxLine-overlap)) + "b\n"
	o := chunked(line)
	for text, want := range map[string]int64{"a.*?.{60}c|a": maxLine, "a.*?.{60}c|a+b": 2*maxLine - 2*overlap} {
		scan, err := InRun(t.Context(), o, ended(o), pattern(t, text, true, true), common.Stdout, 0, wide)
		if err != nil || len(scan.Matches) == 0 {
			t.Fatalf("%s: %+v, %v", text, scan, err)
		}
		if last := scan.Matches[len(scan.Matches)-1]; last.Offset != want {
			t.Errorf("%s: at %d, want %d", text, last.Offset, want)
		}
	}
}
