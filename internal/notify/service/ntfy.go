package service

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"carillon/internal/notify"
)

// Limits of ntfy (https://docs.ntfy.sh/publish/#limitations).
const (
	ntfyMessage = 4096 // bytes; a longer message becomes an attachment
	ntfyTitle   = 250  // bytes: the title counts as part of a request of at most 2 × 4,096
)

// ntfy is a topic of ntfy.sh, or of a server of one's own.
type ntfy struct{}

func (ntfy) Request(c *notify.Channel, t *notify.Target, m *notify.Message, _ time.Time) (Request, error) {
	at, err := url.Parse(t.URL)
	if err != nil {
		return Request{}, errors.New("the channel's URL is damaged")
	}
	path := strings.TrimRight(at.Path, "/")
	slash := strings.LastIndexByte(path, '/')
	topic := path[slash+1:]
	at.Path = path[:slash+1] // messages as JSON are posted to the root
	w := wordsOf(c.Language)
	tone := toneOf(&m.Data)
	r, err := post(at.String(), struct {
		Topic    string   `json:"topic"`
		Title    string   `json:"title"`
		Message  string   `json:"message"`
		Priority int      `json:"priority"`
		Tags     []string `json:"tags"`
		Click    string   `json:"click,omitempty"`
	}{topic, clipBytes(w.title(m), ntfyTitle), bodyText(w, m, ntfyMessage),
		[...]int{info: 3, good: 3, warn: 4, bad: 4}[tone],
		[]string{[...]string{info: "bell", good: "white_check_mark", warn: "warning", bad: "rotating_light"}[tone]},
		m.Data.URL})
	if err == nil && t.Key != "" {
		r.Header["Authorization"] = "Bearer " + t.Key
	}
	return r, err
}

// Judge reads the explanation of an error.
func (ntfy) Judge(a Answer) Verdict {
	return byStatus(a, decode[struct {
		Error string `json:"error"`
	}](a).Error)
}
