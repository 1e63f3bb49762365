package httpapi_test

import (
	"context"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
)

func TestRate_IsLimitedPerCaller(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	refused := map[string]int{}
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		c.APIRate, c.Now, c.Refused = 3, func() time.Time { return now }, func(reason string) { refused[reason]++ }
	})
	jobs := func(role string) *http.Request { return apitest.As(role, http.MethodGet, "/api/v1/jobs", "") }
	// Guesses use up what their address has.
	for range 3 {
		h.Want(http.StatusUnauthorized, apitest.At(jobs("wrong"), "192.0.2.1"))
	}
	p := h.Problem(http.StatusTooManyRequests, "too_many_requests", "", apitest.At(jobs("wrong"), "192.0.2.1"))
	if p.Hint == "" || refused["rate"] != 1 {
		t.Errorf("a refusal without advice, or one that is not counted: %+v, %v", p, refused)
	}
	if got := h.Send(apitest.At(jobs("wrong"), "192.0.2.1")).Header().Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After %q", got)
	}
	h.Want(http.StatusTooManyRequests, apitest.At(apitest.As("", http.MethodPost, "/api/v1/auth/login", `{"code":"x"}`),
		"192.0.2.1"))
	for _, alive := range []string{"/healthz", "/readyz"} {
		h.Want(http.StatusOK, apitest.At(apitest.As("", http.MethodGet, alive, ""), "192.0.2.1"))
		h.Want(http.StatusOK, apitest.At(apitest.As("wrong", http.MethodGet, alive, ""), "192.0.2.1"))
	}
	// Elsewhere, and what is known to be good, it does not count.
	h.Want(http.StatusOK, apitest.At(jobs("viewer"), "192.0.2.2"))
	h.Want(http.StatusOK, apitest.At(jobs("viewer"), "192.0.2.1"))
	h.Want(http.StatusOK, apitest.At(jobs("viewer"), "192.0.2.1"))
	h.Want(http.StatusTooManyRequests, apitest.At(jobs("viewer"), "192.0.2.3"))
	h.Want(http.StatusOK, apitest.At(jobs("admin"), "192.0.2.3"))
	now = now.Add(time.Second)
	h.Want(http.StatusOK, apitest.At(jobs("viewer"), "192.0.2.3"))
	h.Want(http.StatusUnauthorized, apitest.At(jobs("wrong"), "192.0.2.1"))
}

func TestForwardedAddresses(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		c.APIRate, c.Now = 1, func() time.Time { return now }
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}
	})
	guess := func(peer, forwarded string) *http.Request {
		return apitest.At(apitest.As("wrong", http.MethodGet, "/api/v1/jobs", "", "X-Forwarded-For", forwarded), peer)
	}
	h.Want(http.StatusUnauthorized, guess("192.0.2.1", "198.51.100.1"))
	h.Want(http.StatusTooManyRequests, guess("192.0.2.1", "198.51.100.2"))
	h.Want(http.StatusUnauthorized, guess("10.0.0.1", "198.51.100.1"))
	h.Want(http.StatusTooManyRequests, guess("10.0.0.2", "203.0.113.1, 198.51.100.1"))
	h.Want(http.StatusUnauthorized, guess("10.0.0.2", "198.51.100.2"))
	// An address of IPv6 has its neighbours.
	h.Want(http.StatusUnauthorized, guess("10.0.0.2", "2001:db8::1"))
	h.Want(http.StatusTooManyRequests, guess("10.0.0.2", "2001:db8::2"))
	h.Want(http.StatusUnauthorized, guess("10.0.0.2", "2001:db8:0:1::2"))
}

// The address that is written down is the client's, where a proxy is trusted, and else the peer's.
func TestForwardedAddressOfAnActor(t *testing.T) {
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}
	})
	for peer, want := range map[string]string{"10.0.0.1": "198.51.100.1", "192.0.2.1": "192.0.2.1"} {
		clear(h.Jobs)
		h.Want(http.StatusCreated, apitest.At(apitest.As("editor", http.MethodPost, "/api/v1/jobs", apitest.AJob,
			"X-Forwarded-For",
			"198.51.100.1"), peer))
		if h.Actors[len(h.Actors)-1].Remote != want {
			t.Errorf("from %s: %q, want %q", peer, h.Actors[len(h.Actors)-1].Remote, want)
		}
	}
}

// watched counts the credentials that are looked up, and may fail for all.
type watched struct {
	httpapi.Logins
	asked int
	away  bool
}

func (w *watched) Authenticate(ctx context.Context, c access.Credential) (access.Identity, error) {
	w.asked++
	if w.away {
		return access.Identity{}, common.Errorf(common.CodeUnavailable, "etcd does not answer")
	}
	return w.Logins.Authenticate(ctx, c)
}

// Health checks are answered at any rate, but do not look up one token after the other.
func TestHealthChecks_DoNotBypassTheTokenRate(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	seen := &watched{}
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		c.APIRate, c.Now = 3, func() time.Time { return now }
		seen.Logins, c.Auth = c.Auth, seen
	})
	for range 20 {
		h.Want(http.StatusOK, apitest.At(apitest.As("wrong", http.MethodGet, "/healthz", ""), "192.0.2.1"))
		h.Want(http.StatusOK, apitest.At(apitest.As("wrong", http.MethodGet, "/readyz", ""), "192.0.2.1"))
		h.Want(http.StatusOK, apitest.At(apitest.As("", http.MethodGet, "/readyz", ""), "192.0.2.1"))
	}
	if seen.asked > 3 {
		t.Errorf("%d tokens were looked up", seen.asked)
	}
}

// A token that cannot be looked up just now keeps its own rate.
func TestRate_EtcdUnavailable_IsKept(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	seen := &watched{}
	h := apitest.NewHarness(t, func(c *httpapi.Config) {
		c.APIRate, c.Now = 3, func() time.Time { return now }
		seen.Logins, c.Auth = c.Auth, seen
	})
	jobs := apitest.At(apitest.As("viewer", http.MethodGet, "/api/v1/jobs", ""), "192.0.2.1")
	h.Want(http.StatusOK, jobs)
	seen.away = true
	h.Want(http.StatusServiceUnavailable, jobs)
	seen.away = false
	for range 2 {
		h.Want(http.StatusUnauthorized, apitest.At(apitest.As("wrong", http.MethodGet, "/api/v1/jobs", ""),
			"192.0.2.1"))
	}
	now = now.Add(400 * time.Millisecond)
	h.Want(http.StatusUnauthorized, apitest.At(apitest.As("wrong", http.MethodGet, "/api/v1/jobs", ""), "192.0.2.1"))
	h.Want(http.StatusTooManyRequests, apitest.At(apitest.As("wrong", http.MethodGet, "/api/v1/jobs", ""), "192.0.2.1"))
	h.Want(http.StatusOK, jobs)
}
