package httpapi

import (
	"container/list"
	"context"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// Bounds of connections.
const (
	maxConnections = 1000
	// maxOfClient is how many of them one address may have. A proxy may have all, and so may
	// this machine, where one may run that nobody has named.
	maxOfClient = maxConnections / 4
	// maxSpare is how many more there may be to ask whether we live, and for nothing else.
	maxSpare = 256
	// spareTime is how long a spare one stays at least: enough for its question, and the answer.
	spareTime = 100 * time.Millisecond
)

// Connections bounds how many connections are served at a time. One more takes the place
// of that which has been idle for longest. Where none is, or its client has its share, it
// is a spare one: those answer /healthz and /readyz only, and the next one too many takes
// the place of the oldest of them, and waits until that has had its time. So whoever asks whether we live is answered however many
// connections others hold. It is safe for concurrent use, and starts no goroutine.
type Connections struct {
	trusted                proxies
	most, ofClient, spares int
	least                  time.Duration // that a spare one stays

	mu      sync.Mutex
	served  map[*connection]struct{} // guarded by mu
	clients map[string]int           // guarded by mu; how many of the served ones each has
	idle    list.List                // guarded by mu; of *connection, the longest idle first
	spare   list.List                // guarded by mu; of *connection, the oldest first
}

// NewConnections makes the bound; addresses of the proxies have no share of their own.
func NewConnections(trusted []netip.Prefix) *Connections {
	return newConnections(trusted, maxConnections, maxOfClient, maxSpare, spareTime)
}

func newConnections(trusted proxies, most, ofClient, spares int, least time.Duration) *Connections {
	return &Connections{trusted: trusted, most: most, ofClient: ofClient, spares: spares, least: least, served: map[*connection]struct{}{}, clients: map[string]int{}}
}

// connection is one that knows its place.
type connection struct {
	net.Conn
	all    *Connections
	client string
	at     time.Time
	idle   *list.Element // guarded by all.mu; nil while it is not idle
	spare  *list.Element // guarded by all.mu; nil where it is not a spare one
	extra  bool          // it was a spare one from the start
}

// Close gives the place back.
func (c *connection) Close() error {
	c.all.mu.Lock()
	c.all.leave(c)
	c.all.mu.Unlock()
	return c.Conn.Close()
}

// Listen bounds the connections of a listener.
func (s *Connections) Listen(l net.Listener) net.Listener {
	return &bounded{Listener: l, all: s, closed: make(chan struct{})}
}

type bounded struct {
	net.Listener
	all    *Connections
	once   sync.Once
	closed chan struct{}
}

// Close ends a wait as well.
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

// know makes ours of a connection.
func (s *Connections) know(conn net.Conn) *connection {
	c := &connection{Conn: conn, all: s}
	from, ok := address(conn.RemoteAddr().String())
	if ok && !from.IsLoopback() && !s.trusted.trusts(from) {
		c.client = sourceOf(from.String())
	}
	return c
}

// place tells, with mu held, whose place a connection would take; spare says that it would be
// a spare one.
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

// crowded tells how long a connection has to wait before it may take the place of a spare one.
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
		_ = evicted.Conn.Close() // it is given up
	}
}

// idleOf is what has been idle for longest, of a client alone or of all; nil where nothing is.
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

// connectionOf finds ours below the one that the server knows.
func connectionOf(conn net.Conn) *connection {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok {
		conn = secure.NetConn()
	}
	c, _ := conn.(*connection)
	return c
}

// state hears from the server what a connection does.
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

// spareOnly keeps what came over a spare connection from anything but the questions that it
// is there for.
func spareOnly(p problems, refused *refusals, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(spareKey{}) == nil {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close")
		if health(r) {
			next.ServeHTTP(w, r)
			return
		}
		p.write(w, r, refused.problem(p, r, "connections", "too many connections", "use fewer connections, and close those that are not used", time.Second))
	})
}
