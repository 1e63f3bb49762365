package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
)

// covers reports whether a pattern of the table matches the package.
func covers(pattern, pkg string) bool {
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return strings.HasPrefix(pkg, below+"/")
	}
	matched, _ := path.Match(pattern, pkg)
	return matched
}

func covered(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return covers(p, pkg) })
}

func kindOf(pkg string) (kind, bool) {
	if k, exact := table[pkg]; exact {
		return k, true
	}
	for pattern, k := range table {
		if covers(pattern, pkg) {
			return k, true
		}
	}
	return 0, false
}

// layerFaults returns the imports of the files that the floor plan forbids.
func layerFaults(files []*file) (faults []string) {
	for _, f := range files {
		from, known := kindOf(f.pkg)
		if !known {
			faults = append(faults, fmt.Sprintf("%s/%s: package %s is not in the table: decide on its layer", f.pkg,
				f.name, f.pkg))
			continue
		}
		for _, spec := range f.syntax.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			reason := ""
			if ours, ok := strings.CutPrefix(imported, module+"/"); ok {
				reason = forbidden(f, from, ours)
			} else if !f.test && from != support {
				reason = foreign(f.pkg, imported)
			}
			if reason != "" {
				faults = append(faults, fmt.Sprintf("%s: %s must not import %s: %s", f.place(spec.Pos()), f.pkg,
					imported, reason))
			}
		}
	}
	return faults
}

// forbidden returns why a package may not import another one of the module, or "". Tests may import anything
// except commands: test code is not shipped.
func forbidden(f *file, from kind, ours string) string {
	to, known := kindOf(ours)
	switch {
	case !known:
		return "it is not in the table"
	case covers("cmd/...", ours) && (!covers("cmd/internal/...", ours) || !covers("cmd/...", f.pkg)) && ours != f.pkg:
		return "commands are not imported"
	case f.test || from == support || ours == f.pkg:
		return ""
	case to == support:
		return "it is for tests"
	case from == wiring:
		return ""
	case to == wiring:
		return "only cmd, and others that wire parts, import it"
	case ours == zoneData:
		return ""
	case from == words:
		if f.pkg == "internal/common" || ours != "internal/common" {
			return "internal/common imports no package of the module but " + zoneData +
				", and its sub-packages only these"
		}
		return ""
	case to < from && (from != conductor || to != adapter):
		return ""
	case from == conductor && to == adapter:
		return "the conductor imports its own ports only"
	case to == from && strings.HasPrefix(f.pkg, ours+"/") && to == pure:
		return "" // a part of the package itself
	case to == from && isSibling(ours, f.pkg):
		return ""
	case to == from && from == adapter:
		return "adapters never import adapters"
	}
	return "imports go down only"
}

// isSibling reports whether a package may import another one of its layer.
func isSibling(ours, pkg string) bool {
	for pattern, by := range sibling {
		if covers(pattern, ours) && covered(by, pkg) {
			return true
		}
	}
	return false
}

// foreign returns why a package may not use a technology, or "".
func foreign(pkg, imported string) string {
	best := -1
	for i, room := range rooms {
		if imported == room.path || room.path != "log" && strings.HasPrefix(imported, room.path+"/") &&
			imported != "math/rand/v2" {
			if best < 0 || len(room.path) > len(rooms[best].path) {
				best = i
			}
		}
	}
	if best < 0 || covered(rooms[best].in, pkg) {
		return ""
	}
	if len(rooms[best].in) == 0 {
		return "it is not used here"
	}
	return "it belongs to " + strings.Join(rooms[best].in, ", ")
}

func TestLayers(t *testing.T) {
	for _, fault := range layerFaults(tree(t)) {
		t.Error(fault)
	}
}

// The rules themselves: each line has an import and the expected result.
func TestPlantedImports(t *testing.T) {
	const ok = ""
	for _, c := range []struct{ pkg, name, imported, want string }{
		{"internal/common", "a.go", "carillon/internal/common/schedule", "imports no package of the module"},
		{"internal/common/schedule", "a.go", "carillon/internal/common", ok},
		{"internal/common/schedule", "a.go", "carillon/internal/access", "imports no package of the module"},
		{"internal/common/schedule", "a.go", "carillon/internal/etcdkit", "imports no package of the module"},
		{"internal/runlog/rollup", "a.go", "carillon/internal/common", ok},
		{"internal/runlog/rollup", "a.go", "carillon/internal/platform/bootclock", "imports no package of the module"},
		{"internal/common", "a.go", "carillon/internal/scheduler", "imports no package of the module"},
		{"internal/scheduler", "a.go", "carillon/internal/common", ok},
		{"internal/scheduler", "a.go", "carillon/internal/jobmgr", "down only"},
		{"internal/scheduler", "a.go", "carillon/internal/runlog", "down only"},
		{"internal/runlog/entry", "a.go", "carillon/internal/runlog", ok},
		{"internal/runlog", "a.go", "carillon/internal/runlog/sqlitelog", "down only"},
		{"internal/jobmgr", "a.go", "carillon/internal/etcdkit", ok},
		{"internal/jobmgr", "a.go", "carillon/internal/joblock", "adapters never import adapters"},
		{"internal/httpapi", "a.go", "carillon/internal/etcdkit", "adapters never import adapters"},
		{"internal/httpapi", "a.go", "carillon/internal/runlog", ok},
		{"internal/httpapi", "a.go", "carillon/web", "only cmd"},
		{"internal/httpapi", "a.go", "carillon/internal/master", "only cmd"},
		{"local", "a.go", "carillon/internal/master", ok},
		{"local", "a.go", "carillon/cmd/internal/daemon", "commands are not imported"},
		{"internal/httpapi", "a.go", "carillon/internal/httpapi/secrets", ok},
		{"internal/httpapi/secrets", "a.go", "carillon/internal/httpapi/core", ok},
		{"internal/httpapi/secrets", "a.go", "carillon/internal/httpapi/audit", "adapters never import adapters"},
		{"internal/httpapi/secrets", "a.go", "carillon/internal/secrets/etcd", "adapters never import adapters"},
		{"internal/runlog/mongolog", "a.go", "carillon/internal/runlog/sqlitelog", "adapters never import adapters"},
		{"internal/dispatch", "a.go", "carillon/internal/scheduler", ok},
		{"internal/dispatch", "a.go", "carillon/internal/joblock", "its own ports"},
		{"internal/executor", "a.go", "carillon/internal/dispatch", "down only"},
		{"cmd/worker", "main.go", "carillon/internal/joblock", ok},
		{"cmd/worker", "main.go", "carillon/cmd/master", "commands are not imported"},
		{"cmd/worker", "main.go", "carillon/cmd/internal/daemon", ok},
		{"web", "a_test.go", "carillon/cmd/master", "commands are not imported"},
		{"deploy", "a_test.go", "carillon/cmd/internal/daemon", "commands are not imported"},
		{"cmd/worker", "main.go", "carillon/internal/etcdkit/etcdtest", "for tests"},
		{"internal/scheduler", "a_test.go", "carillon/internal/etcdkit/etcdtest", ok},
		{"internal/jobmgr", "a_test.go", "carillon/internal/joblock", ok},
		{"internal/novelty", "a.go", "fmt", "not in the table"},
		{"internal/jobmgr", "a.go", "carillon/internal/novelty", "not in the table"},

		{"internal/jobmgr", "a.go", "go.etcd.io/etcd/client/v3", ok},
		{"internal/httpapi", "a.go", "go.etcd.io/etcd/client/v3", "belongs to"},
		{"internal/jobmgr", "a.go", "go.etcd.io/etcd/server/v3/embed", "belongs to"},
		{"internal/platform/embedded", "a.go", "go.etcd.io/etcd/server/v3/embed", ok},
		{"internal/jobmgr", "a_test.go", "go.etcd.io/etcd/server/v3/embed", ok},
		{"internal/runlog/sqlitelog", "a.go", "database/sql", ok},
		{"internal/runlog", "a.go", "database/sql", "belongs to"},
		{"internal/runlog/entry", "a.go", "go.mongodb.org/mongo-driver/v2/bson", "belongs to"},
		{"internal/access", "a.go", "github.com/gin-gonic/gin", "belongs to"},
		{"cmd/master", "a.go", "github.com/danielgtaylor/huma/v2", "belongs to"},
		{"internal/platform/lifecycle", "a.go", "log", "it is not used here"},
		{"internal/platform/lifecycle", "a.go", "log/slog", ok},
		{"internal/scheduler/placement", "a.go", "math/rand/v2", ok},
	} {
		f := parse(t, c.pkg, c.name, fmt.Sprintf("package p\n\nimport _ %q\n", c.imported))
		faults := strings.Join(layerFaults([]*file{f}), "\n")
		if (faults == "") != (c.want == ok) || !strings.Contains(faults, c.want) {
			t.Errorf("%s/%s imports %s: got %q, want %q", c.pkg, c.name, c.imported, faults, c.want)
		}
	}
}
