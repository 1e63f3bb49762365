// Package quota counts the used places of a bounded number, in total and for each client, so that one client
// cannot use all of them. It starts no goroutine.
package quota

// shares divides the places: one client gets at most one part of so many.
const shares = 4

// Places is a bounded number of places. Its methods are not safe for concurrent use.
type Places struct {
	most  int
	taken int
	by    map[string]int
}

// New returns places that are all free.
func New(most int) Places { return Places{most: most, by: map[string]int{}} }

// Take reports whether a client got a place: no client has more than a quarter of them, but each has at least
// one.
func (p *Places) Take(client string) bool {
	if p.taken >= p.most || p.by[client] >= max(1, p.most/shares) {
		return false
	}
	p.taken++
	p.by[client]++
	return true
}

// GiveBack frees a place of the client.
func (p *Places) GiveBack(client string) {
	p.taken--
	if p.by[client]--; p.by[client] == 0 {
		delete(p.by, client)
	}
}

// Taken returns the number of used places.
func (p *Places) Taken() int { return p.taken }
