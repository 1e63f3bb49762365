package httpapi

import (
	"context"
	"fmt"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// may tells whether the one who asks may do what needs a role with a job of a group. A
// route's own access says only that they may do it with some.
func may(ctx context.Context, need auth.Role, group string) bool {
	who, ok := identity(ctx)
	return ok && who.May(need, group)
}

// allow refuses what may does not allow.
func allow(ctx context.Context, need auth.Role, group string) error {
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

// allowEverywhere refuses those who have the role in some groups at most: for what concerns
// all jobs, or none.
func allowEverywhere(ctx context.Context, need auth.Role) error { return allow(ctx, need, "") }

func errRole(need, has auth.Role) *common.Error {
	if has == "" {
		has = "none"
	}
	return &common.Error{Code: common.CodeForbidden, Reason: "role", Data: common.WordsOf("need", need, "has", has), Message: "your role does not allow this",
		Hint: fmt.Sprintf("it needs the role %s; yours is %s", need, has)}
}
