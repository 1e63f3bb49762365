package crontab

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"carillon/internal/common"
)

// maxChannel is the length of a channel's name before its mark.
const maxChannel = 64

// MailChannel is a channel that jobs may notify.
type MailChannel struct {
	Name string
	Mail bool     // it sends mail
	To   []string // its addresses; empty if the caller may not see them
}

// Mailer lets jobs notify mail channels of what they print, in place of MAILTO.
type Mailer struct {
	// Known are the channels that exist.
	Known []MailChannel
	// New are the channels that the jobs need and that do not exist, in the order of their first use.
	New []MailChannel
}

// Apply lets the job of an entry notify the channel with the addresses of its MAILTO, if there are any, and returns the
// channel. One that exists with the same addresses is used; another one is named after them.
func (m *Mailer) Apply(e *Entry) (c MailChannel, found bool) {
	if e.MailTo == nil {
		return MailChannel{}, false
	}
	to, _ := addresses(*e.MailTo)
	if len(to) == 0 {
		return MailChannel{}, false
	}
	c = m.channel(to)
	e.Job.Notify = &common.Notify{On: []common.Event{common.EventOutput}, To: []string{c.Name}}
	return c, true
}

func (m *Mailer) channel(to []string) MailChannel {
	for _, c := range slices.Concat(m.Known, m.New) {
		if c.Mail && sameAddresses(c.To, to) {
			return c
		}
	}
	name := channelName(to)
	for _, c := range slices.Concat(m.Known, m.New) {
		if c.Name != name {
			continue
		}
		if c.Mail && len(c.To) == 0 { // probably created by an import before
			return c
		}
		name += "-" + markOf(to)
		break
	}
	c := MailChannel{Name: name, Mail: true, To: to}
	if !slices.ContainsFunc(m.Known, func(k MailChannel) bool { return k.Name == name }) {
		m.New = append(m.New, c)
	}
	return c
}

// channelName returns the name of the channel of addresses.
func channelName(to []string) string {
	whole := "mail-" + slug(strings.Join(to, " "), common.MaxName)
	if len(whole) <= maxChannel {
		return whole
	}
	return strings.TrimRight(whole[:maxChannel], "-") + "-" + markOf(to)
}

func markOf(to []string) string {
	sum := sha256.Sum256([]byte(strings.Join(to, ",")))
	return hex.EncodeToString(sum[:3])
}

// addresses returns the mail addresses of a MAILTO, sorted and each once, and what else it names, such as local users.
func addresses(mailTo string) (to, others []string) {
	for _, part := range strings.FieldsFunc(mailTo, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if common.ValidAddress(part) {
			to = append(to, part)
		} else {
			others = append(others, part)
		}
	}
	slices.Sort(to)
	return slices.Compact(to), others
}

func sameAddresses(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(b, func(one string) bool {
		return !slices.ContainsFunc(a, func(other string) bool { return strings.EqualFold(one, other) })
	})
}
