// Package places counts how many of a bounded number of places are taken, in all and by each client, so that one
// client cannot take the places of all others. It starts no goroutine.
package places

// shares is into how many parts places are divided: one client has at most one part.
const shares = 4

// Places are a bounded number of places. Its methods are not safe for concurrent use.
type Places struct {
	most  int
	taken int
	by    map[string]int
}

// New returns places of which none is taken.
func New(most int) Places { return Places{most: most, by: map[string]int{}} }

// Take reports whether a client got a place: no client has more than a quarter of them, but each has at least one.
func (p *Places) Take(client string) bool {
	if p.taken >= p.most || p.by[client] >= max(1, p.most/shares) {
		return false
	}
	p.taken++
	p.by[client]++
	return true
}

// GiveBack frees a place that the client has taken.
func (p *Places) GiveBack(client string) {
	p.taken--
	if p.by[client]--; p.by[client] == 0 {
		delete(p.by, client)
	}
}

// Taken is how many places are taken.
func (p *Places) Taken() int { return p.taken }
