package apiclient

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"carillon/internal/common"
)

// Options say where the server is and who asks.
type Options struct {
	Server       string // URL, as in http://127.0.0.1:7070
	Token        string // may be empty
	InsecureHTTP bool   // send the token over plain HTTP to another machine
	UserAgent    string
	TLS          *tls.Config // nil for the system's authorities, and no certificate of our own
}

// API is the server's operations, with the token sent along.
type API struct{ *Client }

// Time limits of a request. The whole of it has none: a log may be followed for
// as long as its run goes.
const (
	dialTimeout   = 5 * time.Second
	headerTimeout = 60 * time.Second
)

// New makes a client; it does not connect.
func New(o Options) (*API, error) {
	base, err := url.Parse(o.Server)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, &common.Error{Code: common.CodeInvalid, Message: "the server " + common.Excerpt(o.Server) + " is not an address of one",
			Hint: "write it as http://127.0.0.1:7070 or https://carillon.example.com"}
	}
	if base.Scheme == "http" && o.Token != "" && !o.InsecureHTTP && !Loopback(base.Hostname()) {
		return nil, &common.Error{Code: common.CodeForbidden, Message: "the token is not sent to " + base.Host + " over plain HTTP, where others may read it",
			Hint: "use https, or allow it with --insecure-http"}
	}
	transport := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSClientConfig:       o.TLS,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: headerTimeout,
		ForceAttemptHTTP2:     true,
		IdleConnTimeout:       30 * time.Second,
	}
	httpClient := &http.Client{
		Transport: transport,
		// A redirect would carry the token to where nobody has looked at.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	client, err := NewClient(strings.TrimRight(o.Server, "/"), WithHTTPClient(httpClient), WithRequestEditorFn(o.sign))
	if err != nil {
		return nil, &common.Error{Code: common.CodeInvalid, Message: "the server's address cannot be used", Err: err}
	}
	return &API{Client: client}, nil
}

func (o *Options) sign(_ context.Context, r *http.Request) error {
	if o.Token != "" {
		r.Header.Set("Authorization", "Bearer "+o.Token)
	}
	if o.UserAgent != "" {
		r.Header.Set("User-Agent", o.UserAgent)
	}
	return nil
}

// Loopback tells whether a host is this machine.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
