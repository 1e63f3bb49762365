package access

import (
	"encoding/json"
	"slices"

	"carillon/internal/common"
)

// Unaudited returns the tokens that none of the changes made with their role. A client that may write to etcd can make
// such a token, without an entry in the audit.
func Unaudited(tokens []TokenRecord, changes []common.Change) []TokenRecord {
	made := map[string]Role{}
	for i := range changes {
		var after TokenRecord
		if changes[i].Kind == AuditKind && json.Unmarshal(changes[i].After, &after) == nil {
			made[after.ID] = after.Role
		}
	}
	return slices.DeleteFunc(slices.Clone(tokens), func(r TokenRecord) bool {
		role, found := made[r.ID]
		return found && role == r.Role
	})
}

// AuditKind is the kind of changes of tokens.
const AuditKind = "token"
