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

// Options are the server and the caller's credentials.
type Options struct {
	Server       string // URL, such as http://127.0.0.1:7070
	Token        string // may be empty
	Cookie       string // session cookie as NAME=VALUE; empty for none
	InsecureHTTP bool   // send the token, and other secrets, over plain HTTP to another machine
	UserAgent    string
	TLS          *tls.Config // nil for the system's authorities and no client certificate
	// Patience is how long one request may wait in total while the server answers 429 with Retry-After; zero returns
	// that error. Waiting is called before each wait.
	Patience time.Duration
	Waiting  func(wait time.Duration)
}

// API calls the server's operations, with the token.
type API struct{ *Client }

// Limits of the parts of a request. There is none for a request as a whole: a log may be followed as long as its run
// continues.
const (
	dialTimeout   = 5 * time.Second
	headerTimeout = 60 * time.Second
)

// Reachable returns an error for a text that is not the address of a server.
func Reachable(server string) error {
	base, err := url.Parse(server)
	if strings.Contains(server, "@") { // not repeated: it may contain a password
		return common.Errorf(common.CodeInvalid, "the address of the server contains a user or a password").
			WithHint("write it as https://carillon.example.com, and sign in with cronctl login")
	}
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" ||
		base.RawQuery != "" || base.Fragment != "" {
		return common.Errorf(common.CodeInvalid, "the server %s is not an address of one", common.Excerpt(server)).
			WithHint("write it as http://127.0.0.1:7070 or https://carillon.example.com")
	}
	return nil
}

// Private returns an error for a server to which the connection may be read by others.
func Private(server string) error {
	base, err := url.Parse(server)
	if err == nil && (base.Scheme == "https" || Loopback(base.Hostname())) {
		return nil
	}
	return common.Errorf(common.CodeForbidden,
		"no token or password is sent to %s over plain HTTP, where others may read it", common.Excerpt(server)).
		WithHint("use https, or allow it with --insecure-http")
}

// New returns a client; it does not connect.
func New(o Options) (*API, error) {
	if err := Reachable(o.Server); err != nil {
		return nil, err
	}
	if (o.Token != "" || o.Cookie != "") && !o.InsecureHTTP {
		if err := Private(o.Server); err != nil {
			return nil, err
		}
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
		Transport: &retrying{next: transport, most: o.Patience, waiting: o.Waiting},
		// A redirect would send the token to another address.
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
	if o.Cookie != "" {
		r.Header.Set("Cookie", o.Cookie)
	}
	if o.UserAgent != "" {
		r.Header.Set("User-Agent", o.UserAgent)
	}
	return nil
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
