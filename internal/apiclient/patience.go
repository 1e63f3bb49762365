package apiclient

import (
	"io"
	"net/http"
	"strconv"
	"time"
)

// patient repeats requests that the server refused with 429 and a Retry-After: nothing was done, and the same request
// may succeed later. It waits as long as the server says, at most most for one request with all its repetitions.
type patient struct {
	next http.RoundTripper
	most time.Duration
	told func(wait time.Duration) // before each wait; may be nil
}

// RoundTrip sends a request until it is not refused so, or the patience is over.
func (p *patient) RoundTrip(r *http.Request) (*http.Response, error) {
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
		if p.told != nil {
			p.told(wait)
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

// retryAfter reads the header in seconds, as our server writes it; 0 where there is none.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31)
	if err != nil {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
