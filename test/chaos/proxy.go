package main

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"
)

// proxy stands between one worker, or the masters, and one server, and does to their
// connections what a network does. It listens until its context ends.
type proxy struct {
	upstream string
	listener net.Listener
	tasks    sync.WaitGroup

	mu    sync.Mutex
	pairs map[*pair]bool // owned under mu, as is all below
	state manner
	moved chan struct{} // closed when the state changes
}

// manner is how a proxy treats what it carries.
type manner struct {
	refuse bool          // takes no connection
	up     bool          // holds what the client says
	down   bool          // holds what the server says
	forget bool          // throws away what the server says, until the connections are cut
	delay  time.Duration // of what is carried, each way
}

// pair is a connection and its continuation.
type pair struct{ client, server net.Conn }

func newProxy(ctx context.Context, address, upstream string) (*proxy, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, err
	}
	p := &proxy{upstream: upstream, listener: l, pairs: map[*pair]bool{}, moved: make(chan struct{})}
	p.tasks.Go(func() {
		<-ctx.Done()
		_ = l.Close()
		p.cut()
	})
	p.tasks.Go(func() { p.accept(ctx) })
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// set changes the manner; what is held goes on when it is not held any more.
func (p *proxy) set(m manner) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state = m
	close(p.moved)
	p.moved = make(chan struct{})
}

func (p *proxy) look() (manner, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state, p.moved
}

// cut ends all connections at once, both ends with a reset.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.close()
	}
}

func (c *pair) close() {
	for _, end := range []net.Conn{c.client, c.server} {
		if t, ok := end.(*net.TCPConn); ok {
			_ = t.SetLinger(0)
		}
		_ = end.Close()
	}
}

func (p *proxy) accept(ctx context.Context) {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.tasks.Go(func() { p.carry(ctx, client) })
	}
}

func (p *proxy) carry(ctx context.Context, client net.Conn) {
	c := &pair{client: client, server: client}
	if m, _ := p.look(); m.refuse {
		c.close()
		return
	}
	server, err := net.DialTimeout("tcp", p.upstream, 5*time.Second)
	if err != nil {
		c.close()
		return
	}
	c.server = server
	p.mu.Lock()
	p.pairs[c] = true
	p.mu.Unlock()
	if ctx.Err() != nil {
		c.close()
	}
	ended := make(chan struct{})
	var once sync.Once
	end := func() { once.Do(func() { close(ended) }) }
	var both sync.WaitGroup
	both.Go(func() {
		defer end()
		p.copy(ended, c.server, c.client, func(m manner) bool { return m.up }, func(manner) bool { return false })
	})
	both.Go(func() {
		defer end()
		p.copy(ended, c.client, c.server, func(m manner) bool {
			return m.down
		}, func(m manner) bool { return m.forget })
	})
	<-ended
	_ = c.client.Close()
	_ = c.server.Close()
	both.Wait()
	p.mu.Lock()
	delete(p.pairs, c)
	p.mu.Unlock()
}

// copy carries one way until either end is closed.
func (p *proxy) copy(ended <-chan struct{}, to, from net.Conn, held, forgotten func(manner) bool) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		m, moved := p.look()
		if n > 0 && m.delay > 0 {
			select {
			case <-time.After(m.delay):
			case <-ended:
				return
			}
		}
		for n > 0 && held(m) {
			select {
			case <-moved:
			case <-ended:
				return
			}
			m, moved = p.look()
		}
		if n > 0 && !forgotten(m) {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// proxies are all of one client.
type proxies []*proxy

func (all proxies) set(m manner) {
	for _, p := range all {
		p.set(m)
	}
}

func (all proxies) cut() {
	for _, p := range all {
		p.cut()
	}
}

// wait ends when the context of all has, and all that they carried is closed.
func (all proxies) wait() {
	for _, p := range all {
		p.tasks.Wait()
	}
}

func (p *proxy) String() string { return fmt.Sprintf("%s→%s", p.address(), p.upstream) }
