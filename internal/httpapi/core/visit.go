package core

import (
	"context"
	"net/netip"
	"strings"

	"carillon/internal/access"
	"carillon/internal/common"
)

// Visit holds what is known of a request; it is in the context.
type Visit struct {
	RequestID string
	Remote    string // client address, without the port
	Session   string // secret of the accepted session cookie
	Caller    *access.Identity
	Quiet     bool   // refused by a limit: the log counts these together
	Body      []byte // body of a raw route
	// Reauthenticate authenticates the request's credentials again; nil without credentials.
	Reauthenticate func(context.Context) (access.Identity, error)
}

type visitKey struct{}

// WithVisit returns a context with the visit.
func WithVisit(ctx context.Context, v *Visit) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

// VisitOf returns the visit of a request; an empty one if there is none.
func VisitOf(ctx context.Context) *Visit {
	if v, ok := ctx.Value(visitKey{}).(*Visit); ok {
		return v
	}
	return &Visit{}
}

// Identity returns the caller; ok is false for unauthenticated requests.
func Identity(ctx context.Context) (access.Identity, bool) {
	if v := VisitOf(ctx); v.Caller != nil {
		return *v.Caller, true
	}
	return access.Identity{}, false
}

// reauthenticated returns the context with the caller's current rights: those of a long request may have
// changed since its beginning, or ended.
func reauthenticated(ctx context.Context) (context.Context, error) {
	v := *VisitOf(ctx)
	if v.Reauthenticate == nil {
		return ctx, nil
	}
	who, err := v.Reauthenticate(ctx)
	if err != nil {
		return ctx, err
	}
	v.Caller = &who
	return WithVisit(ctx, &v), nil
}

// Actor returns the caller for an audit entry.
func Actor(ctx context.Context) common.Actor {
	v := VisitOf(ctx)
	a := common.Actor{Remote: v.Remote, Request: v.RequestID}
	if v.Caller != nil {
		a.Name, a.User, a.Token = v.Caller.Name, v.Caller.User, v.Caller.Token
	}
	return a
}

// Address parses an address with or without a port; IPv4-mapped IPv6 addresses are IPv4.
func Address(text string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		with, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}, false
		}
		a = with.Addr()
	}
	return a.Unmap().WithZone(""), true
}

// SourceOf returns the key of an address: for IPv6 its /64.
func SourceOf(remote string) string {
	if a, ok := Address(remote); ok && a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return remote
}

// CallerKey returns the key of the callers that share limits: a user with all tokens and sessions has
// one.
func CallerKey(ctx context.Context) string {
	who, ok := Identity(ctx)
	switch {
	case !ok:
		return "address " + SourceOf(VisitOf(ctx).Remote)
	case who.User != "":
		return "user " + who.User
	}
	return "token " + who.Token
}
