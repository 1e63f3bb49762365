package httpapi

import (
	"net/http"
	"net/netip"
	"testing"
)

func TestRemoteAddress(t *testing.T) {
	trusted := proxies{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("2001:db8::/64")}
	for name, c := range map[string]struct {
		peer      string
		forwarded []string
		trusted   proxies
		want      string
	}{
		"no proxy is trusted":       {"192.0.2.1:5", []string{"198.51.100.1"}, nil, "192.0.2.1"},
		"a stranger claims another": {"192.0.2.1:5", []string{"198.51.100.1"}, trusted, "192.0.2.1"},
		"a proxy says nothing":      {"10.0.0.5:5", nil, trusted, "10.0.0.5"},
		"a proxy tells":             {"10.0.0.5:5", []string{"198.51.100.1"}, trusted, "198.51.100.1"},
		"a client made up the beginning": {"10.0.0.5:5", []string{"203.0.113.9, 198.51.100.1"}, trusted,
			"198.51.100.1"},
		"in a header of its own as well": {"10.0.0.5:5", []string{"203.0.113.9", "198.51.100.1"}, trusted,
			"198.51.100.1"},
		"a client claims to be a proxy": {"10.0.0.5:5", []string{"10.0.0.7, 198.51.100.1"}, trusted, "198.51.100.1"},
		"two proxies": {"10.0.0.5:5", []string{"203.0.113.9, 198.51.100.1, 10.0.0.6"}, trusted,
			"198.51.100.1"},
		"proxies alone": {"10.0.0.5:5", []string{"10.0.0.7, 10.0.0.6"}, trusted, "10.0.0.7"},
		"with a port":   {"10.0.0.5:5", []string{"198.51.100.1:4711"}, trusted, "198.51.100.1"},
		"IPv6":          {"[2001:db8::1]:5", []string{"2001:db8:1::9"}, trusted, "2001:db8:1::9"},
		"IPv6 in brackets, with a port": {"[2001:db8::1]:5", []string{"[2001:db8:1::9]:80"}, trusted,
			"2001:db8:1::9"},
		"IPv4 as IPv6": {"[::ffff:10.0.0.5]:5", []string{"::ffff:198.51.100.1"}, trusted,
			"198.51.100.1"},
		"what is no address ends the way": {"10.0.0.5:5", []string{"198.51.100.1, unknown"}, trusted, "10.0.0.5"},
		"and does so behind a proxy": {"10.0.0.5:5", []string{"198.51.100.1, \x00, 10.0.0.6"}, trusted,
			"10.0.0.6"},
		"an empty item ends the way": {"10.0.0.5:5", []string{"198.51.100.1,"}, trusted, "10.0.0.5"},
		"no network at all":          {"@", []string{"198.51.100.1"}, trusted, "@"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{"X-Forwarded-For": c.forwarded}}
		if got := c.trusted.remoteOf(r); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func FuzzForwardedFor(f *testing.F) {
	for _, seed := range []string{"203.0.113.1, 10.0.0.1", "[::1]:80", `for="[2001:db8::1]"`} {
		f.Add(seed)
	}
	trusted := proxies{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("10.0.0.0/8")}
	f.Fuzz(func(t *testing.T, text string) {
		r := &http.Request{RemoteAddr: "192.0.2.1:1", Header: http.Header{"X-Forwarded-For": {text}}}
		if _, err := netip.ParseAddr(trusted.remoteOf(r)); err != nil {
			t.Errorf("X-Forwarded-For %q makes a request come from %q", text, trusted.remoteOf(r))
		}
		r.RemoteAddr = "198.51.100.1:1"
		if got := trusted.remoteOf(r); got != "198.51.100.1" {
			t.Errorf("a stranger's X-Forwarded-For %q is believed: %q", text, got)
		}
	})
}
