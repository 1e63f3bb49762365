package service

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/url"
	"strconv"
	"time"

	"carillon/internal/notify"
)

// Limits of a custom robot of DingTalk (https://open.dingtalk.com/document/robots/custom-robot-access).
const (
	dingTalkText  = 20_000           // bytes of a message
	dingTalkPause = 10 * time.Minute // for which a robot is blocked after 20 messages within a minute
)

// dingtalk is a custom robot of a group of DingTalk, with or without a signing secret.
type dingtalk struct{}

func (dingtalk) Request(c *notify.Channel, t *notify.Target, m *notify.Message, now time.Time) (Request, error) {
	at, err := url.Parse(t.URL)
	if err != nil {
		return Request{}, errors.New("the channel's URL is damaged")
	}
	if t.Secret != "" {
		millis := strconv.FormatInt(now.UnixMilli(), 10)
		query := at.Query()
		query.Set("timestamp", millis)
		query.Set("sign", keyed(t.Secret, millis+"\n"+t.Secret))
		at.RawQuery = query.Encode()
	}
	return post(at.String(), textMessage{"text", textContent{plainText(wordsOf(c.Language), m, dingTalkText)}})
}

// textMessage is a plain text to DingTalk and WeCom, which mentions only members that other fields name.
type textMessage struct {
	Type string      `json:"msgtype"`
	Text textContent `json:"text"`
}

type textContent struct {
	Content string `json:"content"`
}

// Judge reads the error code: the HTTP status is 200 for most errors.
func (dingtalk) Judge(a Answer) Verdict {
	v := byCode(a, func(code int) bool {
		switch code {
		case 300001, 300005, 310000, // no such token; keyword, signature or address rejected
			40035, 400013, 400101, 400102, 400105, 400106, // parameters, group, token, robot or type of message
			430101, 430102, 430103, 430104: // content
			return true
		}
		return false
	})
	if code := decode[coded](a).Code; code != nil && (*code == 130101 || *code == 410100) {
		v.RetryIn = dingTalkPause
	}
	return v
}

// coded is the answer of a service with an error code.
type coded struct {
	Code    *int   `json:"errcode"`
	Message string `json:"errmsg"`
}

// byCode returns the verdict of a service that answers 200 and an error code, which final judges. An answer without a
// code is not the service's.
func byCode(a Answer, final func(code int) bool) Verdict {
	said := decode[coded](a)
	v := byStatus(a, "")
	switch {
	case said.Code == nil:
		v.Taken = false
	case *said.Code != 0:
		v = Verdict{Final: final(*said.Code), Detail: "error " + strconv.Itoa(*said.Code) + ": " + said.Message}
	}
	return v
}

// keyed returns the HMAC-SHA256 of a text in base64.
func keyed(key, text string) string {
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte(text))
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
