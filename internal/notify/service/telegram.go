package service

import (
	"strings"
	"time"

	"carillon/internal/notify"
)

// telegramText is the limit of a message, in characters without its markup
// (https://core.telegram.org/bots/api#sendmessage).
const telegramText = 4096

// telegram is a bot of Telegram that writes to a chat.
type telegram struct{}

func (telegram) Request(c *notify.Channel, t *notify.Target, m *notify.Message, _ time.Time) (Request, error) {
	w := wordsOf(c.Language)
	title := quiet(w.title(m))
	var b strings.Builder
	b.WriteString("<b>" + markup(title) + "</b>\n")
	used := width(title) + 1
	for _, f := range w.facts(m) {
		value := quiet(f.value)
		b.WriteString("\n<b>" + markup(f.name) + ":</b> " + markup(value))
		used += width(f.name) + width(value) + 3
	}
	room := telegramText - used - width(w.open) - 8 // separators
	if output := outputOf(m, room); output != "" {
		b.WriteString("\n\n<pre>" + markup(output) + "</pre>")
	}
	if m.Data.URL != "" {
		b.WriteString("\n\n<a href=\"" + markup(m.Data.URL) + "\">" + markup(w.open) + "</a>")
	}
	return post(strings.TrimRight(t.URL, "/")+"/bot"+t.Key+"/sendMessage", struct {
		Chat    string         `json:"chat_id"`
		Text    string         `json:"text"`
		Mode    string         `json:"parse_mode"`
		Preview map[string]any `json:"link_preview_options"`
	}{t.Chat, b.String(), "HTML", map[string]any{"is_disabled": true}})
}

// markup escapes a text for HTML as Telegram reads it.
func markup(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;").Replace(s)
}

// Judge reads the explanation of an error, and after how many seconds to call again.
func (telegram) Judge(a Answer) Verdict {
	said := decode[struct {
		OK          bool   `json:"ok"`
		Description string `json:"description"`
		Parameters  struct {
			RetryAfter float64 `json:"retry_after"`
		} `json:"parameters"`
	}](a)
	v := byStatus(a, said.Description)
	v.Taken = v.Taken && said.OK
	v.RetryIn = seconds(said.Parameters.RetryAfter)
	return v
}
