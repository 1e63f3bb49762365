package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"testing"
)

// from is a connection that comes from an address.
type from struct {
	net.Conn
	remote string
	closed bool
}

func (f *from) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(f.remote + ":4711"))
}
func (f *from) Close() error { f.closed = true; return nil }

func TestConnections_AreSharedBetweenAddresses(t *testing.T) {
	bound := newConnections(proxies{netip.MustParsePrefix("10.0.0.0/24")}, 10, 3, 2, 0)
	enter := func(remote string) *connection {
		c := bound.know(&from{remote: remote})
		bound.enter(c)
		return c
	}
	gone := func(c *connection) bool { return c.Conn.(*from).closed }
	var mine []*connection
	for i := range 3 {
		c := enter("192.0.2.1")
		if mine = append(mine, c); c.extra {
			t.Fatalf("connection %d is one too many", i)
		}
	}
	// Beyond its share a client has spare ones, and the oldest of those makes room.
	one, two := enter("192.0.2.1"), enter("192.0.2.1")
	if !one.extra || !two.extra || gone(one) {
		t.Fatal("a client has more than its share")
	}
	three := enter("192.0.2.1")
	if !gone(one) || gone(two) || !three.extra || gone(mine[0]) {
		t.Error("the oldest spare one does not make room")
	}
	// Its own idle one makes room as well, and that of others does not.
	other := enter("192.0.2.2")
	bound.state(other, http.StateIdle)
	bound.state(mine[1], http.StateIdle)
	if four := enter("192.0.2.1"); four.extra || !gone(mine[1]) || gone(other) {
		t.Error("an idle connection of the same client does not make room")
	}
	// Proxies and this machine may have all.
	for i := range 6 {
		if c := enter([]string{"10.0.0.7", "127.0.0.1"}[i%2]); c.extra {
			t.Fatal("a proxy has a share of its own")
		}
	}
	if len(bound.served) != 10 {
		t.Fatalf("%d connections are served", len(bound.served))
	}
	if c := enter("10.0.0.7"); c.extra || !gone(other) {
		t.Error("where all are taken an idle one does not make room")
	}
	bound.state(mine[0], http.StateIdle)
	bound.state(mine[0], http.StateActive)
	if c := enter("10.0.0.7"); !c.extra || gone(mine[0]) {
		t.Error("one that is in use makes room")
	}
	_ = mine[0].Close()
	_ = mine[0].Close()
	if c := enter("192.0.2.3"); c.extra {
		t.Error("a place that was given back is not free")
	}
	if len(bound.served) != 10 || bound.clients["192.0.2.1"] != 2 || bound.clients["192.0.2.2"] != 0 {
		t.Errorf("the books are wrong: %d served, %v", len(bound.served), bound.clients)
	}
}
