// Package webhook sends notifications by HTTP: webhooks, and the messages of chat and alerting services, which differ
// in their templates only (package service).
//
// Promises: it connects only to public addresses and those that the configuration allows, checked
// on the address that a name resolves to at that moment; it uses no proxy from the environment,
// keeps no cookies and verifies TLS; it follows redirects only to the same host, never from https
// to http and never with another method; it reads a bounded part of a response. No error contains a
// part of a channel's target, not even one that a receiver repeats.
//
// No goroutine outlives a call, except for idle connections, which Close ends.
package webhook

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"carillon/internal/notify"
	"carillon/internal/notify/service"
	"carillon/internal/platform/netguard"
)

// Bounds of a call.
const (
	Timeout      = 10 * time.Second
	maxRedirects = 3
	maxAnswer    = 64 << 10
	maxHeader    = 64 << 10
)

// Config holds the settings of a sender.
type Config struct {
	Allow   []netip.Prefix // non-public networks that may be called
	Roots   *x509.CertPool // nil: the system's
	Version string         // of the product, for User-Agent
	Now     func() time.Time
}

// Sender calls the URLs of channels. It is safe for concurrent use.
type Sender struct {
	cfg    Config
	client *http.Client
}

var _ notify.Sender = (*Sender)(nil)

// New returns a sender.
func New(cfg Config) *Sender {
	dialer := &net.Dialer{
		Timeout:        Timeout,
		ControlContext: netguard.Control(cfg.Allow),
	}
	return &Sender{cfg: cfg, client: &http.Client{
		Timeout: Timeout,
		Transport: &http.Transport{
			Proxy:                  nil, // not even the environment's
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.Roots},
			TLSHandshakeTimeout:    Timeout,
			ResponseHeaderTimeout:  Timeout,
			MaxResponseHeaderBytes: maxHeader,
			MaxIdleConns:           16,
			MaxIdleConnsPerHost:    1,
			IdleConnTimeout:        30 * time.Second,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// Close closes idle connections.
func (s *Sender) Close() { s.client.CloseIdleConnections() }

// Send calls the channel once, and once more for each redirect that may be followed.
func (s *Sender) Send(ctx context.Context, c notify.Channel, target notify.Target, m notify.Message) notify.Result {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	template := service.Of(c.Kind)
	if template == nil {
		return notify.Result{Err: fmt.Errorf("channels of kind %s are not called by HTTP", c.Kind)}
	}
	call, err := template.Request(&c, &target, &m, s.cfg.Now())
	if err != nil {
		return notify.Result{Err: err, Final: true}
	}
	at, err := url.Parse(call.URL)
	if err != nil {
		return notify.Result{Err: errors.New("the channel's URL is damaged"), Final: true}
	}
	for redirects := 0; ; redirects++ {
		answer, next, wait, err := s.do(ctx, at, &call)
		if err != nil {
			return notify.Result{Err: err, Final: errors.Is(err, netguard.ErrAddress)}
		}
		if next == nil {
			return resultOf(answer, template.Judge(answer), wait, &target)
		}
		if redirects == maxRedirects {
			return notify.Result{Answer: answer.Status, Err: fmt.Errorf("redirected more than %d times", maxRedirects)}
		}
		if err := follow(at, next); err != nil {
			return notify.Result{Answer: answer.Status, Err: err}
		}
		at = next
	}
}

// resultOf returns the result of a call.
func resultOf(a service.Answer, v service.Verdict, wait time.Duration, target *notify.Target) notify.Result {
	r := notify.Result{Answer: a.Status}
	if v.Taken {
		return r
	}
	text := strings.TrimSpace(fmt.Sprint(a.Status, " ", http.StatusText(a.Status)))
	if detail := notify.Line(masked(v.Detail, target)); detail != "" {
		text += ": " + detail
	}
	r.Err, r.Final, r.RetryIn = fmt.Errorf("the receiver answered %s", text), v.Final, max(wait, v.RetryIn)
	r.Gone = a.Status == http.StatusGone
	return r
}

// follow refuses a redirect to another host, another port or an insecure one: the notification is for the configured
// receiver only, and another port of its machine is another service. From http to https with the usual ports is
// allowed.
func follow(from, to *url.URL) error {
	switch {
	case to.Scheme != "http" && to.Scheme != "https" || to.User != nil:
		return errors.New("redirected to a URL that is not plain http or https")
	case !strings.EqualFold(from.Hostname(), to.Hostname()):
		return errors.New("redirected to another host: set the channel's URL to the final one")
	case portOf(from) != portOf(to) && (from.Scheme != "http" || portOf(from) != "80" || to.Scheme != "https" ||
		portOf(to) != "443"):
		return errors.New("redirected to another port: set the channel's URL to the final one")
	case from.Scheme == "https" && to.Scheme == "http":
		return errors.New("redirected from https to http")
	}
	return nil
}

func portOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// do makes one request. next is the target of a redirect with the same method.
func (s *Sender) do(ctx context.Context, at *url.URL, call *service.Request) (answer service.Answer, next *url.URL,
	wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, call.Method, at.String(), bytes.NewReader(call.Body))
	if err != nil {
		return answer, nil, 0, errors.New("the channel's URL is damaged")
	}
	for name, value := range call.Header {
		req.Header.Set(name, value)
	}
	req.Header.Set("User-Agent", "Carillon/"+s.cfg.Version)
	resp, err := s.client.Do(req)
	if err != nil {
		return answer, nil, 0, plain(err)
	}
	defer resp.Body.Close()
	answer.Status = resp.StatusCode
	// What is read of an answer is judged, complete or not; all of a short one is read, so that the connection can be
	// reused.
	answer.Body, _ = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect {
		if next, err = resp.Location(); err != nil {
			next = nil
		}
	}
	return answer, next, retryAfter(resp.Header.Get("Retry-After"), s.cfg.Now()), nil
}

// retryAfter parses the header Retry-After: seconds, or a time.
func retryAfter(text string, now time.Time) time.Duration {
	if text == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// plain removes the URL from an error, since it may contain a secret.
func plain(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		if e.Timeout() {
			return fmt.Errorf("the receiver did not answer within %v", Timeout)
		}
		return e.Err
	}
	return err
}

// pathWords are parts of the documented addresses of services, which are no secrets and are words in their answers.
const pathWords = " services webhook webhooks workflows triggers manual invoke enqueue "

// shortest is the length from which on a part of a URL counts as a secret.
const shortest = 6

// masked returns a text of the receiver without the parts of the channel's target that it repeats.
func masked(text string, t *notify.Target) string {
	secrets := []string{t.URL, t.Secret, t.Key, t.Chat}
	if at, err := url.Parse(t.URL); err == nil {
		secrets = append(secrets, at.RequestURI(), at.RawQuery)
		for part := range strings.SplitSeq(at.Path, "/") {
			if !strings.Contains(pathWords, " "+part+" ") {
				secrets = append(secrets, part)
			}
		}
		for _, values := range at.Query() {
			secrets = append(secrets, values...)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the longest first
	for _, secret := range secrets {
		if len(secret) >= shortest {
			text = strings.ReplaceAll(text, secret, "…")
		}
	}
	return text
}
