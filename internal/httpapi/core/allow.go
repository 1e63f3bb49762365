package core

import (
	"context"
	"fmt"

	"carillon/internal/access"
	"carillon/internal/common"
)

// May reports whether the caller has at least the role need for the jobs of a group. The access of
// a route only checks that the caller has the role for some group.
func May(ctx context.Context, need access.Role, group string) bool {
	who, ok := Identity(ctx)
	return ok && who.May(need, group)
}

// Allow returns an error if may is false.
func Allow(ctx context.Context, need access.Role, group string) error {
	who, ok := Identity(ctx)
	if !ok {
		return ErrNoCredentials()
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

// AllowEverywhere returns an error for callers who have the role in some groups only: for
// operations on all jobs, or on none.
func AllowEverywhere(ctx context.Context, need access.Role) error { return Allow(ctx, need, "") }

// Somewhere reports whether the caller has the role for any group.
func Somewhere(ctx context.Context, need access.Role) bool {
	who, ok := Identity(ctx)
	return ok && who.Somewhere(need)
}

// AllowSomewhere returns an error if Somewhere is false.
func AllowSomewhere(ctx context.Context, need access.Role) error {
	if Somewhere(ctx, need) {
		return nil
	}
	return AllowEverywhere(ctx, need)
}

func errRole(need, has access.Role) *common.Error {
	if has == "" {
		has = "none"
	}
	return common.Errorf(common.CodeForbidden, "your role does not allow this").WithReason("role").
		With("need", need, "has", has).WithHint(fmt.Sprintf("it needs the role %s; yours is %s", need, has))
}

// ErrNoCredentials returns the error of a request that requires credentials and has none.
func ErrNoCredentials() error {
	return &common.Error{Code: common.CodeUnauthenticated, Message: "you are not signed in",
		Hint: "send Authorization: Bearer <token>, or sign in"}
}
