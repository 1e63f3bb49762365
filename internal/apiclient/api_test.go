package apiclient_test

import (
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"carillon/internal/apiclient"
	"carillon/internal/common"
)

func serve(t *testing.T, h http.HandlerFunc) *apiclient.API {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	api, err := apiclient.New(apiclient.Options{Server: server.URL + "/", Token: "secret", UserAgent: "test/1"})
	if err != nil {
		t.Fatal(err)
	}
	return api
}

func TestRequests_ContainTheToken(t *testing.T) {
	var seen *http.Request
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen = r
		_, _ = io.WriteString(w, `{"version":"1.2","go":"go1"}`)
	})
	v, err := apiclient.Decode[apiclient.Version](api.Version(t.Context()))
	if err != nil || v.Version != "1.2" {
		t.Fatalf("%+v, %v", v, err)
	}
	if seen.URL.Path != "/version" || seen.Header.Get("Authorization") != "Bearer secret" ||
		seen.Header.Get("User-Agent") != "test/1" {
		t.Errorf("request %v, headers %v", seen.URL, seen.Header)
	}
}

func TestCompressedAnswers_AreDecoded(t *testing.T) {
	api := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			t.Errorf("the client accepts %q", r.Header.Get("Accept-Encoding"))
		}
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		_, _ = io.WriteString(zip, `{"version":"1.2","go":"go1"}`)
		_ = zip.Close()
	})
	v, err := apiclient.Decode[apiclient.Version](api.Version(t.Context()))
	if err != nil || v.Version != "1.2" {
		t.Fatalf("%+v, %v", v, err)
	}
}

func TestReachable_APassword_IsNotRepeated(t *testing.T) {
	for _, server := range []string{"https://ann:canary@host", "https://ann:canary %@host", "ann:canary@host"} {
		err := apiclient.Reachable(server)
		if common.CodeOf(err) != common.CodeInvalid || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v", server, err)
		}
	}
}

func TestErrorResponses_BecomeErrors(t *testing.T) {
	for name, c := range map[string]struct {
		status     int
		kind, body string
		code       common.Code
		text       string
	}{
		"problem": {422, "application/problem+json; charset=utf-8",
			`{"title":"Unprocessable Entity","status":422,"detail":"the job is not valid","code":"invalid","requestId":"r","hint":"h","errors":[{"location":"body.timeout","code":"duration","message":"is not a duration","hint":"write 90s"}]}`,
			common.CodeInvalid, "the job is not valid: timeout: is not a duration"},
		"failure": {500, "application/problem+json",
			`{"title":"x","status":500,"detail":"went wrong","code":"internal","requestId":"abc"}`, common.CodeInternal,
			"went wrong (request abc)"},
		"a proxy":    {502, "text/html", "<h1>Bad Gateway</h1>", common.CodeUnavailable, `"502 Bad Gateway"`},
		"its login":  {401, "text/html", "who are you", common.CodeForbidden, `"401 Unauthorized"`},
		"a redirect": {302, "", "", common.CodeUnavailable, `"302 Found"`},
		"nonsense":   {200, "application/json", "{", common.CodeUnavailable, "cannot be read"},
	} {
		asked := 0
		api := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			asked++
			w.Header().Set("Content-Type", c.kind)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		_, err := apiclient.Decode[apiclient.Job](api.GetJob(t.Context(), "a"))
		if common.CodeOf(err) != c.code || !strings.Contains(err.Error(), c.text) || asked != 1 {
			t.Errorf("%s: %s after %d requests: %v", name, common.CodeOf(err), asked, err)
		}
	}
}

func TestUnreachableServer_ReturnsUnavailable(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	api, err := apiclient.New(apiclient.Options{Server: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	_, err = apiclient.Read(api.Healthz(t.Context()))
	if common.CodeOf(err) != common.CodeUnavailable {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := apiclient.Read(api.Healthz(ctx)); err == nil {
		t.Error("a cancelled request is answered")
	}
}

func TestNew_TokenOverPlainHTTPToAnotherMachine_IsRejected(t *testing.T) {
	for server, allowed := range map[string]bool{
		"http://127.0.0.1:7070": true, "http://localhost": true, "http://LOCALHOST:1": true, "http://[::1]:7070": true,
		"http://127.9.9.9":    true,
		"https://example.com": true, "https://10.0.0.1:7070/base/": true,
		"http://example.com": false, "http://10.0.0.1:7070": false, "http://localhost.example.com": false,
		"http://0.0.0.0:7070": false, "http://[::]:1": false,
	} {
		_, err := apiclient.New(apiclient.Options{Server: server, Token: "t"})
		if (err == nil) != allowed {
			t.Errorf("%s with a token: %v", server, err)
		}
		if _, err := apiclient.New(apiclient.Options{Server: server}); err != nil {
			t.Errorf("%s without a token: %v", server, err)
		}
		if _, err := apiclient.New(apiclient.Options{Server: server, Token: "t", InsecureHTTP: true}); err != nil {
			t.Errorf("%s with InsecureHTTP: %v", server, err)
		}
	}
	for _, server := range []string{"", "example.com", "ftp://example.com", "http://", "http://user:pass@localhost",
		"http://localhost?x", "localhost:7070", "http://a b"} {
		if _, err := apiclient.New(apiclient.Options{Server: server}); common.CodeOf(err) != common.CodeInvalid {
			t.Errorf("%q: %v", server, err)
		}
	}
}
