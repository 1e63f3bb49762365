package httpapi

import (
	"context"

	"carillon/internal/access"
	"carillon/internal/common"
)

// visit holds what is known of a request; it is in the context.
type visit struct {
	requestID string
	remote    string // client address, without the port
	session   string // secret of the accepted session cookie
	who       *access.Identity
	quiet     bool   // refused by a limit: the log counts these together
	body      []byte // body of a raw route
	// again authenticates the request's credentials again; nil without credentials.
	again func(context.Context) (access.Identity, error)
}

type visitKey struct{}

func withVisit(ctx context.Context, v *visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

func visitOf(ctx context.Context) *visit {
	if v, ok := ctx.Value(visitKey{}).(*visit); ok {
		return v
	}
	return &visit{}
}

func requestID(ctx context.Context) string { return visitOf(ctx).requestID }

// identity returns the caller; ok is false for unauthenticated requests.
func identity(ctx context.Context) (access.Identity, bool) {
	if v := visitOf(ctx); v.who != nil {
		return *v.who, true
	}
	return access.Identity{}, false
}

// asAgain returns the context with the caller's current rights: those of a long request may have
// changed since its beginning, or ended.
func asAgain(ctx context.Context) (context.Context, error) {
	v := *visitOf(ctx)
	if v.again == nil {
		return ctx, nil
	}
	who, err := v.again(ctx)
	if err != nil {
		return ctx, err
	}
	v.who = &who
	return withVisit(ctx, &v), nil
}

// actor returns the caller for an audit entry.
func actor(ctx context.Context) common.Actor {
	v := visitOf(ctx)
	a := common.Actor{Remote: v.remote}
	if v.who != nil {
		a.Name, a.User, a.Token = v.who.Name, v.who.User, v.who.Token
	}
	return a
}
