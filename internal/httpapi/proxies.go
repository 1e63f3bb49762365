package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"carillon/internal/httpapi/core"
)

// proxies are the networks of trusted proxies. Their X-Forwarded-For headers are used; those of
// other clients are ignored.
type proxies []netip.Prefix

func (p proxies) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(p, func(n netip.Prefix) bool { return n.Contains(a) })
}

// remoteOf returns the client's address without a port. Each proxy appends the address that called
// it to X-Forwarded-For, so the list is read from its end as long as trusted proxies have written
// it: the first address that is not a trusted proxy's is the client's. The client may have made up
// those before it.
func (p proxies) remoteOf(r *http.Request) string {
	peer, ok := core.Address(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr
	}
	if !p.trusts(peer) {
		return peer.String()
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		next, ok := core.Address(strings.TrimSpace(hop))
		if !ok {
			break
		}
		if peer = next; !p.trusts(peer) {
			break
		}
	}
	return peer.String()
}
