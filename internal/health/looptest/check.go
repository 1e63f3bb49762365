package looptest

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/platform/lifecycle"
)

// Row describes a loop of a daemon: one of its parts that serve, or one of the elected master's duties. Each raises a
// condition when it stands still: one of its health.Loops, or one that it raises itself.
type Row struct {
	Loops []string // by name, in health.Loops
	Codes []string // conditions that the part raises itself
	Ends  string   // why it needs none: the process ends when it fails
	Tests []string // what shows it
}

// Certificates is the row of the part that keeps certificates.
func Certificates() Row {
	return Row{Codes: []string{common.ConditionCertificateEnds, common.ConditionCertificateBad},
		Tests: []string{"TestReplacedCertificateIsUsed", "TestCertificateThatEnds"}}
}

// Check reports the loops of a daemon that raise nothing when they stand still, have no test, or are not described in
// docs/reliability.md. root is the folder of the module, names the loops, and specs the health.Loops.
func Check(t *testing.T, root, daemon string, table map[string]Row, names []string, specs []health.Spec) {
	t.Helper()
	tests := testNames(t, root)
	page, err := os.ReadFile(filepath.Join(root, "docs", "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	table = maps.Clone(table)
	known := map[string]bool{}
	for _, name := range names {
		row, listed := table[name]
		if !listed {
			t.Errorf("%s: %q has no row in the table of loops: which condition does it raise when it stands still?",
				daemon, name)
			continue
		}
		delete(table, name)
		if len(row.Loops)+len(row.Codes) == 0 && row.Ends == "" {
			t.Errorf("%s: %q raises nothing", daemon, name)
		}
		if row.Ends == "" && len(row.Tests) == 0 {
			t.Errorf("%s: %q has no test", daemon, name)
		}
		for _, test := range row.Tests {
			if !tests[test] {
				t.Errorf("%s: %q names %s, which is no test", daemon, name, test)
			}
		}
		for _, code := range row.Codes {
			if !slices.Contains(common.ConditionCodes(), code) {
				t.Errorf("%s: %q names %s, which is no condition", daemon, name, code)
			}
		}
		for _, loop := range row.Loops {
			known[loop] = true
		}
		if !strings.Contains(string(page), "| "+name+" |") {
			t.Errorf("docs/reliability.md has no row for %q of a %s", name, daemon)
		}
	}
	for name := range table {
		t.Errorf("%s: %q is in the table of loops, and is no part of it", daemon, name)
	}
	for _, spec := range specs {
		if !known[spec.Name] {
			t.Errorf("%s: loop %s belongs to no part", daemon, spec.Name)
		}
		delete(known, spec.Name)
		if spec.Effect == "" || spec.Limit > time.Minute {
			t.Errorf("%s: loop %s: effect %q, limit %v", daemon, spec.Name, spec.Effect, spec.Limit)
		}
		if !strings.Contains(string(page), "`"+spec.Name+"`") {
			t.Errorf("docs/reliability.md does not name loop %s", spec.Name)
		}
	}
	for name := range known {
		t.Errorf("%s: there is no loop %s", daemon, name)
	}
}

// Serving returns the names of the parts that serve.
func Serving(parts []lifecycle.Part) (names []string) {
	for _, p := range parts {
		if p.Serve != nil {
			names = append(names, p.Name)
		}
	}
	return names
}

// testNames returns the names of all tests of the module.
func testNames(t *testing.T, root string) map[string]bool {
	t.Helper()
	test := regexp.MustCompile(`(?m)^func (Test\w+)`)
	names := map[string]bool{}
	for _, folder := range []string{"cmd", "internal", "test"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			source, err := os.ReadFile(path)
			for _, found := range test.FindAllSubmatch(source, -1) {
				names[string(found[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}
