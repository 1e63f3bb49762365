package httpapi

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"carillon/internal/httpapi/core"
)

// Bounds of connections.
const (
	maxConnections = 1000
	// maxOfClient is how many connections one address may have. Proxies and loopback have no such
	// limit, since a proxy that is not configured may run on this machine.
	maxOfClient = maxConnections / 4
	// maxSpare is how many additional connections are accepted for health checks only.
	maxSpare = 256
	// spareTime is the minimum lifetime of a spare connection: enough for one request and its
	// response.
	spareTime = 100 * time.Millisecond
)

// Connections bounds the connections served at a time. A further connection replaces the one that
// has been idle for longest. If none is idle, or its client has its share, it becomes a spare
// connection, which serves /healthz and /readyz only; when the spare ones are used up, the next
// connection replaces the oldest of them after spareTime. So health checks are answered however
// many connections other clients hold. It is safe for concurrent use, and starts no goroutine.
type Connections struct {
	trusted                proxies
	most, ofClient, spares int
	least                  time.Duration // minimum lifetime of a spare connection

	mu      sync.Mutex
	served  map[*connection]struct{} // guarded by mu
	clients map[string]int           // guarded by mu; served connections by client
	idle    list.List                // guarded by mu; of *connection, the longest idle first
	spare   list.List                // guarded by mu; of *connection, the oldest first
}

// NewConnections returns the limiter; addresses of the proxies have no share of their own.
func NewConnections(trusted []netip.Prefix) *Connections {
	return newConnections(trusted, maxConnections, maxOfClient, maxSpare, spareTime)
}

func newConnections(trusted proxies, most, ofClient, spares int, least time.Duration) *Connections {
	return &Connections{
		trusted:  trusted,
		most:     most,
		ofClient: ofClient,
		spares:   spares,
		least:    least,
		served:   map[*connection]struct{}{},
		clients:  map[string]int{},
	}
}

// connection is a connection with its place in the limiter.
type connection struct {
	net.Conn
	all    *Connections
	client string
	at     time.Time
	idle   *list.Element // guarded by all.mu; nil while it is not idle
	spare  *list.Element // guarded by all.mu; nil if it is not a spare one
	extra  bool          // accepted as a spare one
}

// Close releases the place.
func (c *connection) Close() error {
	c.all.mu.Lock()
	c.all.leave(c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}

// Listen limits the connections of a listener.
func (s *Connections) Listen(l net.Listener) net.Listener {
	return &bounded{Listener: l, all: s, closed: make(chan struct{})}
}

type bounded struct {
	net.Listener
	all    *Connections
	once   sync.Once
	closed chan struct{}
}

// Close ends a waiting Accept as well.
func (b *bounded) Close() error {
	b.once.Do(func() { close(b.closed) })
	return b.Listener.Close()
}

func (b *bounded) Accept() (net.Conn, error) {
	conn, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := b.all.know(conn)
	if wait := b.all.crowded(c, time.Now()); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-b.closed:
		}
	}
	b.all.enter(c)
	return c, nil
}

// know returns the limiter's connection for a new connection.
func (s *Connections) know(conn net.Conn) *connection {
	c := &connection{Conn: conn, all: s}
	from, ok := core.Address(conn.RemoteAddr().String())
	if ok && !from.IsLoopback() && !s.trusted.trusts(from) {
		c.client = core.SourceOf(from.String())
	}
	return c
}

// place returns, with mu held, the connection that a new one would replace; spare reports that it
// would be a spare one.
func (s *Connections) place(c *connection) (of *connection, spare bool) {
	within := c.client == "" || s.clients[c.client] < s.ofClient
	if within && len(s.served) < s.most {
		return nil, false
	}
	if of = s.idleOf(c.client, !within); of != nil {
		return of, false
	}
	if s.spare.Len() >= s.spares {
		of = s.spare.Front().Value.(*connection)
	}
	return of, true
}

// crowded returns how long a connection has to wait before it may replace a spare one.
func (s *Connections) crowded(c *connection, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of, spare := s.place(c); spare && of != nil {
		return s.least - now.Sub(of.at)
	}
	return 0
}

func (s *Connections) enter(c *connection) {
	s.mu.Lock()
	c.at = time.Now()
	evicted, spare := s.place(c)
	if c.extra = spare; spare {
		c.spare = s.spare.PushBack(c)
	}
	if evicted != nil {
		s.leave(evicted)
	}
	if !c.extra {
		s.served[c] = struct{}{}
		if c.client != "" {
			s.clients[c.client]++
		}
	}
	s.mu.Unlock()
	if evicted != nil {
		_ = evicted.Conn.Close() // replaced
	}
}

// idleOf returns the connection that has been idle for longest, of one client or of all; nil if
// there is none.
func (s *Connections) idleOf(client string, alone bool) *connection {
	for e := s.idle.Front(); e != nil; e = e.Next() {
		if c := e.Value.(*connection); !alone || c.client == client {
			return c
		}
	}
	return nil
}

// leave is called with mu held, and may be called twice.
func (s *Connections) leave(c *connection) {
	if c.spare != nil {
		s.spare.Remove(c.spare)
		c.spare = nil
	}
	if c.idle != nil {
		s.idle.Remove(c.idle)
		c.idle = nil
	}
	if _, ok := s.served[c]; !ok {
		return
	}
	delete(s.served, c)
	if c.client == "" {
		return
	}
	if s.clients[c.client]--; s.clients[c.client] == 0 {
		delete(s.clients, c.client)
	}
}

// connectionOf returns the limiter's connection below that of the HTTP server.
func connectionOf(conn net.Conn) *connection {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*connection)
	return c
}

// state receives changes of a connection's state from the server.
func (s *Connections) state(conn net.Conn, now http.ConnState) {
	c := connectionOf(conn)
	if c == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.idle != nil {
		s.idle.Remove(c.idle)
		c.idle = nil
	}
	if _, served := s.served[c]; served && now == http.StateIdle {
		c.idle = s.idle.PushBack(c)
	}
}

type spareKey struct{}

func (s *Connections) context(ctx context.Context, conn net.Conn) context.Context {
	if c := connectionOf(conn); c != nil && c.extra {
		return context.WithValue(ctx, spareKey{}, true)
	}
	return ctx
}

// spareOnly refuses all requests on a spare connection except health checks.
func spareOnly(p core.Problems, refused *refusals) check {
	return func(w http.ResponseWriter, r *http.Request) *core.Problem {
		if r.Context().Value(spareKey{}) == nil {
			return nil
		}
		w.Header().Set("Connection", "close")
		if health(r) {
			return nil
		}
		return refused.problem(p, r, "connections", "too many connections",
			"use fewer connections, and close unused ones", time.Second)
	}
}
