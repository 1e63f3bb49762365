package apiclient_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

// A request that is answered with 429 is repeated after Retry-After, with its body, until the time is over.
func TestTooManyRequests_AreRepeatedAfterRetryAfter(t *testing.T) {
	for name, c := range map[string]struct {
		status         int
		after          string
		patience       time.Duration
		asked, waiting int
		code           common.Code
	}{
		"within the patience":  {429, "1", 5 * time.Second, 2, 1, ""},
		"beyond it":            {429, "60", 5 * time.Second, 1, 0, common.CodeTooMany},
		"without patience":     {429, "1", 0, 1, 0, common.CodeTooMany},
		"without a time":       {429, "", 5 * time.Second, 1, 0, common.CodeTooMany},
		"of an unsure outcome": {503, "1", 5 * time.Second, 1, 0, common.CodeUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked, waits := 0, 0
			var last time.Time
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				if asked++; asked > 1 {
					if string(body) != "{\"note\":\"n\"}" || time.Since(last) < 900*time.Millisecond {
						t.Errorf("the body %q comes after %v", body, time.Since(last))
					}
					_, _ = io.WriteString(w, `{"fire":"f","run":"r"}`)
					return
				}
				last = time.Now()
				w.Header().Set("Content-Type", "application/problem+json")
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				code := map[int]string{429: "too_many_requests", 503: "unavailable"}[c.status]
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, `{"title":"x","status":429,"detail":"x","requestId":"r","code":"`+code+`"}`)
			}))
			t.Cleanup(server.Close)
			api, err := apiclient.New(apiclient.Options{
				Server:   server.URL,
				Patience: c.patience,
				Waiting:  func(time.Duration) { waits++ },
			})
			if err != nil {
				t.Fatal(err)
			}
			accepted, err := apiclient.Decode[apiclient.Accepted](api.RunJob(t.Context(), "a", nil,
				apiclient.RunRequest{Note: new("n")}))
			if asked != c.asked || waits != c.waiting || c.code == "" && (err != nil || accepted.Run != "r") ||
				c.code != "" && common.CodeOf(err) != c.code {
				t.Errorf("asked %d times, waited %d times: %+v, %v", asked, waits, accepted, err)
			}
		})
	}
}
