// Package service formats notifications for the services that receive them by HTTP, and interprets their answers: one
// template per kind of channel, over the one sender of package webhook.
//
// Promises: a request stays within the limits that its service documents, whatever a job prints, and no text of a job
// mentions people, links or formats anything; nothing of a channel's target appears in a verdict that is not also in
// the answer.
//
// The package is pure and has no goroutines.
package service

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"carillon/internal/notify"
)

// Request is a call of a service.
type Request struct {
	Method string
	URL    string
	Header map[string]string // besides User-Agent
	Body   []byte
}

// Answer is what a service answered to it.
type Answer struct {
	Status int
	Body   []byte // its beginning
}

// Verdict is the meaning of an answer.
type Verdict struct {
	Taken   bool
	Final   bool          // a retry would be useless
	Detail  string        // the service's explanation
	RetryIn time.Duration // requested in the body
}

// Template is what is particular to a kind.
type Template interface {
	// Request returns the call that delivers a message; now is the time of this try.
	Request(c *notify.Channel, t *notify.Target, m *notify.Message, now time.Time) (Request, error)
	// Judge interprets an answer. 410 Gone and the header Retry-After mean the same for all kinds; the sender handles
	// them.
	Judge(a Answer) Verdict
}

// Of returns the template of a kind, nil if it is not sent by HTTP or not known.
func Of(kind notify.Kind) Template {
	switch kind {
	case notify.KindWebhook:
		return standard{}
	case notify.KindSlack:
		return slack{}
	case notify.KindPagerDuty:
		return pagerduty{}
	case notify.KindTeams:
		return teams{}
	case notify.KindDiscord:
		return discord{}
	case notify.KindMattermost:
		return mattermost{}
	case notify.KindTelegram:
		return telegram{}
	case notify.KindDingTalk:
		return dingtalk{}
	case notify.KindFeishu:
		return feishu{}
	case notify.KindWeCom:
		return wecom{}
	case notify.KindNtfy:
		return ntfy{}
	case notify.KindOpsgenie:
		return opsgenie{}
	case notify.KindPing:
		return ping{}
	}
	return nil
}

// post returns a call with a JSON body, without the escapes of HTML, which would count towards limits.
func post(url string, body any) (Request, error) {
	var data bytes.Buffer
	encoder := json.NewEncoder(&data)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return Request{}, fmt.Errorf("encode the message: %w", err)
	}
	return Request{Method: "POST", URL: url, Header: map[string]string{"Content-Type": "application/json"},
		Body: bytes.TrimSpace(data.Bytes())}, nil
}

// byStatus returns the verdict of a service that reports errors by its HTTP status: 2xx is success, and a request that
// it rejects as such is not repeated. Statuses that ask to try again later are those of RFC 9110 and RFC 6585.
func byStatus(a Answer, detail string) Verdict {
	switch status := a.Status; {
	case status >= 200 && status < 300:
		return Verdict{Taken: true}
	case status == 408 || status == 425 || status == 429:
		return Verdict{Detail: detail}
	default:
		return Verdict{Final: status >= 400 && status < 500, Detail: detail}
	}
}

// decode returns the JSON answer of a service, or the zero value.
func decode[T any](a Answer) (v T) {
	_ = json.Unmarshal(a.Body, &v) // an answer that is not JSON, such as a proxy's, is judged by its status
	return v
}
