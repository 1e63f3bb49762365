package request

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"carillon/internal/common"
)

// Bounds and defaults of a request.
const (
	MaxRedirects   = 10
	MaxBody        = 16 << 20
	DefaultMaxBody = 1 << 20
	maxHeaders     = 64
	maxStatus      = 32
	maxURL         = 8 << 10
)

// Spec is a request before its values are filled in.
type Spec struct {
	Method    string
	URL       string
	Headers   map[string]string // by canonical name
	written   map[string]string // names of the headers as they are written
	Body      string
	Status    []string // 404 or 2xx
	Contains  string
	MaxBody   int64
	Redirects int
	CA        string
}

var (
	methodPattern = regexp.MustCompile(`^[A-Z]{1,20}$`)
	namePattern   = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$")
	statusPattern = regexp.MustCompile(`^[1-5](xx|[0-9][0-9])$`)
	originPattern = regexp.MustCompile(`^https?://[^/?#@\\\s]+`)
)

// forbiddenHeaders decide how the connection is used.
var forbiddenHeaders = [...]string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade",
	"Te", "Trailer", "Proxy-Connection", "Expect"}

// Secret reports whether a text at a location may be, or contain, a secret.
func Secret(location string) bool {
	return location == "body" || location == "tls.ca" || location == "url" || strings.HasPrefix(location, "headers.")
}

// whole reports whether a text at a location may be a secret as a whole.
func whole(location string) bool { return Secret(location) && location != "url" }

// reader reads fields and collects faults.
type reader struct{ faults common.Faults }

func (r *reader) add(location, code string, value any, format string, args ...any) *common.Fault {
	return r.faults.Add("with."+location, code, value, format, args...)
}

// Parse reads the settings, and returns all their faults.
func Parse(with common.With) (*Spec, common.Faults) {
	r := &reader{}
	s := &Spec{
		Method:  http.MethodGet,
		Status:  []string{"2xx"},
		MaxBody: DefaultMaxBody,
		Headers: map[string]string{},
		written: map[string]string{},
	}
	r.known("", with, "url", "method", "headers", "body", "expect", "redirects", "tls")
	s.URL = r.text("url", with["url"], "")
	r.url(s.URL)
	s.Method = r.text("method", with["method"], http.MethodGet)
	if !methodPattern.MatchString(s.Method) || s.Method == http.MethodConnect || s.Method == http.MethodTrace {
		r.add("method", "method", s.Method, "must be a method in capital letters, and not CONNECT or TRACE")
	}
	r.headers(s, r.object("headers", with["headers"]))
	s.Body = r.text("body", with["body"], "")
	if s.Body != "" && (s.Method == http.MethodGet || s.Method == http.MethodHead) {
		r.add("body", "exclusive", nil, "has no meaning with the method %s", s.Method).With("beside", "method")
	}
	if s.IsJSON() {
		r.json(s.Body)
	}
	r.expect(s, r.object("expect", with["expect"]))
	s.Redirects = r.number("redirects", with["redirects"], MaxRedirects)
	secure := r.object("tls", with["tls"])
	r.known("tls.", secure, "ca")
	s.CA = r.text("tls.ca", secure["ca"], "")
	with.Strings(func(location, text string) {
		if _, secret := common.SecretOf(text); secret && !whole(location) {
			r.add(location, "secret_misplaced", nil, "cannot be a secret: headers, body and tls.ca can")
		}
	})
	return s, r.faults
}

// Faults returns the faults of the settings of a job, which is a job of the type http.
func Faults(job *common.Job) common.Faults {
	_, faults := Parse(job.With)
	for _, location := range job.SecretTexts() {
		if !Secret(location) {
			faults.Add("with."+location, "secret_misplaced", nil,
				"cannot contain a secret: url, headers, body and tls.ca can")
		}
	}
	return faults
}

// IsJSON reports whether the body is JSON.
func (s *Spec) IsJSON() bool {
	kind, _, _ := strings.Cut(strings.ToLower(s.Headers["Content-Type"]), ";")
	kind = strings.TrimSpace(kind)
	return kind == "application/json" || strings.HasSuffix(kind, "+json")
}

func (r *reader) known(prefix string, values map[string]any, names ...string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(names, name) {
			r.add(prefix+common.Excerpt(name), "unknown", nil, "is not a known field")
		}
	}
}

func (r *reader) text(location string, value any, otherwise string) string {
	switch v := value.(type) {
	case nil:
		return otherwise
	case string:
		return v
	}
	r.add(location, "type", nil, "must be a string")
	return otherwise
}

func (r *reader) object(location string, value any) map[string]any {
	switch v := value.(type) {
	case nil:
		return nil
	case map[string]any:
		return v
	}
	r.add(location, "type", nil, "must be an object")
	return nil
}

func (r *reader) number(location string, value any, most int64) int {
	if value == nil {
		return 0
	}
	number, ok := value.(json.Number)
	n, err := number.Int64()
	switch {
	case !ok || err != nil:
		r.add(location, "integer", nil, "must be a whole number")
	case n < 0 || n > most:
		r.add(location, "range", number.String(), "must be from 0 to %d", most).With("least", 0, "most", most)
	}
	return int(n)
}

// url checks the URL: values may stand after its host only.
func (r *reader) url(text string) {
	if text == "" {
		r.add("url", "required", nil, "is required")
		return
	}
	if _, secret := common.SecretOf(text); secret {
		return // reported
	}
	pieces, err := common.Pieces(text)
	if err != nil {
		return // reported with the job's own faults
	}
	plain := ""
	for i, p := range pieces {
		if p.Name == "" {
			plain += p.Text
			continue
		}
		origin := originPattern.FindString(plain)
		if origin == "" || len(origin) == len(plain) {
			r.add("url", "placeholder_host", p.Name, "must not contain ${%s} before the end of the host",
				common.Excerpt(p.Name)).With("name", p.Name)
			return
		}
		plain += fmt.Sprintf("x%d", i)
	}
	if _, err := parseURL(plain); err != nil {
		r.add("url", "url", text, "must be a URL such as https://api.example/v1, without a user: %v", err)
	}
}

func parseURL(text string) (*url.URL, error) {
	if len(text) > maxURL {
		return nil, fmt.Errorf("it is longer than %d bytes", maxURL)
	}
	if strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return nil, fmt.Errorf("it contains a space or a control character")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("it cannot be parsed")
	case originPattern.FindString(text) == "" || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("it must begin with http:// or https:// and a host")
	case u.User != nil:
		return nil, fmt.Errorf("it must not contain a user; use the header Authorization")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

func (r *reader) headers(s *Spec, values map[string]any) {
	if len(values) > maxHeaders {
		r.add("headers", "too_many", len(values), "must be at most %d", maxHeaders).With("most", maxHeaders)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		at := "headers." + common.Excerpt(name)
		canonical := http.CanonicalHeaderKey(name)
		_, twice := s.Headers[canonical]
		switch {
		case !namePattern.MatchString(name):
			r.add(at, "header", name, "is not a name of a header")
		case slices.Contains(forbiddenHeaders[:], canonical):
			r.add(at, "header", name, "cannot be set: it belongs to the connection")
		case twice:
			r.add(at, "twice", name, "is given twice")
		}
		s.Headers[canonical], s.written[canonical] = r.text(at, values[name], ""), name
		if pieces, err := common.Pieces(s.Headers[canonical]); err == nil {
			for _, p := range pieces {
				if fault := lineFault(p.Text); fault != nil {
					r.add(at, "control", nil, "%v", fault)
				}
			}
		}
	}
}

func (r *reader) expect(s *Spec, values map[string]any) {
	r.known("expect.", values, "status", "contains", "maxBody")
	if list, given := values["status"]; given {
		s.Status = r.status(list)
	}
	s.Contains = r.text("expect.contains", values["contains"], "")
	if text := r.text("expect.maxBody", values["maxBody"], ""); text != "" {
		n, err := common.Size(text).Value()
		if err != nil {
			r.add("expect.maxBody", "size", text, "is not a size; write 512KiB, 16MiB or 1GiB")
		} else if n < 1 || n > MaxBody {
			r.add("expect.maxBody", "range", text, "must be from 1B to 16MiB").With("least", "1 B", "most", "16 MiB")
		}
		s.MaxBody = n
	}
}

func (r *reader) status(value any) (all []string) {
	list, ok := value.([]any)
	if !ok || len(list) == 0 || len(list) > maxStatus {
		r.add("expect.status", "type", nil, "must be a list of 1 to %d codes such as 2xx and 404", maxStatus)
		return nil
	}
	for i, one := range list {
		text := fmt.Sprint(one) // of a text or a number
		if !statusPattern.MatchString(text) {
			r.add(fmt.Sprintf("expect.status[%d]", i), "status", text,
				"must be a code such as 404, or a class such as 2xx")
		}
		all = append(all, text)
	}
	return all
}
