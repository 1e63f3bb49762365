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

// HTTP says where the API and the console are served.
type HTTP struct {
	Listen         string
	TLS            ServerTLS
	InsecureHTTP   bool
	TrustedProxies []netip.Prefix
	APIRate        int // requests a second of each token, session and address; 0: no bound
}

// ServerTLS names the files of a TLS server.
type ServerTLS struct {
	Cert, Key string
	ClientCA  string // whom clients must have a certificate of; "" for no matter
}

func (h *HTTP) declare(s *settings) {
	s.text(&h.Listen, "listen", "address", "127.0.0.1:7070", "address of the API and the console; beyond loopback it needs TLS", hostPort)
	s.text(&h.TLS.Cert, "tls.cert", "file", "", "certificate of the server, in PEM with its chain")
	s.text(&h.TLS.Key, "tls.key", "file", "", "key of the certificate")
	s.text(&h.TLS.ClientCA, "tls.clientCA", "file", "", "CA certificates that every client must have a certificate of, beside its token; without it none is asked for")
	s.toggle(&h.InsecureHTTP, "insecureHTTP", "serve plain HTTP beyond loopback, because a proxy in front does TLS; needs trustedProxies")
	listOf(s, &h.TrustedProxies, "trustedProxies", "list", "", "addresses or networks of the proxies whose X-Forwarded-For is believed", prefix)
	s.number(&h.APIRate, "apiRate", 200, 0, 1_000_000, "requests a second that each token and session may send to each master, and each address without a good one; 0: no bound")
}

// check keeps an API that runs commands from standing open: beyond loopback
// there is TLS, or a proxy that is known by name.
func (h *HTTP) check() (faults []common.Fault) {
	encrypted := h.TLS != ServerTLS{}
	switch {
	case encrypted && h.InsecureHTTP:
		faults = append(faults, common.Fault{Location: "insecureHTTP", Code: "exclusive", Message: "cannot stand beside tls.cert and tls.key"})
	case h.InsecureHTTP && len(h.TrustedProxies) == 0:
		faults = append(faults, common.Fault{Location: "insecureHTTP", Code: "required", Message: "needs trustedProxies: the addresses of the proxies that do TLS"})
	case !encrypted && !h.InsecureHTTP && !Loopback(h.Listen):
		faults = append(faults, common.Fault{Location: "listen", Code: "insecure", Message: fmt.Sprintf(
			"%s is reachable from other machines without TLS: give tls.cert and tls.key, or insecureHTTP and trustedProxies where a proxy does TLS", h.Listen)})
	}
	if err := h.checkTLS(); err != nil {
		faults = append(faults, common.Fault{Location: "tls", Code: "tls", Message: err.Error()})
	}
	return faults
}

// checkTLS tells whether the files can be used.
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

// Secure tells whether browsers reach the console by https, here or at a proxy.
func (h *HTTP) Secure() bool { return h.TLS != ServerTLS{} || h.InsecureHTTP }

// Loopback tells whether an address is reachable from this machine only.
func Loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func hostPort(text string) error {
	_, port, err := net.SplitHostPort(text)
	if err != nil || !validPort(port, 0) {
		return fmt.Errorf("%q must be host:port, such as 127.0.0.1:7070", common.Excerpt(text))
	}
	return nil
}

func validPort(text string, least uint64) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n >= least
}

// UnixPrefix begins the address of a socket in the file system.
const UnixPrefix = "unix:"

// localAddress is where a worker shows its metrics: it opens nothing that
// another machine could reach.
func localAddress(to *string) func(string) error {
	return func(text string) error {
		switch path, unix := strings.CutPrefix(text, UnixPrefix); {
		case text == "" || text == "off":
			text = ""
		case unix && !filepath.IsAbs(path):
			return fmt.Errorf("must name the socket by its absolute path, such as unix:/run/carillon-worker/metrics.sock")
		case unix:
		case hostPort(text) != nil:
			return hostPort(text)
		case !Loopback(text):
			return fmt.Errorf("%s is reachable from other machines; a worker listens on loopback or on a unix socket only", common.Excerpt(text))
		}
		*to = text
		return nil
	}
}
