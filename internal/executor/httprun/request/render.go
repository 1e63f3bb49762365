package request

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"carillon/internal/common"
)

// Request is a request with its values.
type Request struct {
	Method    string
	URL       *url.URL
	Header    http.Header
	Private   []string // headers that contain a secret: not for another host
	Sealed    bool     // the body contains a secret: not for another host
	Body      string
	Contains  string
	MaxBody   int64
	Redirects int
	CA        string

	status []string
}

// Values are the values of a run.
type Values struct {
	// Named are the values of variables, by name.
	Named map[string]string
	// Secrets are the secrets of with, by location.
	Secrets map[string]string
	// Private reports whether the value of a variable is a secret.
	Private func(name string) bool
}

// Render fills in the values. An error says which value is not possible where, and does not quote it.
func (s *Spec) Render(v Values) (*Request, error) {
	out := &Request{Method: s.Method, Header: http.Header{}, MaxBody: s.MaxBody, Redirects: s.Redirects,
		status: s.Status}
	var err error
	if out.URL, err = s.url(v); err != nil {
		return nil, err
	}
	for name, text := range s.Headers {
		location := "headers." + common.Excerpt(s.written[name])
		value, err := v.fill(location, text, verbatim)
		if err != nil {
			return nil, err
		}
		value = strings.TrimRight(value, "\r\n") // of a secret that was read from a file
		if err := lineFault(value); err != nil {
			return nil, fmt.Errorf("%s %w", location, err)
		}
		out.Header.Set(name, value)
		if v.sealed(location, text) {
			out.Private = append(out.Private, name)
		}
	}
	encode := verbatim
	if s.IsJSON() {
		encode = jsonText()
	}
	if out.Body, err = v.fill("body", s.Body, encode); err != nil {
		return nil, err
	}
	out.Sealed = v.sealed("body", s.Body)
	if out.Contains, err = v.fill("expect.contains", s.Contains, verbatim); err != nil {
		return nil, err
	}
	out.CA, err = v.fill("tls.ca", s.CA, func(_, value string, _ bool) (string, error) { return value, nil })
	return out, err
}

func (s *Spec) url(v Values) (*url.URL, error) {
	text, err := v.fill("url", s.URL, func(_, value string, given bool) (string, error) {
		if !given {
			return value, nil
		}
		return percent(value), nil
	})
	if err != nil {
		return nil, err
	}
	u, err := parseURL(text)
	if err != nil {
		return nil, fmt.Errorf("the url is not valid: %w", err)
	}
	origin := originPattern.FindString(s.URL)
	if origin == "" || originPattern.FindString(text) != origin {
		return nil, fmt.Errorf("the url contains a value before the end of its host")
	}
	if len(common.Names(s.URL)) > 0 {
		for segment := range strings.SplitSeq(u.Path, "/") {
			if segment == "." || segment == ".." {
				return nil, fmt.Errorf("the url has the segment %q", segment)
			}
		}
	}
	return u, nil
}

// Expects reports whether a status is expected.
func (r *Request) Expects(status int) bool {
	text := strconv.Itoa(status)
	return slices.ContainsFunc(r.status, func(one string) bool {
		return one == text || strings.HasSuffix(one, "xx") && one[0] == text[0]
	})
}

// encoder encodes a piece of a text; given reports that it is a value, and name which one.
type encoder func(name, value string, given bool) (string, error)

// fill returns a text with its values.
func (v *Values) fill(location, text string, encode encoder) (string, error) {
	if secret, found := v.Secrets[location]; found {
		return secret, nil
	}
	if _, secret := common.SecretOf(text); secret {
		return "", fmt.Errorf("%s: the secret is not available", location)
	}
	pieces, err := common.Pieces(text)
	if err != nil {
		return "", fmt.Errorf("%s %w", location, err)
	}
	var out strings.Builder
	for _, p := range pieces {
		value, given := p.Text, p.Name != ""
		if given {
			known := false
			if value, known = v.Named[p.Name]; !known {
				return "", fmt.Errorf("%s contains ${%s}, which has no value", location, p.Name)
			}
		}
		piece, err := encode(p.Name, value, given)
		if err != nil {
			return "", fmt.Errorf("the value of ${%s} in %s %w", p.Name, location, err)
		}
		out.WriteString(piece)
	}
	return out.String(), nil
}

// sealed reports whether a text is or contains a secret.
func (v *Values) sealed(location, text string) bool {
	_, secret := v.Secrets[location]
	return secret || v.Private != nil && slices.ContainsFunc(common.Names(text), v.Private)
}

func verbatim(_, value string, given bool) (string, error) {
	if given && strings.ContainsAny(value, "\r\n\x00") {
		return "", fmt.Errorf("must not contain a line break or NUL")
	}
	return value, nil
}

// lineFault returns why a text cannot stand in a header.
func lineFault(text string) error {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
		return fmt.Errorf("must not contain a line break or another control character")
	}
	return nil
}

// percent encodes all bytes but the unreserved ones of RFC 3986.
func percent(value string) string {
	const hex = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(value) {
		switch c := value[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("-._~", c) >= 0:
			out.WriteByte(c)
		default:
			out.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return out.String()
}

var scalarPattern = regexp.MustCompile(`^(-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?|true|false|null)$`)

// jsonText returns the encoder of a JSON text, which tracks whether a value stands in a string.
func jsonText() encoder {
	inside, escaped := false, false
	return func(_, value string, given bool) (string, error) {
		switch {
		case given && inside && escaped:
			return "", fmt.Errorf("follows a backslash")
		case given && inside:
			return quoted(value), nil
		case given && scalarPattern.MatchString(value):
			return value, nil
		case given:
			return "", fmt.Errorf("stands outside of a string, and is not a number, true, false or null")
		}
		for i := range len(value) {
			switch c := value[i]; {
			case escaped:
				escaped = false
			case inside && c == '\\':
				escaped = true
			case c == '"':
				inside = !inside
			}
		}
		return value, nil
	}
}

// Forms returns how a secret stands in a URL and in JSON.
func Forms(secret []byte) [][]byte {
	return [][]byte{[]byte(percent(string(secret))), []byte(quoted(string(secret)))}
}

func quoted(text string) string {
	var out strings.Builder
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if enc.Encode(text) != nil {
		return "" // a text can always be encoded
	}
	return strings.TrimSuffix(strings.TrimSuffix(out.String(), "\n"), `"`)[1:]
}

// json checks that the body is JSON when each value is replaced by one that fits.
func (r *reader) json(body string) {
	if _, secret := common.SecretOf(body); secret || body == "" {
		return
	}
	names := map[string]string{}
	for _, name := range common.Names(body) {
		names[name] = "1"
	}
	v := Values{Named: names}
	text, err := v.fill("body", body, jsonText())
	if err == nil && !json.Valid([]byte(text)) {
		r.add("body", "json", nil, "is not JSON, as its content type says; write $$ for a dollar sign")
	}
}
