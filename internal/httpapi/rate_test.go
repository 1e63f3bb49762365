package httpapi

import (
	"net/http"
	"net/netip"
	"testing"
	"time"
)

// at makes a request come from an address.
func at(r *http.Request, remote string) *http.Request {
	r.RemoteAddr = remote + ":4711"
	return r
}

func TestEachHasARateOfItsOwn(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	refused := map[string]int{}
	h := newHarness(t, func(c *Config) {
		c.APIRate, c.Now, c.Refused = 3, func() time.Time { return now }, func(reason string) { refused[reason]++ }
	})
	jobs := func(role string) *http.Request { return as(role, http.MethodGet, "/api/v1/jobs", "") }
	// Guesses use up what their address has.
	for range 3 {
		h.want(http.StatusUnauthorized, at(jobs("wrong"), "192.0.2.1"))
	}
	p := h.problem(http.StatusTooManyRequests, "too_many_requests", "", at(jobs("wrong"), "192.0.2.1"))
	if p.Hint == "" || refused["rate"] != 1 {
		t.Errorf("a refusal without advice, or one that nobody counts: %+v, %v", p, refused)
	}
	if got := h.send(at(jobs("wrong"), "192.0.2.1")).Header().Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After %q", got)
	}
	h.want(http.StatusTooManyRequests, at(as("", http.MethodPost, "/api/v1/auth/login", `{"code":"x"}`), "192.0.2.1"))
	for _, alive := range []string{"/healthz", "/readyz"} {
		h.want(http.StatusOK, at(as("", http.MethodGet, alive, ""), "192.0.2.1"))
		h.want(http.StatusOK, at(as("wrong", http.MethodGet, alive, ""), "192.0.2.1"))
	}
	// Elsewhere, and what is known to be good, it does not count.
	h.want(http.StatusOK, at(jobs("viewer"), "192.0.2.2"))
	h.want(http.StatusOK, at(jobs("viewer"), "192.0.2.1"))
	h.want(http.StatusOK, at(jobs("viewer"), "192.0.2.1"))
	h.want(http.StatusTooManyRequests, at(jobs("viewer"), "192.0.2.3"))
	h.want(http.StatusOK, at(jobs("admin"), "192.0.2.3"))
	now = now.Add(time.Second)
	h.want(http.StatusOK, at(jobs("viewer"), "192.0.2.3"))
	h.want(http.StatusUnauthorized, at(jobs("wrong"), "192.0.2.1"))
}

func TestForwardedAddresses(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := newHarness(t, func(c *Config) {
		c.APIRate, c.Now = 1, func() time.Time { return now }
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}
	})
	guess := func(peer, forwarded string) *http.Request {
		return at(as("wrong", http.MethodGet, "/api/v1/jobs", "", "X-Forwarded-For", forwarded), peer)
	}
	h.want(http.StatusUnauthorized, guess("192.0.2.1", "198.51.100.1"))
	h.want(http.StatusTooManyRequests, guess("192.0.2.1", "198.51.100.2"))
	h.want(http.StatusUnauthorized, guess("10.0.0.1", "198.51.100.1"))
	h.want(http.StatusTooManyRequests, guess("10.0.0.2", "203.0.113.1, 198.51.100.1"))
	h.want(http.StatusUnauthorized, guess("10.0.0.2", "198.51.100.2"))
	// An address of IPv6 has its neighbours.
	h.want(http.StatusUnauthorized, guess("10.0.0.2", "2001:db8::1"))
	h.want(http.StatusTooManyRequests, guess("10.0.0.2", "2001:db8::2"))
	h.want(http.StatusUnauthorized, guess("10.0.0.2", "2001:db8:0:1::2"))
}

// The address that is written down is the client's, where a proxy is trusted, and else the peer's.
func TestForwardedAddressOfAnActor(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")} })
	for peer, want := range map[string]string{"10.0.0.1": "198.51.100.1", "192.0.2.1": "192.0.2.1"} {
		clear(h.jobs)
		h.want(http.StatusCreated, at(as("editor", http.MethodPost, "/api/v1/jobs", aJob, "X-Forwarded-For", "198.51.100.1"), peer))
		if h.actors[len(h.actors)-1].Remote != want {
			t.Errorf("from %s: %q, want %q", peer, h.actors[len(h.actors)-1].Remote, want)
		}
	}
}
