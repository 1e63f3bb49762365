package config

import (
	"encoding/base64"
	"fmt"
	"net/mail"
	"net/netip"
	"strings"

	"carillon/internal/common"
)

// Notify configures notifications.
type Notify struct {
	PublicURL  string         // public address of the console
	Allow      []netip.Prefix // private networks that webhooks may be in
	SecretsKey Secret         // keys in base64; the first encrypts
	SMTP       SMTP
}

// SMTP configures the mail server. Without a host no mail is sent.
type SMTP struct {
	Host     string
	Port     int // 0: the default of the TLS mode
	Username string
	Password Secret
	From     string
	TLS      string // starttls, tls or none
}

// Configured reports whether mail can be sent.
func (m *SMTP) Configured() bool { return m.Host != "" }

func (n *Notify) declare(s *settings, key string) {
	s.add("publicURL", "url", "", "public address of the console, without a path, for links in notifications",
		func(text string) (err error) {
			n.PublicURL, err = publicURL(text)
			return err
		})
	listOf(s, &n.Allow, "notifyAllow", "list", "",
		"private addresses or networks that webhooks may be in, such as 10.0.0.0/8", reachable)
	s.secret(&n.SecretsKey, "secretsKey",
		"key that encrypts the secrets of jobs and channels, 32 bytes in base64, the same for all masters and "+
			"workers; put a new key before the old ones"+key+".", secretsKey)
	s.text(&n.SMTP.Host, "smtpHost", "host", "", "mail server for notifications; without it no mail is sent", hostOnly)
	s.number(&n.SMTP.Port, "smtpPort", 0, 0, 65535,
		"port of the mail server; 0 for the default: 587, 465 for tls, 25 for none")
	s.text(&n.SMTP.Username, "smtpUsername", "name", "", "user at the mail server")
	s.secret(&n.SMTP.Password, "smtpPassword", "password at the mail server.", func(string) error { return nil })
	s.text(&n.SMTP.From, "smtpFrom", "address", "", "sender of mails, such as carillon@example.com", sender)
	s.text(&n.SMTP.TLS, "smtpTLS", "way", "starttls",
		"encryption to the mail server: starttls, tls (implicit), or none (private networks only)", oneOf("starttls",
			"tls", "none"))
}

func (n *Notify) check() (faults common.Faults) {
	m := &n.SMTP
	switch {
	case m.Configured() && m.From == "":
		faults.Add("smtpFrom", "pair", nil, "needs smtpHost: set both or neither")
	case !m.Configured() && m.From != "":
		faults.Add("smtpHost", "pair", nil, "needs smtpFrom: set both or neither")
	}
	if (m.Username == "") != m.Password.Empty() {
		faults.Add("smtpUsername", "pair", nil, "needs smtpPassword: set both or neither")
	}
	if m.TLS == "none" && m.Username != "" {
		faults.Add("smtpTLS", "pair", nil, "none would send the password in the clear")
	}
	return faults
}

func reachable(text string) (netip.Prefix, error) {
	p, err := network(text)
	if p.IsSingleIP() {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Addr().Unmap().BitLen())
	}
	return p, err
}

func secretsKey(text string) error {
	words := strings.FieldsFunc(text,
		func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\r' || r == '\t' })
	for _, word := range words {
		if key, err := base64.StdEncoding.DecodeString(word); err != nil || len(key) != 32 {
			// the text itself is a secret
			return fmt.Errorf("must be 32 bytes in base64, as of: openssl rand -base64 32")
		}
	}
	if len(words) == 0 && text != "" {
		return fmt.Errorf("contains no key")
	}
	return nil
}

func hostOnly(text string) error {
	if strings.ContainsAny(text, " /@:\t") && !strings.Contains(text, "::") {
		return fmt.Errorf("%q must be a host name or an address, without a port", common.Shorten(text))
	}
	return nil
}

func sender(text string) error {
	if text == "" {
		return nil
	}
	if _, err := mail.ParseAddress(text); err != nil {
		return fmt.Errorf("%q must be a mail address, such as carillon@example.com or Carillon <carillon@example.com>",
			common.Shorten(text))
	}
	return nil
}
