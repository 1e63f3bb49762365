package service

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"

	"carillon/internal/notify"
)

// mailText is the size of a Chinese text without its output, in bytes; an English one is Message.Text.
const mailText = 8 << 10

// Mail is a message as mail: its subject, and its content as plain text and as HTML. What a job prints is text in both.
type Mail struct{ Subject, Text, HTML string }

//go:embed mail.html
var mailPage string

// MailOf returns a message as mail, in the channel's language.
func MailOf(c *notify.Channel, m *notify.Message) (Mail, error) {
	w := wordsOf(c.Language)
	page, err := template.New("mail").Parse(mailPage)
	if err != nil {
		return Mail{}, fmt.Errorf("parse the page of a mail: %w", err)
	}
	output := strings.Trim(notify.Visible(m.Data.Output), "\n")
	data := struct {
		Language, Title, Color, Open, URL, OutputTitle, Output string
		Facts                                                  []mailFact
	}{
		Language: string(w.language),
		Title:    strings.TrimPrefix(w.title(m), "[Carillon] "),
		Color: [...]string{info: "#5b7a99", good: "#2e8b57", warn: "#c98a1b",
			bad: "#c8453b"}[toneOf(&m.Data)],
		Open:        w.open,
		URL:         m.Data.URL,
		OutputTitle: w.output,
		Output:      output,
	}
	if m.Data.Whole() {
		data.OutputTitle = w.wholeOutput
	}
	for _, f := range w.facts(m) {
		data.Facts = append(data.Facts, mailFact{f.name, f.value})
	}
	var html strings.Builder
	if err := page.Execute(&html, data); err != nil {
		return Mail{}, fmt.Errorf("write the page of a mail: %w", err)
	}
	text := m.Text
	if w.language != notify.English {
		text = plainText(w, m, len(output)+mailText)
	}
	return Mail{Subject: w.title(m), Text: text, HTML: html.String()}, nil
}

type mailFact struct{ Name, Value string }
