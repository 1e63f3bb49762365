package service

import (
	"strings"
	"time"

	"carillon/internal/notify"
)

// Limits of Slack's blocks (https://docs.slack.dev/reference/block-kit/blocks).
const (
	slackHeader = 150  // characters of a header
	slackField  = 2000 // characters of a field of a section, of which there are at most 10
	slackText   = 3000 // characters of a text; also kept for preformatted text, which has no limit of its own
)

// slack is an incoming webhook of Slack.
type slack struct{}

// slackBlock is a block, or an element of one.
type slackBlock struct {
	Type     string       `json:"type"`
	Text     any          `json:"text,omitempty"` // a string in elements of rich text
	URL      string       `json:"url,omitempty"`
	Fields   []slackBlock `json:"fields,omitempty"`
	Elements []slackBlock `json:"elements,omitempty"`
}

func (slack) Request(c *notify.Channel, t *notify.Target, m *notify.Message, _ time.Time) (Request, error) {
	w := wordsOf(c.Language)
	title := w.title(m)
	fields := w.facts(m)
	section := slackBlock{Type: "section"}
	for _, f := range fields {
		section.Fields = append(section.Fields, slackBlock{Type: "mrkdwn",
			Text: "*" + f.name + "*\n" + slackEscape(clip(f.value, slackField/5))}) // "&" becomes five characters
	}
	blocks := []slackBlock{{Type: "header", Text: slackBlock{Type: "plain_text", Text: clip(title, slackHeader)}}}
	if len(section.Fields) > 0 {
		blocks = append(blocks, section)
	}
	if output := outputOf(m, slackText); output != "" {
		blocks = append(blocks, slackBlock{Type: "rich_text", Elements: []slackBlock{{Type: "rich_text_preformatted",
			Elements: []slackBlock{{Type: "text", Text: output}}}}})
	}
	if m.Data.URL != "" {
		blocks = append(blocks, slackBlock{Type: "rich_text", Elements: []slackBlock{{Type: "rich_text_section",
			Elements: []slackBlock{{Type: "link", URL: m.Data.URL, Text: w.open}}}}})
	}
	return post(t.URL, struct { // text is for notifications and clients that do not show blocks
		Text   string       `json:"text"`
		Blocks []slackBlock `json:"blocks"`
	}{slackEscape(clip(title, slackText/5)), blocks})
}

// slackEscape escapes the characters that Slack's markup begins with, so that a text mentions and links nothing.
func slackEscape(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)
}

// Judge reads the short code that Slack answers as plain text, such as invalid_payload or no_service.
func (slack) Judge(a Answer) Verdict { return byStatus(a, string(a.Body)) }
