package core

import (
	"testing"

	"carillon/internal/common"
	"carillon/internal/runlog"
	"carillon/internal/runlog/search"
)

func FuzzCursor(f *testing.F) {
	for _, seed := range []string{"", "e30", "bnVsbA",
		"eyJsIjoicnVucyIsImEiOnsidCI6IjIwMjYtMDEtMDFUMDA6MDA6MDBaIiwiaSI6ImEifX0", "eyJsIjoiam9icyIsImEiOiJhIn0", "!"} {
		f.Add("runs", seed)
	}
	f.Fuzz(func(t *testing.T, list, text string) {
		for _, err := range []error{
			second(ReadCursor[string](list, text)), second(ReadCursor[runlog.Position](list, text)),
			second(ReadCursor[runlog.FireCursor](list, text)), second(ReadCursor[search.Place](list, text)),
		} {
			if err != nil && common.CodeOf(err) != common.CodeInvalid {
				t.Errorf("%q: %v", text, err)
			}
		}
		if after, err := ReadCursor[string](list, text); err == nil && text != "" {
			again, err := WriteCursor(list, &after)
			if back, err2 := ReadCursor[string](list, again); err != nil || err2 != nil || back != after {
				t.Errorf("%q becomes %q (%v, %v)", after, back, err, err2)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// FuzzHeaders reads the headers that have a grammar of their own.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{`"1"`, `W/"9"`, `*`, "zh-CN;q=0.9,en"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if pre, err := Precondition(text, ""); err == nil && text != "" && pre.Version <= 0 {
			t.Errorf("If-Match %q is version %d", text, pre.Version)
		}
		Language(text)
	})
}
