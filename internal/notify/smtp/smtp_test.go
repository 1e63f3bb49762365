package smtp_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"net"
	"net/http/httptest"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	gosmtp "github.com/emersion/go-smtp"

	"carillon/internal/notify"
	"carillon/internal/notify/smtp"
)

// post is an SMTP server that keeps the mails it receives.
type post struct {
	port   int
	roots  *x509.CertPool
	refuse map[string]int // by address: the SMTP code to refuse it with
	login  string         // required user name and password; empty for none

	mu   sync.Mutex
	got  []letter
	auth int
}

type letter struct {
	to   []string
	data []byte
}

func (p *post) letters() []letter {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.got)
}

type session struct {
	post   *post
	letter letter
	in     bool
}

func (p *post) NewSession(*gosmtp.Conn) (gosmtp.Session, error) {
	return &session{post: p, in: p.login == ""}, nil
}
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if user+":"+password != s.post.login {
			return errors.New("wrong")
		}
		s.in = true
		return nil
	}), nil
}
func (s *session) Mail(string, *gosmtp.MailOptions) error {
	if !s.in {
		return gosmtp.ErrAuthRequired
	}
	return nil
}
func (s *session) Rcpt(to string, _ *gosmtp.RcptOptions) error {
	if code := s.post.refuse[to]; code != 0 {
		return &gosmtp.SMTPError{Code: code, Message: "no"}
	}
	s.letter.to = append(s.letter.to, to)
	return nil
}
func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.letter.data = data
	s.post.mu.Lock()
	defer s.post.mu.Unlock()
	s.post.got = append(s.post.got, s.letter)
	return nil
}
func (s *session) Reset()        { s.letter = letter{} }
func (s *session) Logout() error { return nil }

type silent struct{}

func (silent) Printf(string, ...any) {}
func (silent) Println(...any)        {}

func newPost(t *testing.T, secure, whole bool) *post {
	t.Helper()
	p := &post{refuse: map[string]int{}}
	certified := httptest.NewTLSServer(nil) // for its certificate, which is good for 127.0.0.1
	certified.Close()
	p.roots = x509.NewCertPool()
	p.roots.AddCert(certified.Certificate())
	server := gosmtp.NewServer(p)
	server.Domain = "localhost"
	server.AllowInsecureAuth = true
	server.ErrorLog = silent{}
	if secure {
		server.TLSConfig = &tls.Config{Certificates: certified.TLS.Certificates}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.port = l.Addr().(*net.TCPAddr).Port
	if whole {
		l = tls.NewListener(l, server.TLSConfig)
		server.TLSConfig = nil
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close(); <-done })
	return p
}

func newMailer(t *testing.T, p *post, cfg smtp.Config) *smtp.Mailer {
	t.Helper()
	cfg.Host, cfg.Port, cfg.Roots = "127.0.0.1", p.port, p.roots
	if cfg.From == "" {
		cfg.From = "carillon@example.com"
	}
	m, err := smtp.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

var ops = notify.Channel{Name: "ops", Kind: notify.KindMail, To: []string{"ops@example.com"}}

func message() notify.Message {
	return notify.Message{ID: "msg_00-aa", At: time.Date(2026, 11, 21, 2, 30, 0, 0, time.UTC), Type: "run.failed",
		Subject: "[Carillon] nightly failed (exit 3) on bell-1", Text: "nightly failed\n\nTitle: 每晚报表\n.\n\nThe end",
		Data: notify.Data{Event: "failed", Job: "nightly"}}
}

func TestMailer_TLSModes(t *testing.T) {
	for _, c := range []struct {
		name          string
		secure, whole bool
		way           string
		distrust      bool
		ok            bool
	}{
		{"STARTTLS", true, false, smtp.TLSStart, false, true},
		{"STARTTLS is not offered", false, false, smtp.TLSStart, false, false},
		{"STARTTLS with an unknown certificate", true, false, smtp.TLSStart, true, false},
		{"TLS from the first byte", true, true, smtp.TLSWhole, false, true},
		{"TLS with an unknown certificate", true, true, smtp.TLSWhole, true, false},
		{"none, on loopback", false, false, smtp.TLSNone, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPost(t, c.secure, c.whole)
			if c.distrust {
				p.roots = x509.NewCertPool()
			}
			r := newMailer(t, p, smtp.Config{TLS: c.way}).Send(t.Context(), ops, notify.Target{}, message())
			if (r.Err == nil) != c.ok || (len(p.letters()) == 1) != c.ok || r.Final {
				t.Errorf("%+v, %d letters", r, len(p.letters()))
			}
		})
	}
}

// Without TLS, no mail goes to a public address.
func TestSend_PlainToPublicAddress_Refused(t *testing.T) {
	m, err := smtp.New(smtp.Config{Host: "192.88.98.1", Port: 25, From: "a@example.com", TLS: smtp.TLSNone})
	if err != nil {
		t.Fatal(err)
	}
	if r := m.Send(t.Context(), ops, notify.Target{}, message()); r.Err == nil ||
		!strings.Contains(r.Err.Error(), "public address") {
		t.Errorf("%+v", r)
	}
}

func TestLogin(t *testing.T) {
	p := newPost(t, true, false)
	p.login = "carillon:right"
	if r := newMailer(t, p, smtp.Config{
		TLS:      smtp.TLSStart,
		Username: "carillon",
		Password: "wrong",
	}).Send(t.Context(), ops, notify.Target{}, message()); r.Err == nil || r.Final || strings.Contains(r.Err.Error(),
		"wrong") && strings.Contains(r.Err.Error(), "right") {
		t.Errorf("a wrong password: %+v", r)
	}
	if r := newMailer(t, p, smtp.Config{
		TLS:      smtp.TLSStart,
		Username: "carillon",
		Password: "right",
	}).Send(t.Context(), ops, notify.Target{}, message()); r.Err != nil {
		t.Errorf("the right password: %+v", r)
	}
}

func TestMail(t *testing.T) {
	p := newPost(t, true, false)
	m := newMailer(t, p, smtp.Config{TLS: smtp.TLSStart, From: "Carillon <carillon@example.com>"})
	evil := message()
	evil.Subject = "[Carillon] 每晚报表 failed\r\nBcc: victim@example.com\r\n\r\nhello"
	evil.Data.Job = "nightly\r\nX-Evil: 1"
	if r := m.Send(t.Context(), ops, notify.Target{}, evil); r.Err != nil || !slices.Equal(r.Reached, ops.To) {
		t.Fatalf("%+v", r)
	}
	letters := p.letters()
	if len(letters) != 1 || !slices.Equal(letters[0].to, ops.To) {
		t.Fatalf("letters: %+v", letters)
	}
	got, err := mail.ReadMessage(bytes.NewReader(letters[0].data))
	if err != nil {
		t.Fatal(err)
	}
	subject, err := new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, got, want string }{
		{"subject", subject, "[Carillon] 每晚报表 failed  Bcc: victim@example.com    hello"},
		{"message id", got.Header.Get("Message-Id"), "<msg_00-aa@example.com>"},
		{"auto", got.Header.Get("Auto-Submitted"), "auto-generated"},
		{"list", got.Header.Get("List-Id"), "<ops.carillon.example.com>"},
		{"from", got.Header.Get("From"), `"Carillon" <carillon@example.com>`},
		{"to", got.Header.Get("To"), "<ops@example.com>"},
		{"bcc", got.Header.Get("Bcc"), ""},
		{"evil", got.Header.Get("X-Evil"), ""},
	} {
		if c.got != c.want {
			t.Errorf("%s: %q, want %q", c.name, c.got, c.want)
		}
	}
}

// A refused address does not keep the mail from the others, and no address gets it twice.
func TestSend_SomeAddressesRefused(t *testing.T) {
	p := newPost(t, true, false)
	m := newMailer(t, p, smtp.Config{TLS: smtp.TLSStart})
	p.refuse["gone@example.com"], p.refuse["later@example.com"] = 550, 451
	channel := notify.Channel{
		Name: "ops",
		To:   []string{"a@example.com", "gone@example.com", "later@example.com", "b@example.com"},
	}
	what := message()
	r := m.Send(t.Context(), channel, notify.Target{}, what)
	if r.Err == nil || r.Final || !slices.Equal(r.Reached, []string{"a@example.com", "b@example.com"}) {
		t.Fatalf("first: %+v", r)
	}
	what.Reached = r.Reached
	delete(p.refuse, "later@example.com")
	if r = m.Send(t.Context(), channel, notify.Target{}, what); r.Err == nil || !r.Final || r.Answer != 550 ||
		!slices.Equal(r.Reached, []string{"later@example.com"}) {
		t.Fatalf("second: %+v", r)
	}
	if n := len(p.letters()); n != 3 {
		t.Errorf("%d letters, want 3", n)
	}
}

// A failure, its reminder and the recovery refer to the same id; another trouble, and another job, to others.
func TestMailsOfOneTroubleFormAThread(t *testing.T) {
	p := newPost(t, true, false)
	m := newMailer(t, p, smtp.Config{TLS: smtp.TLSStart})
	first := time.Date(2026, 11, 21, 2, 30, 0, 0, time.UTC)
	send := func(id, job string, at *time.Time) (reply, references, agent string) {
		what := message()
		what.ID, what.Data.Job, what.Data.FirstAt = id, job, at
		if r := m.Send(t.Context(), ops, notify.Target{}, what); r.Err != nil {
			t.Fatal(r.Err)
		}
		all := p.letters()
		got, err := mail.ReadMessage(bytes.NewReader(all[len(all)-1].data))
		if err != nil {
			t.Fatal(err)
		}
		return got.Header.Get("In-Reply-To"), got.Header.Get("References"), got.Header.Get("X-Mailer")
	}
	thread, references, agent := send("msg_1", "nightly", &first)
	if !strings.HasPrefix(thread, "<") || !strings.HasSuffix(thread, "@example.com>") || references != thread {
		t.Errorf("In-Reply-To %q, References %q", thread, references)
	}
	if agent != "Carillon" {
		t.Errorf("X-Mailer %q", agent)
	}
	if again, _, _ := send("msg_2", "nightly", &first); again != thread {
		t.Errorf("the recovery refers to %q, the failure to %q", again, thread)
	}
	if other, _, _ := send("msg_3", "nightly", new(first.Add(time.Hour))); other == thread || other == "" {
		t.Errorf("another trouble refers to %q", other)
	}
	if none, _, _ := send("msg_4", "", nil); none != "" {
		t.Errorf("a summary refers to %q", none)
	}
}
