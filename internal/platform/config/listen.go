package config

import (
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"

	"carillon/internal/common"
)

// HTTP configures the listener of the API and the console.
type HTTP struct {
	Listen         string
	TLS            ServerTLS
	InsecureHTTP   bool
	TrustedProxies []netip.Prefix
	APIRate        int // requests per second of each token, session and address; 0: unlimited
}

// ServerTLS names the files of a TLS server.
type ServerTLS struct {
	Cert, Key string
	ClientCA  string // CAs of required client certificates; "": none required
}

func (h *HTTP) declare(s *settings) {
	s.text(&h.Listen, "listen", "address", "127.0.0.1:7070",
		"address of the API and the console; addresses other than loopback need TLS", hostPort)
	s.text(&h.TLS.Cert, "tls.cert", "file", "", "server certificate with its chain, in PEM")
	s.text(&h.TLS.Key, "tls.key", "file", "", "key of the certificate")
	s.text(&h.TLS.ClientCA, "tls.clientCA", "file", "",
		"CA certificates; every client needs a certificate signed by one of them, in addition to its token (default: "+
			"no client certificates)")
	s.toggle(&h.InsecureHTTP, "insecureHTTP",
		"serve plain HTTP on other addresses than loopback, behind a proxy that terminates TLS; needs trustedProxies")
	listOf(s, &h.TrustedProxies, "trustedProxies", "list", "",
		"addresses or networks of proxies whose X-Forwarded-For is trusted", prefix)
	s.number(&h.APIRate, "apiRate", 200, 0, 1_000_000,
		"requests per second per master for each token and session, and for each address without a valid one; 0 for "+
			"unlimited")
}

// check refuses an unprotected API: other addresses than loopback need TLS, or a listed proxy.
func (h *HTTP) check() (faults common.Faults) {
	encrypted := h.TLS != ServerTLS{}
	switch {
	case encrypted && h.InsecureHTTP:
		faults.Add("insecureHTTP", "exclusive", nil, "excludes tls.cert and tls.key")
	case h.InsecureHTTP && len(h.TrustedProxies) == 0:
		faults.Add("insecureHTTP", "required", nil,
			"needs trustedProxies: the addresses of the proxies that terminate TLS")
	case !encrypted && !h.InsecureHTTP && !Loopback(h.Listen):
		faults.Add("listen", "insecure", nil, "%s is reachable from other machines without TLS: set tls.cert and "+
			"tls.key, or insecureHTTP and trustedProxies if a proxy terminates TLS", h.Listen)
	}
	if err := h.checkTLS(); err != nil {
		faults.Add("tls", "tls", nil, "%s", err)
	}
	return faults
}

// checkTLS reports whether the files are usable.
func (h *HTTP) checkTLS() error {
	if (h.TLS == ServerTLS{}) {
		return nil
	}
	if _, err := loadPair(h.TLS.Cert, h.TLS.Key); err != nil {
		return err
	}
	if h.TLS.ClientCA != "" {
		_, err := loadPool(h.TLS.ClientCA)
		return err
	}
	return nil
}

// Secure reports whether browsers reach the console over HTTPS, directly or through a proxy.
func (h *HTTP) Secure() bool { return h.TLS != ServerTLS{} || h.InsecureHTTP }

// Loopback reports whether an address is reachable from this machine only.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && localHost(host)
}

func hostPort(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil || !validPort(port, 0) {
		return fmt.Errorf("%q must be host:port, such as 127.0.0.1:7070", common.Shorten(text))
	}
	return nil
}

func validPort(text string, least uint64) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n >= least
}

// UnixPrefix begins the address of a socket in the file system.
const UnixPrefix = "unix:"

// localAddress accepts an address for a worker's metrics that other machines cannot reach.
func localAddress(to *string) func(string) error {
	return func(text string) error {
		switch path, unix := strings.CutPrefix(text, UnixPrefix); {
		case text == "" || text == "off":
			text = ""
		case unix && !filepath.IsAbs(path):
			return fmt.Errorf("must name the socket by its absolute path, such as " +
				"unix:/run/carillon-worker/metrics.sock")
		case unix:
		case hostPort(text) != nil:
			return hostPort(text)
		case !Loopback(text):
			return fmt.Errorf(
				"%s is reachable from other machines; a worker listens on loopback or on a unix socket only",
				common.Excerpt(text))
		}
		*to = text
		return nil
	}
}
