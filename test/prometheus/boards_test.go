package prometheus

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// board is as much of Grafana's dashboard model as the test needs.
type board struct {
	UID           string
	Title         string
	SchemaVersion int
	Templating    struct{ List []struct{ Name string } }
	Panels        []struct {
		ID      int
		Title   string
		Type    string
		GridPos struct{ X, Y, W, H int }
		Targets []struct{ Expr, RefID string }
	}
}

// TestBoards parses each expression of the boards, and checks that no panel covers another one.
func TestBoards(t *testing.T) {
	files, err := filepath.Glob("../../deploy/grafana/boards/*.json")
	if err != nil || len(files) != 2 {
		t.Fatalf("boards: %q, %v", files, err)
	}
	uids := map[string]bool{}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var b board
		if err := json.Unmarshal(data, &b); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if b.UID == "" || uids[b.UID] || b.Title == "" || b.SchemaVersion != 38 {
			t.Errorf("%s: uid %q, title %q, schema %d", file, b.UID, b.Title, b.SchemaVersion)
		}
		uids[b.UID] = true
		variables := []string{"$__rate_interval", "5m"}
		for _, v := range b.Templating.List {
			variables = append(variables, "$"+v.Name, "x")
		}
		fill := strings.NewReplacer(variables...)
		ids, cells := map[int]bool{}, map[[2]int]string{}
		for _, p := range b.Panels {
			if ids[p.ID] {
				t.Errorf("%s: two panels with id %d", file, p.ID)
			}
			ids[p.ID] = true
			if len(p.Targets) == 0 && p.Type != "row" {
				t.Errorf("%s: panel %q has no query", file, p.Title)
			}
			for _, query := range p.Targets {
				expr := fill.Replace(query.Expr)
				if strings.Contains(expr, "$") {
					t.Errorf("%s: panel %q: unknown variable in %s", file, p.Title, query.Expr)
				}
				if _, err := parser.NewParser(parser.Options{}).ParseExpr(expr); err != nil {
					t.Errorf("%s: panel %q: %v", file, p.Title, err)
				}
			}
			for x := range p.GridPos.W {
				for y := range p.GridPos.H {
					cell := [2]int{p.GridPos.X + x, p.GridPos.Y + y}
					if other := cells[cell]; other != "" || cell[0] >= 24 {
						t.Fatalf("%s: panel %q covers %q", file, p.Title, other)
					}
					cells[cell] = p.Title
				}
			}
		}
	}
}
