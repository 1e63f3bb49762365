// Package smtp sends notifications by mail over the configured SMTP server.
//
// Promises: mail is sent over TLS with a verified certificate; with smtpTLS none, only to a server
// at a non-public address; text from a job reaches a header only as one encoded line; each address
// gets its own mail, so that a refused address does not affect the others, and none gets it twice.
// The package starts no goroutine.
package smtp

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

	"carillon/internal/notify"
	"carillon/internal/notify/service"
	"carillon/internal/platform/netguard"
)

// timeout is the limit for each step of the SMTP server.
const timeout = 10 * time.Second

// Values of smtpTLS: how the connection is protected.
const (
	TLSStart = "starttls" // STARTTLS, mandatory
	TLSWhole = "tls"      // TLS from the first byte
	TLSNone  = "none"     // no TLS; only to non-public addresses
)

// Config describes the SMTP server and how to reach it.
type Config struct {
	Host     string
	Port     int // 0: 587, 465 for TLSWhole, 25 for TLSNone
	Username string
	Password string
	From     string
	TLS      string
	Hello    string         // the name in our EHLO
	Roots    *x509.CertPool // nil: the system's
}

// Mailer sends mail. It is safe for concurrent use.
type Mailer struct {
	cfg     Config
	options []mail.Option
}

var _ notify.Sender = (*Mailer)(nil)

// New returns a mailer.
func New(cfg Config) (*Mailer, error) {
	if cfg.Port == 0 {
		cfg.Port = map[string]int{TLSStart: 587, TLSWhole: 465, TLSNone: 25}[cfg.TLS]
	}
	dialer := &net.Dialer{Timeout: timeout}
	if cfg.TLS == TLSNone {
		dialer.ControlContext = func(_ context.Context, _, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err == nil && netguard.Public(at.Addr()) {
				err = fmt.Errorf("%s is a public address, which smtpTLS none does not allow", at.Addr())
			}
			return err
		}
	}
	secure := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: cfg.Host, RootCAs: cfg.Roots}
	options := []mail.Option{mail.WithPort(cfg.Port), mail.WithTimeout(timeout), mail.WithTLSConfig(secure),
		mail.WithDialContextFunc(dialer.DialContext), mail.WithoutNoop()}
	switch cfg.TLS {
	case TLSStart:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	case TLSWhole:
		whole := &tls.Dialer{NetDialer: dialer, Config: secure}
		options = append(options, mail.WithSSL(), mail.WithDialContextFunc(whole.DialContext))
	case TLSNone:
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		return nil, fmt.Errorf("unknown smtpTLS %q", cfg.TLS)
	}
	if cfg.Hello != "" {
		options = append(options, mail.WithHELO(cfg.Hello))
	}
	if cfg.Username != "" {
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(cfg.Username),
			mail.WithPassword(cfg.Password))
	}
	m := &Mailer{cfg: cfg, options: options}
	_, err := mail.NewClient(cfg.Host, options...)
	return m, err
}

// Send sends the mail to each address of the channel that has not received it yet.
func (m *Mailer) Send(ctx context.Context, c notify.Channel, _ notify.Target,
	what notify.Message) (result notify.Result) {
	var messages []*mail.Msg
	var to []string
	for _, address := range c.To {
		if slices.Contains(what.Reached, address) {
			continue
		}
		message, err := m.message(c, address, &what)
		if err != nil {
			return notify.Result{Err: err, Final: true}
		}
		messages, to = append(messages, message), append(to, address)
	}
	if len(messages) == 0 {
		return result
	}
	client, err := mail.NewClient(m.cfg.Host, m.options...)
	if err != nil {
		return notify.Result{Err: err, Final: true}
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
		return result // a later error concerns only the end of the session
	}
	if result.Err = err; len(why) > 0 {
		result.Err = errors.New(strings.Join(why, "; "))
	}
	if result.Err == nil {
		result.Err = errors.New("the server did not confirm the mail")
	}
	result.Final = final == left
	return result
}

// message returns the mail for one address.
func (m *Mailer) message(c notify.Channel, to string, what *notify.Message) (*mail.Msg, error) {
	text, err := service.MailOf(&c, what)
	if err != nil {
		return nil, err
	}
	msg := mail.NewMsg(mail.WithCharset(mail.CharsetUTF8), mail.WithEncoding(mail.EncodingQP))
	if err := msg.From(m.cfg.From); err != nil {
		return nil, fmt.Errorf("setting smtpFrom: %w", err)
	}
	if err := msg.To(to); err != nil {
		return nil, fmt.Errorf("address of the channel: %w", err)
	}
	msg.Subject(notify.Line(text.Subject))
	msg.SetUserAgent("Carillon")
	msg.SetDateWithValue(what.At)
	msg.SetMessageIDWithValue(what.ID + "@" + domainOf(m.cfg.From))
	if thread := threadOf(&what.Data, domainOf(m.cfg.From)); thread != "" {
		msg.SetGenHeader(mail.HeaderInReplyTo, thread)
		msg.SetGenHeader(mail.HeaderReferences, thread)
	}
	msg.SetGenHeader("Auto-Submitted", "auto-generated") // RFC 3834: no automatic replies
	msg.SetGenHeader("X-Auto-Response-Suppress", "All")
	msg.SetGenHeader("List-Id", "<"+c.Name+".carillon."+domainOf(m.cfg.From)+">") // RFC 2919: for filters
	msg.SetGenHeader("X-Carillon-Event", notify.Line(what.Type))
	if what.Data.Job != "" {
		msg.SetGenHeader("X-Carillon-Job", notify.Line(what.Data.Job))
	}
	msg.SetBodyString(mail.TypeTextPlain, text.Text)
	msg.AddAlternativeString(mail.TypeTextHTML, text.HTML)
	return msg, nil
}

// threadOf returns the id that all mails of one trouble of a job refer to, from the first failure
// to the recovery, so that mail programs show them as one thread; "" for other mails. No mail has
// that id, since mails may be missing or arrive in any order.
func threadOf(d *notify.Data, domain string) string {
	trouble := d.Trouble()
	if trouble == "" {
		return ""
	}
	return "<" + trouble + "@" + domain + ">"
}

// domainOf returns the part of an address after its last @.
func domainOf(address string) string {
	domain := strings.TrimRight(address[strings.LastIndexByte(address, '@')+1:], "> ")
	if domain == "" {
		return "localhost"
	}
	return domain
}
