package master

import (
	"fmt"

	"carillon/internal/notify"
	"carillon/internal/notify/smtp"
	"carillon/internal/platform/config"
	"carillon/internal/worker"
)

// newSenders creates the senders of notifications by kind: all are HTTP calls, except for mail.
func newSenders(c *config.Notify, calls notify.Sender) (map[notify.Kind]notify.Sender, error) {
	senders := map[notify.Kind]notify.Sender{}
	for _, kind := range notify.Kinds {
		if kind != notify.KindMail {
			senders[kind] = calls
		}
	}
	if server := c.SMTP; server.Configured() {
		post, err := smtp.New(smtp.Config{
			Host:     server.Host,
			Port:     server.Port,
			Username: server.Username,
			Password: server.Password.Reveal(),
			From:     server.From,
			TLS:      server.TLS,
			Hello:    worker.Hostname(),
		})
		if err != nil {
			return nil, fmt.Errorf("smtpHost: %w", err)
		}
		senders[notify.KindMail] = post
	}
	return senders, nil
}

// kindNames returns the names of all kinds of channels.
func kindNames() []string {
	names := make([]string, 0, len(notify.Kinds))
	for _, kind := range notify.Kinds {
		names = append(names, string(kind))
	}
	return names
}
