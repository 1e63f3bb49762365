package httpapi

import (
	"crypto/sha256"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"carillon/internal/auth"
	"carillon/internal/common"
)

// rates bounds the requests of each token and session, and of each address that shows
// none that is good. Somebody who guesses tokens uses up what the address has, and not what
// the good ones have that come from there as well. This is counted by each master alone.
type rates struct {
	known   *auth.Rate // by the hash of a credential; only such as were good
	unknown *auth.Rate // by address
	now     func() time.Time
}

func newRates(perSecond int, now func() time.Time) *rates {
	return &rates{known: auth.NewRate(perSecond), unknown: auth.NewRate(perSecond), now: now}
}

// ticket is a request that was let pass.
type ticket struct {
	rates *rates
	key   string // "" where nothing was shown, or counted
	known bool
}

// admit counts a request before it is known whose it is.
func (s *rates) admit(c auth.Credential, given bool, remote string) (t ticket, wait time.Duration, ok bool) {
	t = ticket{rates: s}
	if given {
		sum := sha256.Sum256([]byte(c.Token + "\x00" + c.Session))
		t.key = string(sum[:])
		t.known = s.known.Known(t.key)
	}
	if t.known {
		wait, ok = s.known.Take(s.now(), t.key)
	} else {
		wait, ok = s.unknown.Take(s.now(), sourceOf(remote))
	}
	return t, wait, ok
}

// judged hears whether what was shown is good.
func (t ticket) judged(good bool) {
	switch {
	case t.key == "": // nothing was counted
	case good && !t.known:
		t.rates.known.Take(t.rates.now(), t.key)
	case !good && t.known:
		t.rates.known.Forget(t.key)
	}
}

// sourceOf is whom an address belongs to: one of IPv6 has at least a /64.
func sourceOf(remote string) string {
	if a, ok := address(remote); ok && a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return p.String()
		}
	}
	return remote
}

// refusals answers requests of which there are too many. The log says so now and then only.
type refusals struct {
	told func(reason string) // nil: nobody counts them
	now  func() time.Time
	log  *slog.Logger

	mu    sync.Mutex
	since map[string]int       // guarded by mu; by reason, how many since the log last said so
	said  map[string]time.Time // guarded by mu
}

// sayEvery is how often at most the log tells of refusals for one reason.
const sayEvery = 10 * time.Second

func newRefusals(told func(reason string), now func() time.Time, log *slog.Logger) *refusals {
	return &refusals{told: told, now: now, log: log, since: map[string]int{}, said: map[string]time.Time{}}
}

func (s *refusals) problem(p problems, r *http.Request, reason, detail, hint string, wait time.Duration) *Problem {
	v := visitOf(r.Context())
	v.quiet = true
	if s.told != nil {
		s.told(reason)
	}
	s.mu.Lock()
	s.since[reason]++
	count, say := s.since[reason], s.now().Sub(s.said[reason]) >= sayEvery
	if say {
		s.since[reason], s.said[reason] = 0, s.now()
	}
	s.mu.Unlock()
	if say {
		s.log.Warn("requests_refused", "reason", reason, "count", count, "remote", v.remote)
	}
	problem := p.refuse(r.Context(), common.CodeTooMany, detail)
	problem.Hint = hint
	problem.again(wait)
	return problem
}

// health tells whether a request asks only whether we live.
func health(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && (r.URL.Path == "/healthz" || r.URL.Path == "/readyz")
}
