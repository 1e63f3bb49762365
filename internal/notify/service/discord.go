package service

import (
	"math"
	"time"

	"carillon/internal/notify"
)

// Limits of Discord's embeds (https://discord.com/developers/docs/resources/message#embed-object-embed-limits).
const (
	discordTitle       = 256  // characters
	discordDescription = 4096 // characters
	discordValue       = 1024 // characters of the value of a field, of which there are at most 25
	discordOutput      = 2500 // characters: all of an embed has at most 6,000
)

// discord is a webhook of a channel of Discord.
type discord struct{}

type discordField struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline"`
}

type discordEmbed struct {
	Title       string         `json:"title"`
	URL         string         `json:"url,omitempty"`
	Description string         `json:"description,omitempty"`
	Color       int            `json:"color"`
	Timestamp   string         `json:"timestamp"`
	Fields      []discordField `json:"fields,omitempty"`
}

type discordMentions struct {
	Parse []string `json:"parse"`
}

func (discord) Request(c *notify.Channel, t *notify.Target, m *notify.Message, _ time.Time) (Request, error) {
	w := wordsOf(c.Language)
	embed := discordEmbed{
		Title:     clip(markdown(w.title(m)), discordTitle),
		URL:       m.Data.URL,
		Color:     colorOf(&m.Data),
		Timestamp: m.At.UTC().Format(time.RFC3339),
	}
	for _, f := range w.facts(m) {
		value := clip(markdown(f.value), discordValue)
		embed.Fields = append(embed.Fields, discordField{Name: f.name, Value: value, Inline: len(f.value) < 40})
	}
	if output := outputOf(m, discordOutput); output != "" {
		embed.Description = clip(fenced(output), discordDescription)
	}
	return post(t.URL, struct {
		Embeds   []discordEmbed  `json:"embeds"`
		Mentions discordMentions `json:"allowed_mentions"` // none
	}{[]discordEmbed{embed}, discordMentions{[]string{}}})
}

// Judge reads the explanation of an error, and after how many seconds to call again, which is more precise than the
// header.
func (discord) Judge(a Answer) Verdict {
	said := decode[struct {
		Message    string  `json:"message"`
		RetryAfter float64 `json:"retry_after"`
	}](a)
	v := byStatus(a, said.Message)
	v.RetryIn = seconds(said.RetryAfter)
	return v
}

// seconds returns a duration that a service requests, rounded up; at most a day.
func seconds(n float64) time.Duration {
	return time.Duration(math.Ceil(max(0, min(n, 24*60*60)))) * time.Second
}

// colorOf returns the color of a message as RGB.
func colorOf(d *notify.Data) int {
	return [...]int{info: 0x3b82f6, good: 0x16a34a, warn: 0xd97706, bad: 0xdc2626}[toneOf(d)]
}
