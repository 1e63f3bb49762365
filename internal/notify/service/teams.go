package service

import (
	"strings"
	"time"

	"carillon/internal/notify"
)

// teamsOutput keeps a message below 28 KB, the limit of a message to Teams
// (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using), although it is
// counted as UTF-16 there.
const teamsOutput = 3000 // characters of output

// teams is a workflow of Microsoft Teams ("When a Teams webhook request is received"), which posts an Adaptive Card.
type teams struct{}

// teamsPart is an element of an Adaptive Card. Texts are runs of rich text, which has no markup.
type teamsPart struct {
	Type      string      `json:"type"`
	Inlines   []teamsPart `json:"inlines,omitempty"`
	Text      string      `json:"text,omitempty"`
	Weight    string      `json:"weight,omitempty"`
	Size      string      `json:"size,omitempty"`
	Color     string      `json:"color,omitempty"`
	FontType  string      `json:"fontType,omitempty"`
	Spacing   string      `json:"spacing,omitempty"`
	Separator bool        `json:"separator,omitempty"`
}

type teamsAction struct {
	Type  string `json:"type"`
	Title string `json:"title"`
	URL   string `json:"url"`
}

type teamsCard struct {
	Schema  string        `json:"$schema"`
	Type    string        `json:"type"`
	Version string        `json:"version"`
	Body    []teamsPart   `json:"body"`
	Actions []teamsAction `json:"actions,omitempty"`
}

type teamsAttachment struct {
	ContentType string    `json:"contentType"`
	ContentURL  *string   `json:"contentUrl"` // null
	Content     teamsCard `json:"content"`
}

func (teams) Request(c *notify.Channel, t *notify.Target, m *notify.Message, _ time.Time) (Request, error) {
	w := wordsOf(c.Language)
	rich := func(parts ...teamsPart) teamsPart {
		for i := range parts {
			parts[i].Type = "TextRun"
		}
		return teamsPart{Type: "RichTextBlock", Inlines: parts}
	}
	color := [...]string{info: "Accent", good: "Good", warn: "Warning", bad: "Attention"}[toneOf(&m.Data)]
	card := teamsCard{
		Schema:  "http://adaptivecards.io/schemas/adaptive-card.json",
		Type:    "AdaptiveCard",
		Version: "1.4",
		Body:    []teamsPart{rich(teamsPart{Text: w.title(m), Weight: "Bolder", Size: "Medium", Color: color})},
	}
	for _, f := range w.facts(m) {
		line := rich(teamsPart{Text: f.name + ": ", Weight: "Bolder"}, teamsPart{Text: f.value})
		line.Spacing = "Small"
		card.Body = append(card.Body, line)
	}
	if output := outputOf(m, teamsOutput); output != "" {
		block := rich(teamsPart{Text: output, FontType: "Monospace"})
		block.Separator = true
		card.Body = append(card.Body, block)
	}
	if m.Data.URL != "" {
		card.Actions = []teamsAction{{"Action.OpenUrl", w.open, m.Data.URL}}
	}
	r, err := post(t.URL, struct {
		Type        string            `json:"type"`
		Attachments []teamsAttachment `json:"attachments"`
	}{"message", []teamsAttachment{{ContentType: "application/vnd.microsoft.card.adaptive", Content: card}}})
	if err == nil {
		r.Header["Content-Type"] = "application/json; charset=utf-8" // without it, it is counted as UTF-16
	}
	return r, err
}

// Judge also recognizes failures of older connectors, which answer 200 and an English sentence.
func (teams) Judge(a Answer) Verdict {
	if a.Status == 200 && strings.Contains(string(a.Body), "delivery failed") {
		return Verdict{Detail: string(a.Body)}
	}
	said := decode[struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}](a)
	return byStatus(a, strings.Trim(said.Error.Code+": "+said.Error.Message, ": "))
}
