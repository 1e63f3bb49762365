package service

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"carillon/internal/notify"
)

// standard is a receiver of Standard Webhooks.
type standard struct{}

// payload is its body. Text is for chat services that display this field.
type payload struct {
	Type      string      `json:"type"`
	Timestamp time.Time   `json:"timestamp"`
	Text      string      `json:"text"`
	Data      notify.Data `json:"data"`
}

func (standard) Request(_ *notify.Channel, t *notify.Target, m *notify.Message, now time.Time) (Request, error) {
	key, err := notify.SecretKey(t.Secret)
	if err != nil {
		return Request{}, errors.New("the channel's secret is damaged")
	}
	r, err := post(t.URL, payload{Type: m.Type, Timestamp: m.At.UTC(), Text: m.Subject, Data: m.Data})
	if err != nil {
		return Request{}, err
	}
	at := strconv.FormatInt(now.Unix(), 10)
	r.Header["Webhook-Id"] = m.ID
	r.Header["Webhook-Timestamp"] = at
	r.Header["Webhook-Signature"] = "v1," + signature(key, m.ID, at, r.Body)
	return r, nil
}

// Judge counts any 2xx as success, and lets all else be retried.
func (standard) Judge(a Answer) Verdict { return Verdict{Taken: a.Status >= 200 && a.Status < 300} }

// signature returns the signature of Standard Webhooks: HMAC-SHA256 of id, time and body.
func signature(key []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, at)
	mac.Write(body)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
