package deploy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestProtocolPageNamesTestsAndCode checks that the tests, mutations, constants and functions that docs/protocol.md
// names exist, that each row of its evidence names a test or a mutation, and that no mutation is missing.
func TestProtocolPageNamesTestsAndCode(t *testing.T) {
	data, err := os.ReadFile("../docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	page := strings.Join(strings.Fields(string(data)), " ")
	for _, name := range regexp.MustCompile("`([a-z]+(?:/[a-z]+)+): ([A-Za-z0-9_]+)`").FindAllStringSubmatch(page, -1) {
		if strings.HasPrefix(name[2], "Test") {
			if !declared(t, name[1], name[2]) {
				t.Errorf("test %s in %s does not exist", name[2], name[1])
			}
			continue
		}
		declaration := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type |const |var |\t)` + name[2] + `\b`)
		if !declaration.MatchString(sources(t, name[1], false)) {
			t.Errorf("%s in %s does not exist", name[2], name[1])
		}
	}

	mutations := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+) +mutation = "[^"]`).FindAllStringSubmatch(sources(t, "test/model", true), -1) {
		mutations[m[1]] = false
	}
	if len(mutations) == 0 {
		t.Fatal("no mutations found in test/model")
	}
	evidence := false // the table's last column is evidence
	for line := range strings.Lines(string(data)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		last := strings.TrimSpace(cells[len(cells)-1])
		switch {
		case !strings.HasPrefix(line, "|"):
			evidence = false
		case last == "Shown by":
			evidence = true
		case evidence && !strings.HasPrefix(last, "---"):
			named := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(last, -1)
			if len(named) == 0 {
				t.Errorf("no test or mutation named: %s", line)
			}
			for _, name := range named {
				if strings.Contains(name[1], ": Test") {
					continue
				}
				if _, known := mutations[name[1]]; !known {
					t.Errorf("mutation %s does not exist", name[1])
				}
				mutations[name[1]] = true
			}
		}
	}
	for name, shown := range mutations {
		if !shown {
			t.Errorf("the page does not name mutation %s", name)
		}
	}
}

// sources returns the Go files of a package: its tests, or all others.
func sources(t *testing.T, folder string, tests bool) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") != tests {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
	}
	return all.String()
}
