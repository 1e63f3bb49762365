// Package netguard decides which network addresses may be called on behalf of users: only public ones, unless a setting
// allows further networks. A caller checks the resolved address, just before it connects, so that a name cannot be
// resolved to another address afterwards ([Control]).
//
// The package is pure and keeps no state.
package netguard

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
)

// ErrAddress means that an address must not be called.
var ErrAddress = errors.New("the address is not public, and not in an allowed network")

// closed are networks that are not public, besides those that netip knows: the special-purpose
// blocks of IANA's registries, and the metadata addresses of clouds.
var closed = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
	"198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4", "168.63.129.16/32",
	"::/96", "::ffff:0:0:0/96",
	"64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16",
	"fec0::/10")

// nat64 addresses contain an IPv4 address in their last 32 bits.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// Check returns an error wrapping ErrAddress if an address is neither public nor in one of
// the allowed networks. It is called with the resolved address, just before the connection is made.
func Check(addr netip.Addr, allowed []netip.Prefix) error {
	addr = addr.WithZone("").Unmap()
	if within(addr, allowed) {
		return nil
	}
	if nat64.Contains(addr) {
		b := addr.As16()
		inner := netip.AddrFrom4([4]byte(b[12:]))
		if within(inner, allowed) || Public(inner) {
			return nil
		}
		return fmt.Errorf("%s maps to %s: %w", addr, inner, ErrAddress)
	}
	if !Public(addr) {
		return fmt.Errorf("%s: %w", addr, ErrAddress)
	}
	return nil
}

// Control returns the function of a [net.Dialer] that checks the address that a connection is about to be made to.
func Control(allowed []netip.Prefix) func(context.Context, string, string, syscall.RawConn) error {
	return func(_ context.Context, _, address string, _ syscall.RawConn) error {
		at, err := netip.ParseAddrPort(address)
		if err != nil {
			return err
		}
		return Check(at.Addr(), allowed)
	}
}

// Public reports whether an address is reachable on the public Internet.
func Public(addr netip.Addr) bool {
	addr = addr.WithZone("").Unmap()
	return addr.IsValid() && addr.IsGlobalUnicast() && !addr.IsPrivate() && !addr.IsLoopback() &&
		!addr.IsLinkLocalUnicast() &&
		!addr.IsMulticast() && !addr.IsUnspecified() && !within(addr, closed)
}

func within(addr netip.Addr, networks []netip.Prefix) bool {
	return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(addr) })
}
