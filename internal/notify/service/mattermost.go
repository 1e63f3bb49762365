package service

import (
	"fmt"
	"time"

	"carillon/internal/notify"
)

// Limits of Mattermost (https://developers.mattermost.com/integrate/webhooks/incoming): a post has at most 16,383
// characters, and is split or rejected beyond that.
const (
	mattermostTitle  = 400
	mattermostOutput = 4000
)

// mattermost is an incoming webhook of Mattermost.
type mattermost struct{}

type mattermostField struct {
	Title string `json:"title"`
	Value string `json:"value"`
	Short bool   `json:"short"`
}

type mattermostAttachment struct {
	Fallback  string            `json:"fallback"`
	Color     string            `json:"color"`
	Title     string            `json:"title"`
	TitleLink string            `json:"title_link,omitempty"`
	Text      string            `json:"text,omitempty"`
	Fields    []mattermostField `json:"fields,omitempty"`
}

func (mattermost) Request(c *notify.Channel, t *notify.Target, m *notify.Message, _ time.Time) (Request, error) {
	w := wordsOf(c.Language)
	title := quiet(w.title(m))
	if m.Data.URL == "" { // only a title without a link may have markup
		title = markdown(title)
	}
	title = clip(title, mattermostTitle)
	card := mattermostAttachment{
		Fallback:  clip(w.title(m), mattermostTitle),
		Color:     fmt.Sprintf("#%06x", colorOf(&m.Data)),
		Title:     title,
		TitleLink: m.Data.URL,
	}
	for _, f := range w.facts(m) {
		card.Fields = append(card.Fields, mattermostField{f.name, markdown(quiet(f.value)), len(f.value) < 40})
	}
	if output := outputOf(m, mattermostOutput); output != "" {
		card.Text = fenced(output)
	}
	return post(t.URL, struct {
		Attachments []mattermostAttachment `json:"attachments"`
	}{[]mattermostAttachment{card}})
}

// Judge reads the explanation of an error.
func (mattermost) Judge(a Answer) Verdict {
	return byStatus(a, decode[struct {
		Message string `json:"message"`
	}](a).Message)
}
