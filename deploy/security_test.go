package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each requirement of docs/security.md names tests that there are.
func TestSecurityPageNamesItsTests(t *testing.T) {
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if m := regexp.MustCompile(`^\| (S\d+) \|`).FindStringSubmatch(line); m != nil {
			rows[m[1]] = line
		}
	}
	named := regexp.MustCompile("`([a-z/]+): ((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	for n := range 30 {
		id := fmt.Sprintf("S%d", n+1)
		tests := named.FindAllStringSubmatch(rows[id], -1)
		if len(tests) == 0 {
			t.Errorf("%s names no test", id)
		}
		for _, test := range tests {
			if !declared(t, test[1], test[2]) {
				t.Errorf("%s names %s in %s, which there is not", id, test[2], test[1])
			}
		}
	}
}

// TestReliabilityPageNamesItsTests checks that each guarantee of docs/reliability.md names a test, and that all tests
// named there exist.
func TestReliabilityPageNamesItsTests(t *testing.T) {
	page, err := os.ReadFile("../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([a-z/]+): ((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	for _, test := range named.FindAllStringSubmatch(string(page), -1) {
		if !declared(t, test[1], test[2]) {
			t.Errorf("%s in %s does not exist", test[2], test[1])
		}
	}
	_, guarantees, _ := strings.Cut(string(page), "\n## Guarantees\n")
	guarantees, _, _ = strings.Cut(guarantees, "\n## ")
	rows := 0
	for line := range strings.Lines(guarantees) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Guarantee |") {
			continue
		}
		if rows++; !named.MatchString(line) {
			t.Errorf("no test named: %s", line)
		}
	}
	if rows == 0 {
		t.Error("the table of guarantees is missing")
	}
}

func declared(t *testing.T, folder, function string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(source), "\nfunc "+function+"(") {
			return true
		}
	}
	return false
}
