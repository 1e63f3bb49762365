package smtp_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/mail"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/notify"
	"carillon/internal/notify/smtp"
)

// partsOf sends a message, and returns the subject and the decoded parts of the mail as the server received it.
func partsOf(t *testing.T, c notify.Channel, what notify.Message) (subject, text, html string) {
	t.Helper()
	p := newPost(t, true, false)
	if r := newMailer(t, p, smtp.Config{TLS: smtp.TLSStart}).Send(t.Context(), c, notify.Target{}, what); r.Err != nil {
		t.Fatal(r.Err)
	}
	got, err := mail.ReadMessage(bytes.NewReader(p.letters()[0].data))
	if err != nil {
		t.Fatal(err)
	}
	if subject, err = new(mime.WordDecoder).DecodeHeader(got.Header.Get("Subject")); err != nil {
		t.Fatal(err)
	}
	kind, params, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		t.Fatalf("the mail is %s, %v", kind, err)
	}
	var kinds []string
	parts := multipart.NewReader(got.Body, params["boundary"])
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(quotedprintable.NewReader(part))
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, part.Header.Get("Content-Type"))
		if text == "" {
			text = string(body)
		} else {
			html = string(body)
		}
	}
	if want := []string{"text/plain; charset=UTF-8", "text/html; charset=UTF-8"}; !slices.Equal(kinds, want) {
		t.Fatalf("the parts are %v, want %v: readers show the last one that they can", kinds, want)
	}
	return subject, strings.ReplaceAll(text, "\r\n", "\n"), strings.ReplaceAll(html, "\r\n", "\n")
}

func TestMail_HTML_InTheLanguageOfTheChannel(t *testing.T) {
	what := message()
	what.Text = "nightly failed\n\nStatus: failed\n\nOutput:\n\nline one\n  line two\n"
	what.Data = notify.Data{Event: "failed", Job: "nightly", Status: "failed", ExitCode: new(3), Worker: "bell-1",
		EndedAt: new(time.Date(2026, 11, 21, 2, 31, 0, 0, time.UTC)), Output: "line one\n  line two\n", Printed: 20,
		URL: "https://carillon.example.com/runs/a.1"}
	for language, want := range map[notify.Language][]string{
		"": {"[Carillon] nightly failed (exit 3) on bell-1", "Status", "failed", "Output", "Open in the console"},
		notify.Chinese: {"[Carillon] nightly 失败（退出码 3），工作节点 bell-1", "状态", "失败", "输出",
			"在控制台中打开"},
	} {
		c := ops
		c.Language = language
		subject, text, html := partsOf(t, c, what)
		if subject != want[0] {
			t.Errorf("%s: subject %q, want %q", language, subject, want[0])
		}
		for _, s := range append([]string{"line one\n  line two", "2026-11-21 02:31:00 UTC", `href="` + what.Data.URL + `"`,
			"nightly"}, want[1:]...) {
			if !strings.Contains(html, s) {
				t.Errorf("%s: the page lacks %q:\n%s", language, s, html)
			}
		}
		for _, s := range []string{"line one\n  line two", want[1], want[2]} {
			if !strings.Contains(text, s) {
				t.Errorf("%s: the text lacks %q:\n%s", language, s, text)
			}
		}
		if !strings.Contains(html, `content="light dark"`) || regexp.MustCompile(`background:#fff|[^-]color:#000`).
			MatchString(html) {
			t.Errorf("%s: colours that only suit one theme:\n%s", language, html)
		}
	}
}

// Whatever a job prints or is called, it is text: it starts no element, attribute, link or header.
func TestMail_HTML_HostileTextEscaped(t *testing.T) {
	const evil = `</pre><script>alert(1)</script><img src=x onerror="alert(1)"> & "quoted" ` + "\x1b[31m\u202e{{.URL}}"
	what := message()
	what.Data = notify.Data{Event: "failed", Job: "nightly", Title: evil, Status: "failed", Worker: evil,
		Reason: &common.Reason{Code: "error", Text: evil}, Output: evil + "\n" + evil, Step: evil, Text: evil,
		Jobs: []string{evil}, Printed: 4000, URL: "javascript:alert(1)"}
	_, _, html := partsOf(t, ops, what)
	names := map[string]int{}
	d := xml.NewDecoder(strings.NewReader(html))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, is := token.(xml.StartElement); is {
			names[e.Name.Local]++
			for _, a := range e.Attr {
				if strings.HasPrefix(strings.ToLower(a.Name.Local), "on") || strings.Contains(a.Value, "javascript:") {
					t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
	if names["script"] != 0 || names["img"] != 0 || names["pre"] != 1 || names["a"] > 1 {
		t.Errorf("elements: %v\n%s", names, html)
	}
	if strings.ContainsAny(html, "\x1b\u202e") || !strings.Contains(html, "{{.URL}}") ||
		!strings.Contains(html, "&lt;/pre&gt;&lt;script&gt;") {
		t.Errorf("not as text:\n%s", html)
	}
}
