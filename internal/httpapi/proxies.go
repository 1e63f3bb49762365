package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the networks of the proxies in front of us. What one of them says of who
// sent a request is believed; what anybody else says is not.
type proxies []netip.Prefix

func (p proxies) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(a) })
}

// remoteOf is the address that a request comes from, without a port. Each proxy adds the
// address that it was called from at the end of X-Forwarded-For, so the list is read from
// there for as long as trusted proxies have written it: the first address that is none of
// theirs is the client's. What stands before it the client may have made up.
func (p proxies) remoteOf(r *http.Request) string {
	peer, ok := address(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr
	}
	if !p.trusts(peer) {
		return peer.String()
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		next, ok := address(strings.TrimSpace(hop))
		if !ok {
			break
		}
		if peer = next; !p.trusts(peer) {
			break
		}
	}
	return peer.String()
}

// address reads an address with or without a port; IPv4 in IPv6's clothes is IPv4.
func address(text string) (netip.Addr, bool) {
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
