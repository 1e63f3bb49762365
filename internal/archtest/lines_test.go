package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is the longest line of a hand-written file; a tab counts tabColumns.
const (
	maxColumns = 120
	tabColumns = 4
)

// longLines returns the lines of a file that are too long. Raw strings cannot be wrapped, and neither can directives.
func longLines(f *file) (faults []string) {
	if ast.IsGenerated(f.syntax) {
		return nil
	}
	raw := map[int]bool{}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if text, ok := n.(*ast.BasicLit); ok && text.Kind == token.STRING && text.Value[0] == '`' {
			for line := f.fset.Position(text.Pos()).Line; line <= f.fset.Position(text.End()).Line; line++ {
				raw[line] = true
			}
		}
		return true
	})
	for i, line := range strings.Split(f.text, "\n") {
		columns := utf8.RuneCountInString(line) + (tabColumns-1)*strings.Count(line, "\t")
		if columns > maxColumns && !raw[i+1] && !strings.HasPrefix(line, "//go:") {
			faults = append(faults,
				fmt.Sprintf("%s/%s:%d: %d columns, at most %d", f.pkg, f.name, i+1, columns, maxColumns))
		}
	}
	return faults
}

func TestLinesAreShort(t *testing.T) {
	for _, f := range tree(t) {
		for _, fault := range longLines(f) {
			t.Error(fault)
		}
	}
}

func TestPlantedLongLine(t *testing.T) {
	const ok = ""
	long := strings.Repeat("x", maxColumns)
	for source, want := range map[string]string{
		"package p\n\nconst a = `" + long + "`\n":   ok,
		"package p\n\nconst a = `\n" + long + "`\n": ok,
		"package p\n\n//go:generate " + long + "\n": ok,
		"package p\n\nconst a = \"" + long + "\"\n": "3: 132 columns",
		"package p\n\n// " + long + "\n":            "3: 123 columns",
		"package p\n\n\t// " + long[:114] + "\n":    "3: 121 columns",
	} {
		faults := strings.Join(longLines(parse(t, "internal/p", "p.go", source)), "\n")
		if (faults == "") != (want == ok) || !strings.Contains(faults, want) {
			t.Errorf("%s: got %q, want %q", source, faults, want)
		}
	}
}
