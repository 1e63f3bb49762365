package service

import (
	"strings"
	"time"

	"carillon/internal/notify"
)

// wecomText is the limit of a text, in bytes (https://developer.work.weixin.qq.com/document/path/91770).
const wecomText = 2048

// wecom is a robot of a group of WeCom.
type wecom struct{}

func (wecom) Request(c *notify.Channel, t *notify.Target, m *notify.Message, _ time.Time) (Request, error) {
	text := plainText(wordsOf(c.Language), m, wecomText)
	text = clipBytes(strings.ReplaceAll(text, "<@", "<\u200b@"), wecomText) // <@userid> mentions
	return post(t.URL, textMessage{"text", textContent{text}})
}

// Judge reads the error code: the HTTP status is 200 for errors too.
func (wecom) Judge(a Answer) Verdict {
	return byCode(a, func(code int) bool {
		switch code {
		case 93000, 93008, 40008, 40058, 44004, 45002: // key, group, type, parameters, no content, too long
			return true
		}
		return false
	})
}
