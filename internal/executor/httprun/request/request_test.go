package request

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"carillon/internal/common"
)

func with(t testing.TB, text string) (w common.With) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestParse_ReportsEachFault(t *testing.T) {
	for text, want := range map[string]string{
		`{"url": "https://a.example/x"}`:                                "",
		`{"url": "http://[::1]:80/x?${Q}"}`:                             "",
		`{}`:                                                            "with.url required",
		`{"url": 1}`:                                                    "with.url type",
		`{"url": "ftp://a.example"}`:                                    "with.url url",
		`{"url": "https://u:p@a.example"}`:                              "with.url url",
		`{"url": "https://a.example/a b"}`:                              "with.url url",
		`{"url": "https://${HOST}/"}`:                                   "with.url placeholder_host",
		`{"url": "https://a.example${X}"}`:                              "with.url placeholder_host",
		`{"url": "${URL}"}`:                                             "with.url placeholder_host",
		`{"url": "secret:hook"}`:                                        "with.url secret_misplaced",
		`{"url": "https://a.example", "verb": "GET"}`:                   "with.verb unknown",
		`{"url": "https://a.example", "method": "get"}`:                 "with.method method",
		`{"url": "https://a.example", "method": "TRACE"}`:               "with.method method",
		`{"url": "https://a.example", "body": "x"}`:                     "with.body exclusive",
		`{"url": "https://a.example", "headers": {"A B": "x"}}`:         "with.headers.A B header",
		`{"url": "https://a.example", "headers": {"host": "x"}}`:        "with.headers.host header",
		`{"url": "https://a.example", "headers": {"a": "1", "A": "2"}}`: "with.headers.a twice",
		`{"url": "https://a.example", "headers": {"A": "x\r\nB: y"}}`:   "with.headers.A control",
		`{"url": "https://a.example", "expect": {"status": ["2x"]}}`:    "with.expect.status[0] status",
		`{"url": "https://a.example", "expect": {"status": ["2xx", 404], "maxBody": "1MiB"}}`: "",

		`{"url": "https://a.example", "expect": {"maxBody": "1GiB"}}`:  "with.expect.maxBody range",
		`{"url": "https://a.b", "expect": {"contains": "secret:abc"}}`: "with.expect.contains secret_misplaced",
		`{"url": "https://a.example", "redirects": 11}`:                "with.redirects range",
		`{"url": "https://a.example", "redirects": "1"}`:               "with.redirects integer",
		`{"url": "https://a.example", "tls": {"ca": "secret:ca"}}`:     "",
		`{"url": "https://a.example", "tls": {"insecure": true}}`:      "with.tls.insecure unknown",
		`{"url": "https://a.example", "method": "POST", ` +
			`"headers": {"Content-Type": "application/json"}, "body": "{\"n\": ${N}, \"s\": \"${S}\"}"}`: "",
		`{"url": "https://a.example", "method": "POST", ` +
			`"headers": {"Content-Type": "application/json"}, "body": "{\"n\": "}`: "with.body json",
	} {
		_, faults := Parse(with(t, text))
		var got []string
		for _, f := range faults {
			got = append(got, f.Location+" "+f.Code)
		}
		if want == "" && len(got) > 0 || want != "" && !slices.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestFaults_SecretsOfEnvInOtherPlaces(t *testing.T) {
	job := common.Job{Env: map[string]string{"TOKEN": "secret:token"}}
	job.With = with(t, `{"url": "https://a.example/${TOKEN}",
		"expect": {"contains": "${TOKEN}"}}`)
	faults := Faults(&job)
	if len(faults) != 1 || faults[0].Location != "with.expect.contains" || faults[0].Code != "secret_misplaced" {
		t.Errorf("%+v", faults)
	}
}

const full = `{"url": "https://a.example/r/${V}/x?q=${V}&k=1", "method": "POST",
	"headers": {"Content-Type": "application/vnd.x+json; charset=utf-8", "x-tag": "a ${V} b",
		"Authorization": "secret:s"},
	"body": "{\"day\": \"${V}\", \"n\": [1, ${N}]}", "expect": {"contains": "${V}"}}`

func render(t testing.TB, named map[string]string) (*Request, error) {
	t.Helper()
	spec, faults := Parse(with(t, full))
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	return spec.Render(Values{Named: named, Secrets: map[string]string{"headers.Authorization": "Bearer abcdefgh\n"}})
}

func TestRender(t *testing.T) {
	r, err := render(t, map[string]string{"V": `a/b?c=d&"ü`, "N": "-1.5e3"})
	if err != nil {
		t.Fatal(err)
	}
	const encoded = "a%2Fb%3Fc%3Dd%26%22%C3%BC"
	if want := "https://a.example/r/" + encoded + "/x?q=" + encoded + "&k=1"; r.URL.String() != want {
		t.Errorf("%s, want %s", r.URL, want)
	}
	if want := `{"day": "a/b?c=d&\"ü", "n": [1, -1.5e3]}`; r.Body != want {
		t.Errorf("%s, want %s", r.Body, want)
	}
	if r.Header.Get("Authorization") != "Bearer abcdefgh" || r.Header.Get("X-Tag") != `a a/b?c=d&"ü b` {
		t.Errorf("%v", r.Header)
	}
	if !slices.Equal(r.Private, []string{"Authorization"}) || r.Sealed {
		t.Errorf("%v, %v", r.Private, r.Sealed)
	}
	for _, bad := range []map[string]string{{"V": "a\nb", "N": "1"}, {"V": "a", "N": `1, "x"`}, {"V": "a", "N": "01"},
		{"V": "..", "N": "1"}, {"V": "a"}} {
		if _, err := render(t, bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestExpects(t *testing.T) {
	r := Request{status: []string{"2xx", "404"}}
	for status, want := range map[int]bool{200: true, 299: true, 404: true, 403: false, 500: false} {
		if r.Expects(status) != want {
			t.Errorf("%d: %v", status, !want)
		}
	}
}

// FuzzRender checks that no value changes the host, the parts of the URL, the header lines or the JSON structure.
func FuzzRender(f *testing.F) {
	for _, v := range []string{"", "a", "@evil.example", "/../..", "#x", "?a=b&c", "\r\nX: y", `"}, {"`, `\`, "\x00",
		"%2e%2e", "//evil.example", "\u2028", "ü", "${V}", "secret:s"} {
		f.Add(v, "1")
		f.Add("a", v)
	}
	f.Fuzz(func(t *testing.T, v, n string) {
		r, err := render(t, map[string]string{"V": v, "N": n})
		if err != nil {
			return
		}
		sent, err := url.Parse(r.URL.String())
		if err != nil || sent.Host != "a.example" || sent.Scheme != "https" || sent.User != nil || sent.Fragment != "" {
			t.Fatalf("%q: URL %s, %v", v, r.URL, err)
		}
		if sent.Path != "/r/"+v+"/x" || !reflect.DeepEqual(sent.Query(), url.Values{"q": {v}, "k": {"1"}}) ||
			strings.Count(sent.EscapedPath(), "/") != 3 {
			t.Fatalf("%q: URL %s", v, r.URL)
		}
		for name, values := range r.Header {
			if len(values) != 1 || strings.ContainsAny(values[0], "\r\n\x00") || len(r.Header) != 3 {
				t.Fatalf("%q: header %s %q", v, name, values)
			}
		}
		var body struct {
			Day string `json:"day"`
			N   []any  `json:"n"`
		}
		in := json.NewDecoder(strings.NewReader(r.Body))
		in.DisallowUnknownFields()
		if err := in.Decode(&body); err != nil || len(body.N) != 2 || in.More() {
			t.Fatalf("%q, %q: body %s, %v", v, n, r.Body, err)
		}
		if body.Day != strings.ToValidUTF8(v, "\ufffd") && strings.ToValidUTF8(v, "") == v {
			t.Fatalf("%q: body %s", v, r.Body)
		}
		if _, nested := body.N[1].([]any); nested {
			t.Fatalf("%q: body %s", n, r.Body)
		}
	})
}
