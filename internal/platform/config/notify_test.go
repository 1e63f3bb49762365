package config

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func TestNotifySettings(t *testing.T) {
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	good := []string{"CARILLON_PUBLIC_URL=https://carillon.example.com/", "CARILLON_NOTIFY_ALLOW=10.0.0.7/8, ::1",
		"CARILLON_SECRETS_KEY=" + key + " " + key,
		"CARILLON_SMTP_HOST=mail.example.com", "CARILLON_SMTP_FROM=Carillon <carillon@example.com>",
		"CARILLON_SMTP_USERNAME=carillon", "CARILLON_SMTP_PASSWORD=canary"}
	m, err := LoadMaster(parse(t, MasterFlags), good)
	if err != nil {
		t.Fatal(err)
	}
	n := m.Notify
	if !slices.Equal(n.Allow, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}) ||
		!n.SMTP.Configured() || n.SMTP.TLS != "starttls" || n.SMTP.Port != 0 {
		t.Errorf("%+v", n)
	}
	if n.PublicURL != "https://carillon.example.com" {
		t.Errorf("publicURL %s", n.PublicURL)
	}
	if text := fmt.Sprintf("%+v %#v", m, m); strings.Contains(text, "canary") || strings.Contains(text, key) {
		t.Error("a secret is printed")
	}
	for _, c := range []struct {
		name string
		add  string
		want string
	}{
		{"no address", "CARILLON_PUBLIC_URL=carillon.example.com", "must look like https://carillon.example.com"},
		{"path", "CARILLON_PUBLIC_URL=https://Host.example.com:443/carillon/", `has the path "/carillon/", but ` +
			"console and API are served at the root of a host name of their own: write https://host.example.com"},
		{"two slashes", "CARILLON_PUBLIC_URL=https://carillon.example.com//", `has the path "//"`},
		{"query", "CARILLON_PUBLIC_URL=https://carillon.example.com/?a=b", "has a query (?…): write"},
		{"empty query", "CARILLON_PUBLIC_URL=https://carillon.example.com?", "has a query"},
		{"fragment", "CARILLON_PUBLIC_URL=https://carillon.example.com/#/jobs", "has a fragment"},
		{"empty fragment", "CARILLON_PUBLIC_URL=https://carillon.example.com/#", "has a fragment"},
		{"user", "CARILLON_PUBLIC_URL=https://ann:c2hvcnQ@carillon.example.com", "must not contain a user"},
		{"no port", "CARILLON_PUBLIC_URL=https://carillon.example.com:70700", "must look like"},
		{"no host", "CARILLON_PUBLIC_URL=https:///jobs", "must look like"},
		{"no network", "CARILLON_NOTIFY_ALLOW=inside", "must be an address or a network"},
		{"short key", "CARILLON_SECRETS_KEY=c2hvcnQ=", "must be 32 bytes in base64"},
		{"no sender", "CARILLON_SMTP_FROM=", "smtpFrom: needs smtpHost"},
		{"no mail address", "CARILLON_SMTP_FROM=carillon", "must be a mail address"},
		{"no password", "CARILLON_SMTP_PASSWORD=", "smtpUsername: needs smtpPassword"},
		{"with a port", "CARILLON_SMTP_HOST=mail.example.com:25", "without a port"},
		{"password in the clear", "CARILLON_SMTP_TLS=none", "would send the password in the clear"},
		{"no way", "CARILLON_SMTP_TLS=maybe", "must be starttls or tls or none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := LoadMaster(parse(t, MasterFlags), append(slices.Clone(good), c.add))
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "c2hvcnQ") {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A browser sends the origin of the console in this form.
func TestPublicURL_IsStoredAsAnOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"https://carillon.example.com":      "https://carillon.example.com",
		"https://carillon.example.com/":     "https://carillon.example.com",
		"HTTPS://Carillon.Example.com:443/": "https://carillon.example.com",
		"http://10.0.0.1:80":                "http://10.0.0.1",
		"http://[::1]:7070/":                "http://[::1]:7070",
		"https://carillon.example.com:8443": "https://carillon.example.com:8443",
		"https://carillon.example.com:":     "https://carillon.example.com",
	} {
		for _, load := range []func([]string) (string, error){
			func(env []string) (string, error) {
				m, err := LoadMaster(parse(t, MasterFlags), env)
				return m.Notify.PublicURL, err
			},
			func(env []string) (string, error) {
				m, err := LoadStandalone(parse(t, StandaloneFlags), append(env, "HOME=/h"))
				return m.Notify.PublicURL, err
			},
		} {
			if got, err := load([]string{"CARILLON_PUBLIC_URL=" + text}); err != nil || got != want {
				t.Errorf("%s: %s, %v, want %s", text, got, err, want)
			}
		}
	}
}
