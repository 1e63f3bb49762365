package httpapi

import (
	"context"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// visit is what is known of a request from its first moment; it travels in the context.
type visit struct {
	requestID string
	remote    string // address, without the port
	session   string // secret of the session cookie that was accepted
	who       *auth.Identity
	quiet     bool   // one of too many: the log tells of them together
	body      []byte // of a raw route, as it was sent
	// again asks once more who what the request carries belongs to; nil for nobody.
	again func(context.Context) (auth.Identity, error)
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

// identity is who asks; ok is false for somebody who has not shown it.
func identity(ctx context.Context) (auth.Identity, bool) {
	if v := visitOf(ctx); v.who != nil {
		return *v.who, true
	}
	return auth.Identity{}, false
}

// asAgain is the context of the one who asks, as they are by now: who is asked for long may
// have fewer rights than in the beginning, or none.
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

// actor is who asks, as it is written into the history of changes.
func actor(ctx context.Context) common.Actor {
	v := visitOf(ctx)
	a := common.Actor{Remote: v.remote}
	if v.who != nil {
		a.Name, a.User, a.Token = v.who.Name, v.who.User, v.who.Token
	}
	return a
}
