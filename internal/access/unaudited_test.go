package access

import (
	"encoding/json"
	"testing"

	"carillon/internal/common"
)

func TestUnaudited(t *testing.T) {
	change := func(kind, id string, role Role) common.Change {
		after, err := json.Marshal(TokenRecord{ID: id, Role: role})
		if err != nil {
			t.Fatal(err)
		}
		return common.Change{Kind: kind, After: after}
	}
	changes := []common.Change{
		change(AuditKind, "a", Admin),
		change(AuditKind, "b", Viewer),
		change("job", "c", Admin),
		{Kind: AuditKind}, // deletes one
	}
	tokens := []TokenRecord{{ID: "a", Role: Admin}, {ID: "b", Role: Admin}, {ID: "c", Role: Admin}, {ID: "d"}}
	got := Unaudited(tokens, changes)
	if len(got) != 3 || got[0].ID != "b" || got[1].ID != "c" || got[2].ID != "d" {
		t.Errorf("got %+v, want b with another role, c of another kind, and d", got)
	}
	if len(tokens) != 4 || tokens[0].ID != "a" {
		t.Errorf("the list itself has changed: %+v", tokens)
	}
}
