package httprun

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"carillon/internal/common"
	"carillon/internal/executor/httprun/request"
	"carillon/internal/platform/netguard"
)

const (
	connectLimit   = 30 * time.Second
	handshakeLimit = 15 * time.Second
	maxHeader      = 64 << 10
	// Sizes of the buffers of a connection: many requests may wait for their response at the same time. A body is read
	// and written beside them.
	readBuffer, writeBuffer = 1 << 10, 512
)

// Config configures a Client.
type Config struct {
	Allow    []netip.Prefix // non-public networks that may be called
	Roots    *x509.CertPool // nil: the system's
	Resolver *net.Resolver  // nil: the system's
	Version  string         // of the product, for User-Agent
}

// Client sends requests.
type Client struct {
	cfg    Config
	reused *http.Transport // for requests without an effect
	fresh  *http.Transport // for all others: each has its own connection
}

// New returns a client.
func New(cfg Config) *Client {
	return &Client{cfg: cfg, reused: cfg.transport(cfg.Roots, false), fresh: cfg.transport(cfg.Roots, true)}
}

func (c *Config) transport(roots *x509.CertPool, fresh bool) *http.Transport {
	dialer := &net.Dialer{Timeout: connectLimit, Resolver: c.Resolver, ControlContext: netguard.Control(c.Allow)}
	return &http.Transport{
		Proxy:                  nil, // not even the environment's
		DialContext:            dialer.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		TLSHandshakeTimeout:    handshakeLimit,
		MaxResponseHeaderBytes: maxHeader,
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        30 * time.Second,
		DisableKeepAlives:      fresh,
		DisableCompression:     true,
		ForceAttemptHTTP2:      true,
		ReadBufferSize:         readBuffer,
		WriteBufferSize:        writeBuffer,
	}
}

// Close closes idle connections.
func (c *Client) Close() {
	c.reused.CloseIdleConnections()
	c.fresh.CloseIdleConnections()
}

// Task is a request to send.
type Task struct {
	With    common.With
	Values  request.Values
	Outputs map[string]common.Output
	Key     string // idempotency key: the same for all attempts
	Fence   int64  // fencing token
}

// Print receives the output: the body as stdout, all else of the exchange as stderr. It does not retain the data.
type Print func(stream common.Stream, data []byte)

// Run sends a request and judges its response.
func (c *Client) Run(ctx context.Context, t Task, out Print) Result {
	began := time.Now()
	req, err := prepared(&t)
	if err != nil {
		return refused("%v", err)
	}
	x := &exchange{client: c, task: &t, request: req, out: out}
	x.transport = c.fresh
	if req.Method == http.MethodGet || req.Method == http.MethodHead || req.Method == http.MethodOptions {
		x.transport = c.reused
	}
	if req.CA != "" {
		pool := x509.NewCertPool()
		if !pool.AppendCertsFromPEM([]byte(req.CA)) {
			return refused("tls.ca contains no certificate")
		}
		own := c.cfg.transport(pool, true)
		defer own.CloseIdleConnections()
		x.transport = own
	}
	result := x.run(ctx)
	result.Outputs[common.OutputDuration] = strconv.FormatInt(time.Since(began).Milliseconds(), 10)
	return result
}

// prepared returns the request of a task. Parsing needs a deep stack: it has a goroutine of its own, which ends before
// the request is sent, so that the one that waits for the response keeps a small stack.
func prepared(t *Task) (req *request.Request, err error) {
	var group sync.WaitGroup
	group.Go(func() {
		spec, faults := request.Parse(t.With)
		if len(faults) > 0 {
			err = fmt.Errorf("%s: %s", faults[0].Location, faults[0].Message)
			return
		}
		req, err = spec.Render(t.Values)
	})
	group.Wait()
	return req, err
}

// exchange is a request with its redirects.
type exchange struct {
	client    *Client
	task      *Task
	request   *request.Request
	transport *http.Transport
	out       Print
	badTLS    atomic.Bool // a handshake has failed
}

func (x *exchange) run(ctx context.Context) Result {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) { x.badTLS.Store(err != nil) },
	})
	at, method, body, header := x.request.URL, x.request.Method, x.request.Body, x.header()
	for redirects := 0; ; redirects++ {
		resp, err := x.send(ctx, method, at, header, body)
		if err != nil {
			return x.failure(ctx, err)
		}
		next := redirect(resp)
		if next == nil || redirects == x.request.Redirects {
			return x.judge(ctx, resp)
		}
		_ = resp.Body.Close() // not read: the connection is not used again
		if next.Scheme != at.Scheme {
			return redirected(resp.StatusCode, "to another scheme")
		}
		repeats := resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect
		if !repeats && method != http.MethodGet && method != http.MethodHead &&
			(method == http.MethodPost || resp.StatusCode == http.StatusSeeOther) {
			method, body = http.MethodGet, ""
			header.Del("Content-Type")
		}
		if !strings.EqualFold(next.Host, at.Host) {
			if x.request.Sealed && body != "" {
				return redirected(resp.StatusCode, "to another host, with a body that contains a secret")
			}
			for _, name := range append(slices.Clone(x.request.Private), "Authorization", "Cookie") {
				header.Del(name)
			}
		}
		at = next
	}
}

// header returns the headers of the first request.
func (x *exchange) header() http.Header {
	header := x.request.Header.Clone()
	for name, value := range map[string]string{
		"User-Agent":      "Carillon/" + x.client.cfg.Version,
		"Accept":          "*/*",
		"Idempotency-Key": x.task.Key,
		"Carillon-Fence":  strconv.FormatInt(x.task.Fence, 10),
	} {
		if _, own := header[name]; !own {
			header.Set(name, value)
		}
	}
	return header
}

func (x *exchange) send(ctx context.Context, method string, at *url.URL, header http.Header,
	body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, at.String(), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body == "" {
		req.Body, req.GetBody = http.NoBody, nil
	}
	req.Header = header.Clone()
	var text strings.Builder
	fmt.Fprintf(&text, "> %s %s HTTP/1.1\n> Host: %s\n", method, at.RequestURI(), at.Host)
	printHeader(&text, "> ", header)
	x.out(common.Stderr, []byte(text.String()))
	resp, err := x.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	text.Reset()
	fmt.Fprintf(&text, "< %s %s\n", resp.Proto, resp.Status)
	printHeader(&text, "< ", resp.Header)
	x.out(common.Stderr, []byte(text.String()))
	return resp, nil
}

func printHeader(out *strings.Builder, prefix string, header http.Header) {
	names := make([]string, 0, len(header))
	for name := range header {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		for _, value := range header[name] {
			fmt.Fprintf(out, "%s%s: %s\n", prefix, name, value)
		}
	}
}

// redirect returns the target of a redirect; nil if the response is none.
func redirect(resp *http.Response) *url.URL {
	switch resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect,
		http.StatusPermanentRedirect:
	default:
		return nil
	}
	next, err := resp.Location()
	if err != nil || next.User != nil || next.Hostname() == "" {
		return nil
	}
	return next
}
