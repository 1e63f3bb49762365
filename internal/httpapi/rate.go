package httpapi

import (
	"crypto/sha256"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/core"
)

// rates limits the requests of each token and session, and of each address for requests without a
// valid one. Guessing tokens uses up the limit of the address, not that of valid tokens from the
// same address. Each master counts on its own.
type rates struct {
	known   *access.Rate // by hash of the credential; valid ones only
	unknown *access.Rate // by address
	now     func() time.Time
}

func newRates(perSecond int, now func() time.Time) *rates {
	return &rates{known: access.NewRate(perSecond), unknown: access.NewRate(perSecond), now: now}
}

// ticket is an accepted request.
type ticket struct {
	rates *rates
	key   string // "" without a credential, or if already counted
	known bool
}

// admit counts a request before it is authenticated.
func (s *rates) admit(c access.Credential, given bool, remote string) (t ticket, wait time.Duration, ok bool) {
	t = ticket{rates: s}
	if given {
		sum := sha256.Sum256([]byte(c.Token + "\x00" + c.Session))
		t.key = string(sum[:])
		t.known = s.known.Known(t.key)
	}
	if t.known {
		wait, ok = s.known.Take(s.now(), t.key)
	} else {
		wait, ok = s.unknown.Take(s.now(), core.SourceOf(remote))
	}
	return t, wait, ok
}

// judged is called with the result of the authentication.
func (t ticket) judged(good bool) {
	switch {
	case t.key == "": // nothing was counted
	case good && !t.known:
		t.rates.known.Take(t.rates.now(), t.key)
	case !good && t.known:
		t.rates.known.Forget(t.key)
	}
}

// refusals answers requests over a limit, and logs them at most every sayEvery.
type refusals struct {
	count func(reason string) // counts them; may be nil
	now   func() time.Time
	log   *slog.Logger

	mu         sync.Mutex
	since      map[string]int       // guarded by mu; by reason, number since the last log line
	lastLogged map[string]time.Time // guarded by mu
}

// sayEvery is the minimum interval between log lines for one reason.
const sayEvery = 10 * time.Second

func newRefusals(told func(reason string), now func() time.Time, log *slog.Logger) *refusals {
	return &refusals{count: told, now: now, log: log, since: map[string]int{}, lastLogged: map[string]time.Time{}}
}

func (s *refusals) problem(p core.Problems, r *http.Request, reason, detail, hint string,
	wait time.Duration) *core.Problem {
	v := core.VisitOf(r.Context())
	v.Quiet = true
	if s.count != nil {
		s.count(reason)
	}
	s.mu.Lock()
	s.since[reason]++
	count, say := s.since[reason], s.now().Sub(s.lastLogged[reason]) >= sayEvery
	if say {
		s.since[reason], s.lastLogged[reason] = 0, s.now()
	}
	s.mu.Unlock()
	if say {
		s.log.Warn("requests_refused", "reason", reason, "count", count, "remote", v.Remote)
	}
	problem := p.Refuse(r.Context(), common.CodeTooMany, detail)
	problem.Hint = hint
	problem.RetryAfter(wait)
	return problem
}

// health reports whether a request is a health check.
func health(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		(r.URL.Path == "/healthz" || r.URL.Path == "/readyz")
}
