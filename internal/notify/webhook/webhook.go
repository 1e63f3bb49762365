// Package webhook sends notifications by HTTP, signed according to Standard Webhooks
// (https://github.com/standard-webhooks/standard-webhooks).
//
// Promises: it connects only to public addresses and those that the configuration allows, checked
// on the address that a name resolves to at that moment; it uses no proxy from the environment,
// keeps no cookies and verifies TLS; it follows redirects only to the same host, never from https
// to http and never with another method; it reads a bounded part of a response.
//
// No goroutine outlives a call, except for idle connections, which Close ends.
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"

	"carillon/internal/notify"
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

// Sender calls webhooks. It is safe for concurrent use.
type Sender struct {
	cfg    Config
	client *http.Client
}

var _ notify.Sender = (*Sender)(nil)

// New returns a sender.
func New(cfg Config) *Sender {
	dialer := &net.Dialer{
		Timeout: Timeout,
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return notify.CheckAddress(at.Addr(), cfg.Allow)
		},
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

// body is the payload. Text is for chat services that display this field.
type body struct {
	Type      string      `json:"type"`
	Timestamp time.Time   `json:"timestamp"`
	Text      string      `json:"text"`
	Data      notify.Data `json:"data"`
}

// Send calls the webhook once, and once more for each redirect that may be followed.
func (s *Sender) Send(ctx context.Context, _ notify.Channel, target notify.Target, m notify.Message) notify.Result {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	key, err := notify.SecretKey(target.Secret)
	if err != nil {
		return notify.Result{Err: errors.New("the channel's secret is damaged"), Final: true}
	}
	payload, err := json.Marshal(body{Type: m.Type, Timestamp: m.At.UTC(), Text: m.Subject, Data: m.Data})
	if err != nil {
		return notify.Result{Err: fmt.Errorf("encode the payload: %w", err), Final: true}
	}
	at, err := url.Parse(target.URL)
	if err != nil {
		return notify.Result{Err: errors.New("the channel's URL is damaged"), Final: true}
	}
	for redirects := 0; ; redirects++ {
		status, next, wait, err := s.post(ctx, at, key, m.ID, payload)
		if err != nil {
			return notify.Result{Err: err, Final: errors.Is(err, notify.ErrAddress)}
		}
		switch {
		case status >= 200 && status < 300:
			return notify.Result{Answer: status}
		case next == nil:
			return notify.Result{Answer: status, Gone: status == http.StatusGone, RetryIn: wait,
				Err: fmt.Errorf("the receiver answered %s",
					strings.TrimSpace(fmt.Sprint(status, " ", http.StatusText(status))))}
		case redirects == maxRedirects:
			return notify.Result{Answer: status, Err: fmt.Errorf("redirected more than %d times", maxRedirects)}
		}
		if err := follow(at, next); err != nil {
			return notify.Result{Answer: status, Err: err}
		}
		at = next
	}
}

// follow refuses a redirect to another host or an insecure one: the notification is for the
// configured receiver only.
func follow(from, to *url.URL) error {
	switch {
	case to.Scheme != "http" && to.Scheme != "https" || to.User != nil:
		return errors.New("redirected to a URL that is not plain http or https")
	case !strings.EqualFold(from.Hostname(), to.Hostname()):
		return errors.New("redirected to another host: set the channel's URL to the final one")
	case from.Scheme == "https" && to.Scheme == "http":
		return errors.New("redirected from https to http")
	}
	return nil
}

// post makes one request. next is the target of a redirect with the same method.
func (s *Sender) post(ctx context.Context, at *url.URL, key []byte, id string, payload []byte) (status int,
	next *url.URL, wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, at.String(), bytes.NewReader(payload))
	if err != nil {
		return 0, nil, 0, errors.New("the channel's URL is damaged")
	}
	now := strconv.FormatInt(s.cfg.Now().Unix(), 10)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "Carillon/"+s.cfg.Version)
	req.Header.Set("Webhook-Id", id)
	req.Header.Set("Webhook-Timestamp", now)
	req.Header.Set("Webhook-Signature", "v1,"+sign(key, id, now, payload))
	resp, err := s.client.Do(req)
	if err != nil {
		return 0, nil, 0, plain(err)
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // so that the connection can be reused
	if resp.StatusCode == http.StatusTemporaryRedirect || resp.StatusCode == http.StatusPermanentRedirect {
		if next, err = resp.Location(); err != nil {
			next = nil
		}
	}
	return resp.StatusCode, next, retryAfter(resp.Header.Get("Retry-After"), s.cfg.Now()), nil
}

// sign returns the signature of Standard Webhooks: HMAC-SHA256 of id, time and payload.
func sign(key []byte, id, at string, payload []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, at)
	mac.Write(payload)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
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
