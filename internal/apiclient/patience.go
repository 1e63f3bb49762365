package apiclient

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// retrying repeats requests after 429 with Retry-After: nothing was executed, and the same request may succeed later.
// It waits as long as the server requests, at most the given time in total for one request.
type retrying struct {
	next    http.RoundTripper
	most    time.Duration
	waiting func(wait time.Duration) // called before each wait; may be nil
}

// RoundTrip sends a request until the answer is another one, or the time is over.
func (p *retrying) RoundTrip(r *http.Request) (*http.Response, error) {
	for left := p.most; ; {
		resp, err := p.next.RoundTrip(r)
		if err != nil || resp.StatusCode != http.StatusTooManyRequests {
			return resp, err
		}
		wait := retryAfter(resp.Header)
		if wait == 0 || wait > left || r.Body != nil && r.GetBody == nil {
			return resp, nil
		}
		left -= wait
		_, _ = io.CopyN(io.Discard, resp.Body, 1<<16) // so that the connection can be used again
		_ = resp.Body.Close()
		if p.waiting != nil {
			p.waiting(wait)
		}
		timer := time.NewTimer(wait)
		select {
		case <-r.Context().Done():
			timer.Stop()
			return nil, r.Context().Err()
		case <-timer.C:
		}
		r = r.Clone(r.Context())
		if r.GetBody != nil {
			if r.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// retryAfter parses the header in seconds, the form that our server uses; 0 without it.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
