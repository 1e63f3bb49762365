package httpapi

import (
	"context"
	"fmt"

	"carillon/internal/access"
	"carillon/internal/common"
)

// may reports whether the caller has at least the role need for the jobs of a group. The access of
// a route only checks that the caller has the role for some group.
func may(ctx context.Context, need access.Role, group string) bool {
	who, ok := identity(ctx)
	return ok && who.May(need, group)
}

// allow returns an error if may is false.
func allow(ctx context.Context, need access.Role, group string) error {
	who, ok := identity(ctx)
	if !ok {
		return errNoCredentials()
	}
	if who.May(need, group) {
		return nil
	}
	err := errRole(need, who.In(group))
	if group != "" {
		err.Message = fmt.Sprintf("your role in the group %q does not allow this", group)
	}
	return err
}

// allowEverywhere returns an error for callers who have the role in some groups only: for
// operations on all jobs, or on none.
func allowEverywhere(ctx context.Context, need access.Role) error { return allow(ctx, need, "") }

func errRole(need, has access.Role) *common.Error {
	if has == "" {
		has = "none"
	}
	return &common.Error{
		Code:    common.CodeForbidden,
		Reason:  "role",
		Data:    common.WordsOf("need", need, "has", has),
		Message: "your role does not allow this",
		Hint:    fmt.Sprintf("it needs the role %s; yours is %s", need, has),
	}
}
