package service

import (
	"strconv"
	"time"

	"carillon/internal/notify"
)

// feishuOutput keeps a request below 20 KB, the limit of a custom bot of Feishu and Lark
// (https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot).
const feishuOutput = 4000 // bytes of output

// feishu is a custom bot of a group of Feishu or Lark, with or without a signing secret.
type feishu struct{}

// feishuPart is a part of a line of rich text, which has no markup.
type feishuPart struct {
	Tag  string `json:"tag"`
	Text string `json:"text"`
	Href string `json:"href,omitempty"`
}

type feishuPost struct {
	Title   string         `json:"title"`
	Content [][]feishuPart `json:"content"`
}

type feishuMessage struct {
	Timestamp string `json:"timestamp,omitempty"`
	Sign      string `json:"sign,omitempty"`
	Type      string `json:"msg_type"`
	Content   struct {
		Post map[string]feishuPost `json:"post"`
	} `json:"content"`
}

func (feishu) Request(c *notify.Channel, t *notify.Target, m *notify.Message, now time.Time) (Request, error) {
	w := wordsOf(c.Language)
	text := feishuPost{Title: w.title(m)}
	line := func(p feishuPart) { text.Content = append(text.Content, []feishuPart{p}) }
	for _, f := range w.facts(m) {
		line(feishuPart{Tag: "text", Text: f.name + ": " + f.value})
	}
	if output := outputOf(m, feishuOutput); output != "" {
		line(feishuPart{Tag: "text", Text: "\n" + output})
	}
	if m.Data.URL != "" {
		line(feishuPart{Tag: "a", Text: w.open, Href: m.Data.URL})
	}
	locale := "en_us"
	if w.language == notify.Chinese {
		locale = "zh_cn"
	}
	message := feishuMessage{Type: "post"}
	message.Content.Post = map[string]feishuPost{locale: text}
	if t.Secret != "" {
		message.Timestamp = strconv.FormatInt(now.Unix(), 10)
		message.Sign = keyed(message.Timestamp+"\n"+t.Secret, "") // the text is the key, as documented
	}
	return post(t.URL, message)
}

// Judge reads the error code, which old bots report under another name.
func (feishu) Judge(a Answer) Verdict {
	said := decode[struct {
		Code    *int   `json:"code"`
		Old     *int   `json:"StatusCode"`
		Message string `json:"msg"`
	}](a)
	if said.Code == nil {
		said.Code = said.Old
	}
	v := byStatus(a, said.Message)
	switch {
	case said.Code == nil:
		v.Taken = false
	case *said.Code != 0:
		v = Verdict{Detail: "error " + strconv.Itoa(*said.Code) + ": " + said.Message}
		switch *said.Code {
		case 9499, 19001, 19002, 19021, 19022, 19024: // format, token, parameters, signature, address, keyword
			v.Final = true
		}
	}
	return v
}
