package namedlock

import (
	"time"

	"carillon/internal/common"
)

// TermsOf returns terms.
func TermsOf(ttl, grace time.Duration) Terms {
	return Terms{TTL: common.Duration(ttl.String()), Grace: common.Duration(grace.String())}
}

// Check returns an error for a name, an id or terms that are not allowed.
func Check(name, id string, terms Terms) error {
	var faults []common.Fault
	if !common.ValidName(name) {
		faults = append(faults, common.NewFault("name", "name", name, "%s", common.NameRule))
	}
	if id == "" || len(id) > common.MaxLockID {
		faults = append(faults, common.NewFault("id", "length", id, "must be 1 to %d bytes", common.MaxLockID))
	}
	if faults = append(faults, terms.Faults()...); len(faults) > 0 {
		return common.Invalid("the lock cannot be used", faults...)
	}
	return nil
}
