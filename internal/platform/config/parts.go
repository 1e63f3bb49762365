package config

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"

	"carillon/internal/common"
	"carillon/internal/common/zoneinfo"
	"carillon/internal/platform/journal"
)

// Log configures the log output.
type Log struct {
	Level  slog.Level
	Format string // text or json
}

func (l *Log) declare(s *settings) {
	s.add("logLevel", "level", "info", "minimum level: debug, info, warn or error", func(text string) error {
		switch text {
		case "debug", "info", "warn", "error":
			return l.Level.UnmarshalText([]byte(text))
		}
		return fmt.Errorf("must be debug, info, warn or error")
	})
	s.text(&l.Format, "logFormat", "format", "text", "log format: text or json", oneOf("text", "json"))
}

// Logger creates the configured logger. If systemd's journal reads w, lines have priorities.
func (l Log) Logger(w io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: l.Level}
	handler := func(w io.Writer) slog.Handler {
		if l.Format == "json" {
			return slog.NewJSONHandler(visible{w}, options)
		}
		return slog.NewTextHandler(w, options)
	}
	if file, ok := w.(*os.File); ok && journal.Attached(file, os.Environ()) {
		return slog.New(journal.Handler(w, handler))
	}
	return slog.New(handler(w))
}

// Etcd configures the connection to etcd.
type Etcd struct {
	Endpoints []string
	Username  string
	Password  Secret
	TLS       ClientTLS
}

func (e *Etcd) declare(s *settings) {
	listOf(s, &e.Endpoints, "etcd.endpoints", "list", "http://127.0.0.1:2379", "addresses of the etcd cluster",
		endpoint)
	s.text(&e.Username, "etcd.username", "name", "", "user in etcd")
	s.secret(&e.Password, "etcd.password", "password in etcd.", func(string) error { return nil })
	s.text(&e.TLS.CA, "etcd.tls.ca", "file", "", "CA certificates to verify etcd (default: the system's)")
	s.text(&e.TLS.Cert, "etcd.tls.cert", "file", "", "client certificate for etcd")
	s.text(&e.TLS.Key, "etcd.tls.key", "file", "", "key of the client certificate")
}

func (e *Etcd) check() (faults common.Faults) {
	if len(e.Endpoints) == 0 {
		faults.Add("etcd.endpoints", "required", nil, "is required")
	}
	if (e.Username == "") != e.Password.Empty() {
		faults.Add("etcd.username", "pair", nil, "needs etcd.password: set both or neither")
	}
	if e.TLS.set() {
		for _, one := range e.Endpoints {
			if !strings.HasPrefix(one, "https://") {
				faults.Add("etcd.endpoints", "scheme", nil, "etcd.tls is set, but %s is not https://", one)
			}
		}
	}
	if _, err := e.TLS.Config(); err != nil {
		faults.Add("etcd.tls", "tls", nil, "%s", err)
	}
	return faults
}

// ClientTLS names the files of a TLS client.
type ClientTLS struct{ CA, Cert, Key string }

func (t ClientTLS) set() bool { return t != ClientTLS{} }

// Config loads the files. It returns nil without any: the system's CAs apply.
func (t ClientTLS) Config() (*tls.Config, error) {
	if !t.set() {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		pool, err := loadPool(t.CA)
		if err != nil {
			return nil, err
		}
		c.RootCAs = pool
	}
	if t.Cert != "" || t.Key != "" {
		pair, err := loadPair(t.Cert, t.Key)
		if err != nil {
			return nil, err
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func loadPool(file string) (*x509.CertPool, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s contains no certificate", file)
	}
	return pool, nil
}

func loadPair(cert, key string) (tls.Certificate, error) {
	if cert == "" || key == "" {
		return tls.Certificate{}, fmt.Errorf("certificate and key need each other: set both or neither")
	}
	return tls.LoadX509KeyPair(cert, key)
}

// MongoDB configures the connection to the log store.
type MongoDB struct {
	URI      Secret
	Database string
}

func (m *MongoDB) declare(s *settings) {
	uri := s.secret(&m.URI, "mongodb.uri",
		"URI of the MongoDB that stores runs and output (default mongodb://127.0.0.1:27017).", mongoURI)
	uri.noFlag = false
	uri.onFlag = func(text string) error {
		if before, _, found := strings.Cut(text, "@"); found && strings.Count(before, ":") > 1 {
			return fmt.Errorf("contains a password, which all users of this machine could read on the command line: " +
				"use --mongodb-uri-file")
		}
		return nil
	}
	s.text(&m.Database, "mongodb.database", "name", "carillon", "database in MongoDB", databaseName)
}

func (m *MongoDB) complete() {
	if m.URI.Empty() {
		m.URI = NewSecret("mongodb://127.0.0.1:27017")
	}
}

// ClientCertificate returns the files of the client certificate in the URI; "" if there is none or its key is
// encrypted.
func (m *MongoDB) ClientCertificate() (cert, key string) {
	_, query, _ := strings.Cut(m.URI.Reveal(), "?")
	given, err := url.ParseQuery(query)
	if err != nil {
		return "", ""
	}
	options := map[string]string{}
	for name, values := range given {
		options[strings.ToLower(name)] = values[0]
	}
	if options["tlscertificatekeyfilepassword"] != "" {
		return "", ""
	}
	if both := options["tlscertificatekeyfile"]; both != "" {
		return both, both
	}
	return options["tlscertificatefile"], options["tlsprivatekeyfile"]
}

func mongoURI(text string) error {
	if !strings.HasPrefix(text, "mongodb://") && !strings.HasPrefix(text, "mongodb+srv://") {
		return fmt.Errorf("must begin with mongodb:// or mongodb+srv://") // the text itself may be a secret
	}
	return nil
}

func databaseName(text string) error {
	if text == "" || len(text) > 63 || strings.ContainsAny(text, `/\. "$*<>:|?`+"\x00") {
		return fmt.Errorf("must be 1 to 63 characters without any of / \\ . \" $ * < > : | ? and space")
	}
	return nil
}

func oneOf(words ...string) func(string) error {
	return func(text string) error {
		if slices.Contains(words, text) {
			return nil
		}
		return fmt.Errorf("must be %s", strings.Join(words, " or "))
	}
}

func endpoint(text string) (string, error) {
	address := text
	if strings.Contains(text, "://") {
		u, err := webURL(text, "https://host:2379")
		if err == nil {
			err = atRoot(u, "etcd is served at the root of a host")
		}
		if err != nil {
			return "", err
		}
		address = u.Host
	} else {
		text = "http://" + text
	}
	if host, port, err := net.SplitHostPort(address); err != nil || host == "" || !validPort(port, 1) {
		return "", fmt.Errorf("%q must name host and port, such as https://host:2379", common.Shorten(text))
	}
	return strings.TrimSuffix(text, "/"), nil
}

func prefix(text string) (netip.Prefix, error) {
	p, err := network(text)
	if err == nil && p.Bits() == 0 {
		err = fmt.Errorf("%s would trust every address", p)
	}
	return p, err
}

// network parses a network, or an address as the network of itself.
func network(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%q must be an address or a network, such as 10.0.0.5 or 10.0.0.0/24",
			common.Shorten(text))
	}
	return p.Masked(), nil
}

func zone(text string) error {
	if text == "" || text == "Local" {
		return fmt.Errorf("must name a zone, such as UTC or Europe/Berlin")
	}
	if _, err := zoneinfo.Load(text); err != nil {
		return fmt.Errorf("%q is not a known time zone", common.Shorten(text))
	}
	return nil
}
