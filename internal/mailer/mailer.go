// Package mailer tells by mail, over an SMTP server that the configuration names.
//
// It promises that a mail goes over TLS with a verified certificate, unless the configuration
// says otherwise, and then to an address that is not public only; that nothing of a job becomes
// a header but in one encoded line; that each address gets a mail of its own, so that one that is
// refused keeps it from nobody else, and none is sent to who has it. It starts no goroutine.
package mailer

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	mail "github.com/wneessen/go-mail"

	"carillon/internal/alerts"
)

// timeout is how long the server may take for each step.
const timeout = 10 * time.Second

// How a mail is protected on its way.
const (
	TLSStart = "starttls" // TLS once connected, or not at all
	TLSWhole = "tls"      // from the first byte
	TLSNone  = "none"     // not at all; to addresses that are not public
)

// Config says which server sends, and how it is reached.
type Config struct {
	Host     string
	Port     int // 0: 587, 465 for TLSWhole, 25 for TLSNone
	Username string
	Password string
	From     string
	TLS      string
	Hello    string         // the name that we give
	Roots    *x509.CertPool // nil: the system's
}

// Mailer sends mail. It is safe for concurrent use.
type Mailer struct {
	cfg     Config
	options []mail.Option
}

var _ alerts.Sender = (*Mailer)(nil)

// New makes a mailer.
func New(cfg Config) (*Mailer, error) {
	if cfg.Port == 0 {
		cfg.Port = map[string]int{TLSStart: 587, TLSWhole: 465, TLSNone: 25}[cfg.TLS]
	}
	dialer := &net.Dialer{Timeout: timeout}
	if cfg.TLS == TLSNone {
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err == nil && alerts.Public(at.Addr()) {
				err = fmt.Errorf("%s is a public address, and smtpTLS none is for others only", at.Addr())
			}
			return err
		}
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: cfg.Host, RootCAs: cfg.Roots}
	options := []mail.Option{mail.WithPort(cfg.Port), mail.WithTimeout(timeout), mail.WithTLSConfig(secure), mail.WithDialContextFunc(dialer.DialContext), mail.WithoutNoop()}
	switch cfg.TLS {
	case TLSStart:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case TLSWhole:
		whole := &tls.Dialer{NetDialer: dialer, Config: secure}
		options = append(options, mail.WithSSL(), mail.WithDialContextFunc(whole.DialContext))
	case TLSNone:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		return nil, fmt.Errorf("there is no way %q of TLS", cfg.TLS)
	}
	if cfg.Hello != "" {
		options = append(options, mail.WithHELO(cfg.Hello))
	}
	if cfg.Username != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(cfg.Username), mail.WithPassword(cfg.Password))
	}
	m := &Mailer{cfg: cfg, options: options}
	_, err := mail.NewClient(cfg.Host, options...)
	return m, err
}

// Send sends the mail to each address of the channel that does not have it yet.
func (m *Mailer) Send(ctx context.Context, c alerts.Channel, _ alerts.Target, what alerts.Message) (result alerts.Result) {
	var messages []*mail.Msg
	var to []string
	for _, address := range c.To {
		if slices.Contains(what.Reached, address) {
			continue
		}
		message, err := m.message(c, address, &what)
		if err != nil {
			return alerts.Result{Err: err, Final: true}
		}
		messages, to = append(messages, message), append(to, address)
	}
	if len(messages) == 0 {
		return result
	}
	client, err := mail.NewClient(m.cfg.Host, m.options...)
	if err != nil {
		return alerts.Result{Err: err, Final: true}
	}
	err = client.DialAndSendWithContext(ctx, messages...)
	final := 0
	var why []string
	for i, message := range messages {
		failed, isSendError := errors.AsType[*mail.SendError](message.SendError())
		switch {
		case message.IsDelivered():
			result.Reached = append(result.Reached, to[i])
		case isSendError:
			why = append(why, to[i]+": "+failed.Error())
			result.Answer = failed.ErrorCode()
			if !failed.IsTemp() && failed.ErrorCode() >= 500 {
				final++
			}
		}
	}
	left := len(messages) - len(result.Reached)
	if left == 0 {
		return result // an error after that is of the farewell
	}
	if result.Err = err; len(why) > 0 {
		result.Err = errors.New(strings.Join(why, "; "))
	}
	if result.Err == nil {
		result.Err = errors.New("the server did not say that it took the mail")
	}
	result.Final = final == left
	return result
}

// message makes the mail for an address.
func (m *Mailer) message(c alerts.Channel, to string, what *alerts.Message) (*mail.Msg, error) {
	msg := mail.NewMsg(mail.WithCharset(mail.CharsetUTF8), mail.WithEncoding(mail.EncodingQP))
	if err := msg.From(m.cfg.From); err != nil {
		return nil, fmt.Errorf("the setting smtpFrom: %w", err)
	}
	if err := msg.To(to); err != nil {
		return nil, fmt.Errorf("an address of the channel: %w", err)
	}
	msg.Subject(alerts.Line(what.Subject))
	msg.SetUserAgent("Carillon")
	msg.SetDateWithValue(what.At)
	msg.SetMessageIDWithValue(what.ID + "@" + domainOf(m.cfg.From))
	if thread := threadOf(&what.Data, domainOf(m.cfg.From)); thread != "" {
		msg.SetGenHeader(mail.HeaderInReplyTo, thread)
		msg.SetGenHeader(mail.HeaderReferences, thread)
	}
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: so that no robot answers
	msg.SetGenHeader("X-Auto-Response-Suppress", "All")
	msg.SetGenHeader("List-Id", "<"+c.Name+".carillon."+domainOf(m.cfg.From)+">") // RFC 2919: to sort by
	msg.SetGenHeader("X-Carillon-Event", alerts.Line(what.Type))
	if what.Data.Job != "" {
		msg.SetGenHeader("X-Carillon-Job", alerts.Line(what.Data.Job))
	}
	msg.SetBodyString(mail.TypeTextPlain, what.Text)
	return msg, nil
}

// domainOf is the part of an address after its last @.
// threadOf returns the id that all mails of one trouble of a job refer to, from the first failure to the recovery, so
// that mail programs show them as one thread; "" for other mails. No mail has that id: mails need not be sent, or
// arrive, in order.
func threadOf(d *alerts.Data, domain string) string {
	if d.Job == "" || d.FirstAt == nil {
		return ""
	}
	return fmt.Sprintf("<trouble.%s.%d@%s>", d.Job, d.FirstAt.UnixNano(), domain)
}

func domainOf(address string) string {
	domain := strings.TrimRight(address[strings.LastIndexByte(address, '@')+1:], "> ")
	if domain == "" {
		return "localhost"
	}
	return domain
}
