package service

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"carillon/internal/notify"
)

// pingBody is the part of a body that Healthchecks keeps by default, in bytes
// (https://healthchecks.io/docs/self_hosted_configuration/#PING_BODY_LIMIT).
const pingBody = 10_000

// ping is a check of Healthchecks, or of a service with the same addresses
// (https://healthchecks.io/docs/http_api/).
type ping struct{}

func (ping) Request(c *notify.Channel, t *notify.Target, m *notify.Message, _ time.Time) (Request, error) {
	at, err := url.Parse(t.URL)
	if err != nil {
		return Request{}, errors.New("the channel's URL is damaged")
	}
	at.Path = strings.TrimRight(at.Path, "/")
	switch tone := toneOf(&m.Data); {
	case m.Data.Backfill: // no recovery would follow
		at.Path += "/log"
	case tone == good: // the address itself means success
	case tone == warn || tone == bad:
		at.Path += "/fail"
	default:
		at.Path += "/log" // neither
	}
	return Request{
		Method: "POST",
		URL:    at.String(),
		Header: map[string]string{"Content-Type": "text/plain; charset=utf-8"},
		Body:   []byte(plainText(wordsOf(c.Language), m, pingBody)),
	}, nil
}

// Judge reads the text that Healthchecks answers with: it is 200 also for a check that does not exist.
func (ping) Judge(a Answer) Verdict {
	text := string(a.Body)
	v := byStatus(a, text)
	switch {
	case !v.Taken:
	case strings.HasPrefix(text, "OK (not found)"):
		v = Verdict{Final: true, Detail: text}
	case strings.HasPrefix(text, "OK (rate limited)"):
		v = Verdict{Detail: text}
	}
	return v
}
