package webhook_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"carillon/internal/common"
	"carillon/internal/notify"
	"carillon/internal/notify/webhook"
)

var update = flag.Bool("update", false, "write the recorded requests")

// at is the time of all calls.
var at = time.Date(2026, 11, 21, 2, 31, 8, 0, time.UTC)

// services are the kinds that are called by HTTP, besides webhooks: the path of the URL, and the other secrets.
var services = map[notify.Kind]notify.Target{
	notify.KindSlack:      {URL: "/services/T0000/B0000/canarySlack"},
	notify.KindPagerDuty:  {URL: "/v2/enqueue", Key: "canary0123456789canary0123456789"},
	notify.KindTeams:      {URL: "/workflows/1/triggers/manual/paths/invoke?api-version=1&sig=canarySignature"},
	notify.KindDiscord:    {URL: "/api/webhooks/123456/canaryToken"},
	notify.KindMattermost: {URL: "/hooks/canaryHook"},
	notify.KindTelegram:   {Key: "110201543:canaryAAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw", Chat: "-1001234567890"},
	notify.KindDingTalk:   {URL: "/robot/send?access_token=canaryToken", Secret: "SECcanarySecret"},
	notify.KindFeishu:     {URL: "/open-apis/bot/v2/hook/canary-1234", Secret: "canarySecret"},
	notify.KindWeCom:      {URL: "/cgi-bin/webhook/send?key=canary-1234"},
	notify.KindNtfy:       {URL: "/canaryTopic", Key: "tk_canaryToken"},
	notify.KindOpsgenie:   {Key: "canary-eb243592-faa2-4ba2"},
	notify.KindPing:       {URL: "/canary-5bf66975-d4c7"},
}

// received is a request as it is recorded.
type received struct {
	Method string            `json:"method"`
	Path   string            `json:"path"`
	Header map[string]string `json:"header"`
	Body   json.RawMessage   `json:"body"` // a string, if it is not JSON
}

// service is a server that records the last request and answers as set.
type service struct {
	*httptest.Server
	got    received
	raw    []byte
	answer func(w http.ResponseWriter, r *received)
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.raw, _ = io.ReadAll(r.Body)
		s.got = received{Method: r.Method, Path: r.URL.RequestURI(), Header: map[string]string{}, Body: s.raw}
		if !json.Valid(s.raw) {
			s.got.Body, _ = json.Marshal(string(s.raw))
		}
		for name := range r.Header {
			switch name {
			case "User-Agent", "Content-Length", "Accept-Encoding":
			default:
				s.got.Header[name] = r.Header.Get(name)
			}
		}
		if s.answer != nil {
			s.answer(w, &s.got)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// target returns the target of a kind at this server.
func (s *service) target(kind notify.Kind) notify.Target {
	t := services[kind]
	t.URL = s.URL + t.URL
	return t
}

func send(t *testing.T, kind notify.Kind, language notify.Language, target notify.Target,
	m notify.Message) notify.Result {
	t.Helper()
	s := webhook.New(webhook.Config{Allow: loopback, Version: "test", Now: func() time.Time { return at }})
	defer s.Close()
	return s.Send(t.Context(), notify.Channel{Name: "ops", Kind: kind, Language: language}, target, m)
}

// messages are those of each event, with texts that try to mention people and to format something.
func messages() map[string]notify.Message {
	minute := func(n int) *time.Time { return new(at.Add(time.Duration(n) * time.Minute)) }
	run := notify.Data{
		Event:     "failed",
		Job:       "nightly-report",
		Group:     "reports",
		Title:     "每晚报表 <!channel> @all",
		Fire:      "f1",
		Run:       "r1",
		Status:    common.StatusFailed,
		Cause:     common.CauseCron,
		Attempt:   3,
		Worker:    "bell-1",
		Reason:    &common.Reason{Code: "exit_code", Data: map[string]string{"exitCode": "3"}, Text: "exit code 3"},
		PlannedAt: minute(-2),
		StartedAt: minute(-2),
		EndedAt:   minute(-1),
		ExitCode:  new(3),
		Count:     2,
		FirstAt:   minute(-60),
		URL:       "https://carillon.example.com/runs/r1",
		Output:    "reading *rows* <b>&amp;\n```\nno such table: @here [x](http://x)\n",
	}
	recovered := run
	recovered.Event, recovered.Status, recovered.Reason = "recovered", common.StatusSucceeded, nil
	recovered.ExitCode, recovered.Output, recovered.URL = nil, "", "https://carillon.example.com/runs/r2"
	late := run
	late.Event, late.Status, late.Reason, late.EndedAt, late.Output = "late", common.StatusRunning, nil, nil, ""
	all := map[string]notify.Message{
		"failed":    {Subject: "[Carillon] 每晚报表 <!channel> @all (nightly-report) failed (exit 3) on bell-1", Data: run},
		"recovered": {Subject: "[Carillon] 每晚报表 <!channel> @all (nightly-report) has recovered", Data: recovered},
		"late":      {Subject: "[Carillon] nightly-report is running longer than usual on bell-1", Data: late},
		"approval": {Subject: "[Carillon] release waits for approval of step ship", Data: notify.Data{
			Event: notify.SubjectApproval, Job: "release", Run: "r3", Step: "ship", Text: "Ship 2.4 to <all> shops?",
			Since: minute(-1), Deadline: minute(60), URL: "https://carillon.example.com/runs/r3"}},
		"summary": {Subject: "[Carillon] 3 more jobs are in trouble", Data: notify.Data{Event: notify.SubjectSummary,
			Count: 3, Jobs: []string{"a", "b", "c"}, FirstAt: minute(-5), URL: "https://carillon.example.com/jobs"}},
		"test": {Subject: "[Carillon] test message", Data: notify.Data{Event: notify.SubjectTest,
			Reason: &common.Reason{Code: "test", Text: "test requested by ann"},
			URL:    "https://carillon.example.com/notifications"}},
	}
	for name, m := range all {
		m.ID, m.At, m.Type = "msg_"+name, at, "run."+name
		m.Text = m.Subject + "\n"
		all[name] = m
	}
	return all
}

// Requests are those of the services' documentation. -update writes them.
func TestServices_Requests_AreAsRecorded(t *testing.T) {
	server := newService(t)
	for kind := range services {
		server.answer = accepting(t, kind)
		for name, m := range messages() {
			for _, language := range []notify.Language{notify.English, notify.Chinese} {
				if r := send(t, kind, language, server.target(kind), m); r.Err != nil {
					t.Errorf("%s, %s: %+v", kind, name, r)
				}
				var got bytes.Buffer
				encoder := json.NewEncoder(&got)
				encoder.SetEscapeHTML(false)
				encoder.SetIndent("", "  ")
				if err := encoder.Encode(readable(t, server.got)); err != nil {
					t.Fatal(err)
				}
				file := filepath.Join("testdata", string(kind), fmt.Sprintf("%s.%s.json", name, language))
				if *update {
					if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil || !bytes.Equal(got.Bytes(), want) {
					t.Errorf("%s: %v, sent %s", file, err, got.Bytes())
				}
			}
		}
	}
}

// The alert that a failure opens is the one that the recovery closes; that of another trouble is another one.
func TestAlertingServices_Recovery_ClosesTheAlertOfItsTrouble(t *testing.T) {
	server := newService(t)
	for kind, name := range map[notify.Kind]func() (key string, opens bool){
		notify.KindPagerDuty: func() (string, bool) {
			var e struct {
				DedupKey string `json:"dedup_key"`
				Action   string `json:"event_action"`
			}
			must(t, json.Unmarshal(server.raw, &e))
			return e.DedupKey, e.Action == "trigger"
		},
		notify.KindOpsgenie: func() (string, bool) {
			if alias, closes := strings.CutSuffix(server.got.Path, "/close?identifierType=alias"); closes {
				return strings.TrimPrefix(alias, "/v2/alerts/"), false
			}
			var a struct{ Alias string }
			must(t, json.Unmarshal(server.raw, &a))
			return a.Alias, server.got.Path == "/v2/alerts"
		},
	} {
		server.answer = accepting(t, kind)
		key := func(m notify.Message, opens bool) string {
			t.Helper()
			if r := send(t, kind, "", server.target(kind), m); r.Err != nil {
				t.Fatal(r.Err)
			}
			k, opened := name()
			if k == "" || opened != opens {
				t.Errorf("%s: %s of %q opens: %t", kind, m.Data.Event, k, opened)
			}
			return k
		}
		all := messages()
		opened := key(all["failed"], true)
		if late := key(all["late"], true); late != opened {
			t.Errorf("%s: %q for the same trouble, want %q", kind, late, opened)
		}
		if closed := key(all["recovered"], false); closed != opened {
			t.Errorf("%s: closed %q, opened %q", kind, closed, opened)
		}
		next := all["failed"]
		next.Data.FirstAt = new(at.Add(time.Hour))
		other, approval := key(next, true), key(all["approval"], true)
		if other == opened || approval == opened || approval == other {
			t.Errorf("%s: one key for several: %q, %q, %q", kind, opened, other, approval)
		}
	}
}

// Signatures are those of the documentation, computed by another program.
func TestSigningServices_Signature_IsAsDocumented(t *testing.T) {
	server := newService(t)
	server.answer = accepting(t, notify.KindDingTalk)
	send(t, notify.KindDingTalk, "", server.target(notify.KindDingTalk), messages()["failed"])
	called, err := url.Parse(server.got.Path)
	must(t, err)
	if q := called.Query(); q.Get("timestamp") != "1795228268000" || q.Get("access_token") != "canaryToken" ||
		q.Get("sign") != "IbkazcYHE2/sniDP9Stwn3i3Fgv3uj+pYPQue86oBMw=" {
		t.Errorf("dingtalk: %v", q)
	}
	server.answer = accepting(t, notify.KindFeishu)
	send(t, notify.KindFeishu, "", server.target(notify.KindFeishu), messages()["failed"])
	var signed struct{ Timestamp, Sign string }
	must(t, json.Unmarshal(server.raw, &signed))
	if signed.Timestamp != "1795228268" || signed.Sign != "vRE3+mw5rdalzayGIIMlBojhpoKQGTzGZtRB3oAZwM0=" {
		t.Errorf("feishu: %+v", signed)
	}
	for _, kind := range []notify.Kind{notify.KindDingTalk, notify.KindFeishu} { // without a secret
		target := server.target(kind)
		target.Secret = ""
		server.answer = accepting(t, kind)
		if r := send(t, kind, "", target, messages()["failed"]); r.Err != nil ||
			strings.Contains(server.got.Path+string(server.raw), "sign") {
			t.Errorf("%s: %+v, %s %s", kind, r, server.got.Path, server.raw)
		}
	}
}

// readable returns a request whose body has no escapes of HTML.
func readable(t *testing.T, r received) any {
	t.Helper()
	var body any
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.UseNumber()
	if err := decoder.Decode(&body); err != nil {
		t.Fatal(err)
	}
	return struct {
		received
		Body any `json:"body"`
	}{r, body}
}

// answer is a documented answer of a service, with its meaning.
type answer struct {
	Name   string            `json:"name"`
	Status int               `json:"status"`
	Header map[string]string `json:"header"`
	Body   json.RawMessage   `json:"body"` // a string is plain text
	Want   string            `json:"want"` // accepted, retried, refused or gone
	Error  string            `json:"error"`
	Wait   string            `json:"wait"`
}

func (a *answer) write(w http.ResponseWriter) {
	for name, value := range a.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.Status)
	var text string
	if json.Unmarshal(a.Body, &text) == nil {
		a.Body = []byte(text)
	}
	_, _ = w.Write(a.Body)
}

func answersOf(t *testing.T, kind notify.Kind) []answer {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", string(kind), "answers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Answers []answer }
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return all.Answers
}

// accepting answers with the first accepting answer of a service.
func accepting(t *testing.T, kind notify.Kind) func(http.ResponseWriter, *received) {
	t.Helper()
	for _, a := range answersOf(t, kind) {
		if a.Want == "accepted" {
			return func(w http.ResponseWriter, _ *received) { a.write(w) }
		}
	}
	t.Fatalf("%s accepts nothing", kind)
	return nil
}

// Documented answers decide whether a message is accepted, retried, or given up.
func TestServices_Answers_AreInterpreted(t *testing.T) {
	server := newService(t)
	for kind := range services {
		seen := map[string]bool{}
		for _, a := range answersOf(t, kind) {
			server.answer = func(w http.ResponseWriter, _ *received) { a.write(w) }
			r := send(t, kind, "", server.target(kind), messages()["failed"])
			got := "retried"
			switch {
			case r.Err == nil:
				got = "accepted"
			case r.Gone:
				got = "gone"
			case r.Final:
				got = "refused"
			}
			seen[got] = true
			wait, _ := time.ParseDuration(a.Wait)
			if got != a.Want || r.Answer != a.Status || r.RetryIn != wait ||
				r.Err != nil && !strings.Contains(r.Err.Error(), a.Error) {
				t.Errorf("%s, %s: %s, %+v", kind, a.Name, got, r)
			}
		}
		if !seen["accepted"] || !seen["retried"] || !seen["refused"] {
			t.Errorf("%s: recorded answers lack a meaning: %v", kind, seen)
		}
	}
}

// A proxy or a wrong URL that answers with something else than the service does not count as success.
func TestServices_ForeignAnswer_IsNotSuccess(t *testing.T) {
	server := newService(t)
	for kind := range services {
		for status, body := range map[int]string{500: "<html>", 502: "", 404: "<html>Not found</html>", 302: ""} {
			server.answer = func(w http.ResponseWriter, _ *received) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, body)
			}
			if r := send(t, kind, "", server.target(kind), messages()["failed"]); r.Err == nil {
				t.Errorf("%s accepts %d %q", kind, status, body)
			}
		}
	}
}

// Errors are stored, listed and logged: none contains a part of the target, even if the receiver repeats the request.
func TestServices_Errors_ContainNoSecret(t *testing.T) {
	server := newService(t)
	for kind := range services {
		for _, status := range []int{200, 400, 401, 404, 422, 429, 500} {
			server.answer = func(w http.ResponseWriter, r *received) {
				echo := fmt.Sprint(r.Path, " ", r.Header, " ", string(server.raw))
				body, _ := json.Marshal(map[string]any{"errcode": 99, "errmsg": echo, "code": 99, "msg": echo,
					"error": echo, "ok": false, "error_code": 99, "description": echo, "message": echo,
					"errors": []string{echo}})
				w.WriteHeader(status)
				_, _ = w.Write(body)
			}
			r := send(t, kind, "", server.target(kind), messages()["test"])
			if r.Err != nil && strings.Contains(strings.ToLower(r.Err.Error()), "canary") {
				t.Errorf("%s, %d: %v", kind, status, r.Err)
			}
			server.answer = func(w http.ResponseWriter, r *received) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, r.Path+" "+string(server.raw))
			}
			r = send(t, kind, "", server.target(kind), messages()["test"])
			if r.Err != nil && strings.Contains(strings.ToLower(r.Err.Error()), "canary") {
				t.Errorf("%s, %d as text: %v", kind, status, r.Err)
			}
		}
		away := server.target(kind)
		away.URL = strings.Replace(away.URL, server.URL, "http://127.0.0.1:1", 1)
		if r := send(t, kind, "", away, messages()["test"]); r.Err == nil ||
			strings.Contains(strings.ToLower(r.Err.Error()), "canary") {
			t.Errorf("%s away: %v", kind, r.Err)
		}
	}
}

// Messages stay within the documented limits, whatever they contain.
func TestServices_LongTexts_StayWithinLimits(t *testing.T) {
	server := newService(t)
	for kind := range services {
		server.answer = accepting(t, kind)
		for _, piece := range []string{"x", "报", "𝄞", "&<>\"", "*_`~|[](@#", "\n", "long line "} {
			m := messages()["failed"]
			m.Data.Title = strings.Repeat(piece, 300)
			m.Data.Reason = &common.Reason{Code: "other", Text: strings.Repeat(piece, 900)}
			m.Data.Worker = strings.Repeat("w", 128)
			m.Data.Output = strings.Repeat(piece, 2048/len(piece))
			m.Data.URL = "https://carillon.example.com/" + strings.Repeat("r", 200)
			m.Subject = notify.Line(m.Data.Title)
			for _, language := range []notify.Language{notify.English, notify.Chinese} {
				if r := send(t, kind, language, server.target(kind), m); r.Err != nil {
					t.Errorf("%s: %v", kind, r.Err)
				}
				limits[kind](t, server.raw)
			}
		}
	}
}

// limits check the body of a request against the documentation of each service.
var limits = map[notify.Kind]func(*testing.T, []byte){
	notify.KindSlack: func(t *testing.T, body []byte) {
		var m struct {
			Text   string
			Blocks []struct {
				Type     string
				Text     struct{ Text string }
				Fields   []struct{ Text string }
				Elements []struct{ Elements []struct{ Text string } }
			}
		}
		must(t, json.Unmarshal(body, &m))
		atMost(t, "text", m.Text, 3000)
		if len(m.Blocks) > 50 {
			t.Errorf("%d blocks", len(m.Blocks))
		}
		for _, b := range m.Blocks {
			if b.Type == "header" {
				atMost(t, "header", b.Text.Text, 150)
			}
			if len(b.Fields) > 10 {
				t.Errorf("%d fields", len(b.Fields))
			}
			for _, f := range b.Fields {
				atMost(t, "field", f.Text, 2000)
			}
			for _, e := range b.Elements {
				for _, inner := range e.Elements {
					atMost(t, "element", inner.Text, 3000)
				}
			}
		}
	},
	notify.KindPagerDuty: func(t *testing.T, body []byte) {
		var e struct {
			DedupKey string `json:"dedup_key"`
			Payload  struct {
				Summary string
				Details map[string]string `json:"custom_details"`
			}
		}
		must(t, json.Unmarshal(body, &e))
		atMost(t, "summary", e.Payload.Summary, 1024)
		atMost(t, "dedup_key", e.DedupKey, 255)
		if len(body) > 512<<10 || len(e.Payload.Details) == 0 {
			t.Errorf("%d bytes, %d details", len(body), len(e.Payload.Details))
		}
	},
	notify.KindTeams: func(t *testing.T, body []byte) {
		if n := len(utf16.Encode([]rune(string(body)))) * 2; n > 28<<10 {
			t.Errorf("%d bytes as UTF-16", n)
		}
	},
	notify.KindDiscord: func(t *testing.T, body []byte) {
		var m struct {
			Embeds []struct {
				Title, Description string
				Fields             []struct{ Name, Value string }
			}
		}
		must(t, json.Unmarshal(body, &m))
		all := 0
		for _, e := range m.Embeds {
			atMost(t, "title", e.Title, 256)
			all += len(utf16.Encode([]rune(e.Title + e.Description)))
			if len(utf16.Encode([]rune(e.Description))) > 4096 || len(e.Fields) > 25 {
				t.Errorf("%d fields, description %q", len(e.Fields), e.Description)
			}
			for _, f := range e.Fields {
				atMost(t, "name", f.Name, 256)
				atMost(t, "value", f.Value, 1024)
				all += len(utf16.Encode([]rune(f.Name + f.Value)))
			}
		}
		if all > 6000 {
			t.Errorf("%d characters", all)
		}
	},
	notify.KindMattermost: func(t *testing.T, body []byte) {
		if n := len([]rune(string(body))); n > 16383 {
			t.Errorf("%d characters", n)
		}
	},
	notify.KindTelegram: func(t *testing.T, body []byte) {
		var m struct{ Text string }
		must(t, json.Unmarshal(body, &m))
		atMost(t, "text", html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(m.Text, "")), 4096)
	},
	notify.KindDingTalk: func(t *testing.T, body []byte) {
		var m struct{ Text struct{ Content string } }
		must(t, json.Unmarshal(body, &m))
		if n := len(m.Text.Content); n == 0 || n > 20_000 {
			t.Errorf("%d bytes", n)
		}
	},
	notify.KindFeishu: func(t *testing.T, body []byte) {
		if len(body) > 20<<10 {
			t.Errorf("%d bytes", len(body))
		}
	},
	notify.KindWeCom: func(t *testing.T, body []byte) {
		var m struct{ Text struct{ Content string } }
		must(t, json.Unmarshal(body, &m))
		if n := len(m.Text.Content); n == 0 || n > 2048 {
			t.Errorf("%d bytes", n)
		}
	},
	notify.KindNtfy: func(t *testing.T, body []byte) {
		var m struct{ Title, Message string }
		must(t, json.Unmarshal(body, &m))
		if len(m.Title) > 250 || len(m.Message) > 4096 || m.Message == "" {
			t.Errorf("title %d, message %d bytes", len(m.Title), len(m.Message))
		}
	},
	notify.KindOpsgenie: func(t *testing.T, body []byte) {
		var a struct{ Message, Alias, Description, Entity string }
		must(t, json.Unmarshal(body, &a))
		atMost(t, "message", a.Message, 130)
		atMost(t, "alias", a.Alias, 512)
		atMost(t, "description", a.Description, 15000)
		atMost(t, "entity", a.Entity, 512)
	},
	notify.KindPing: func(t *testing.T, body []byte) {
		if len(body) == 0 || len(body) > 10_000 {
			t.Errorf("%d bytes", len(body))
		}
	},
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// atMost checks a number of characters, as UTF-16.
func atMost(t *testing.T, name, text string, most int) {
	t.Helper()
	n := 0
	for _, r := range text {
		if n++; r > 0xffff {
			n++
		}
	}
	if n == 0 || n > most {
		t.Errorf("%s: %d characters, allowed are 1 to %d", name, n, most)
	}
}
