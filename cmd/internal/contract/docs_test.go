package contract

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocs_RequestsOfFlows_MatchTheDocument checks the requests in the guide on flows: each names an operation, with
// parameters that it has, and its body matches the schema.
func TestDocs_RequestsOfFlows_MatchTheDocument(t *testing.T) {
	t.Parallel()
	doc := start(t).document()
	guide, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "flows.md"))
	if err != nil {
		t.Fatal(err)
	}
	called := map[string]bool{}
	for _, block := range regexp.MustCompile("(?s)```http\n(.*?)```").FindAllStringSubmatch(string(guide), -1) {
		for one := range strings.SplitSeq(strings.TrimSpace(block[1]), "\n\n") {
			line, body, _ := strings.Cut(one, "\n")
			method, target, _ := strings.Cut(line, " ")
			to, err := url.Parse(target)
			if err != nil {
				t.Fatal(err)
			}
			op := doc.operationAt(method, to.Path)
			if op == nil {
				t.Errorf("%s: the document has no such operation", line)
				continue
			}
			called[op.id] = true
			for name := range to.Query() {
				if !op.takes(doc, name) {
					t.Errorf("%s: %s has no parameter %q", line, op.id, name)
				}
			}
			if body == "" {
				continue
			}
			v, err := read([]byte(body))
			if err != nil {
				t.Errorf("%s: %v", line, err)
				continue
			}
			for _, media := range fields(at(op.spec, "requestBody", "content")) {
				for _, fault := range doc.faults(fields(media)["schema"], "the body", v) {
					t.Errorf("%s: %s", line, fault)
				}
			}
		}
	}
	for _, id := range []string{"put-job", "run-job", "list-run-nodes", "list-approvals", "get-job-graph", "get-grid",
		"get-job-statistics", "search-runs", "approve-step", "reject-step", "pause-run", "resume-run", "kill-run",
		"rerun-run", "create-backfill", "get-backfill", "pause-backfill", "cancel-backfill", "get-job-calendar",
		"diff-job-versions", "rollback-job", "delete-job"} {
		if !called[id] {
			t.Errorf("docs/flows.md has no example of %s", id)
		}
	}
}

// operationAt returns the operation of a path; nil if there is none. A path without parameters goes first.
func (d document) operationAt(method, path string) (found *operation) {
	for _, op := range d.operations() {
		pattern := regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(op.path, "[^/]+")
		if op.method != method || !regexp.MustCompile("^"+pattern+"$").MatchString(path) {
			continue
		}
		if found == nil || !strings.Contains(op.path, "{") {
			found = &op
		}
	}
	return found
}

// takes reports whether the operation has a query parameter.
func (o *operation) takes(d document, name string) bool {
	params, _ := o.spec["parameters"].([]any)
	for _, p := range params {
		if of := d.resolve(p); of["in"] == "query" && of["name"] == name {
			return true
		}
	}
	return false
}
