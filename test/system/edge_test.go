package system

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"carillon/internal/access/oidc/oidctest"
	"carillon/internal/platform/certs/certstest"
)

// shown is a server's certificate and key in two files, which can be replaced.
type shown struct {
	t         testing.TB
	cert, key string
	pool      *x509.CertPool
}

func newShown(t testing.TB) *shown {
	dir := t.TempDir()
	s := &shown{t: t, cert: filepath.Join(dir, "tls.crt"), key: filepath.Join(dir, "tls.key"), pool: x509.NewCertPool()}
	s.replace("first")
	return s
}

// replace puts a new certificate of a name into the files.
func (s *shown) replace(name string) {
	s.t.Helper()
	cert, key := certstest.Issue(s.t, name, time.Now().Add(-time.Hour), time.Now().Add(90*24*time.Hour))
	s.pool.AppendCertsFromPEM(cert)
	s.write(cert, key)
}

func (s *shown) write(cert, key []byte) {
	s.t.Helper()
	for path, data := range map[string][]byte{s.cert: cert, s.key: key} {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// of tells the name in the certificate that a server shows.
func (s *shown) of(address string) string {
	conn, err := tls.Dial("tcp", address, &tls.Config{RootCAs: s.pool})
	if err != nil {
		return err.Error()
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].Subject.CommonName
}

// edge is a standalone behind its own TLS, with an issuer of logins.
type edge struct {
	*api
	t       *testing.T
	p       *process
	address string
	certs   *shown
	issuer  *oidctest.Issuer
}

func newEdge(t *testing.T) *edge {
	t.Helper()
	dir := t.TempDir()
	e := &edge{t: t, address: freePort(t), certs: newShown(t), issuer: oidctest.Start(t)}
	base := "https://" + e.address
	e.p = launchWith(t, []string{"CARILLON_OIDC_CLIENT_SECRET=" + oidctest.ClientSecret}, "carillon-standalone",
		filepath.Join(bin, "carillon-standalone"),
		"--data-dir", dir, "--listen", e.address, "--tls-cert", e.certs.cert, "--tls-key", e.certs.key,
		"--public-url", base, "--oidc-issuer", e.issuer.URL, "--oidc-client-id", oidctest.ClientID, "--oidc-roles",
		"ops=operator")
	e.api = &api{t: t, base: base, client: e.client(nil)}
	eventually(t, "it is ready", func() bool { return e.ready() || !e.p.Alive() })
	eventually(t, "the welcome is printed", func() bool {
		return strings.Contains(e.p.Text(), "admin.token") || !e.p.Alive()
	})
	token, err := os.ReadFile(filepath.Join(dir, "admin.token"))
	if err != nil {
		t.Fatal(err)
	}
	e.token = strings.TrimSpace(string(token))
	return e
}

// client is a browser, or something that knows no cookies.
func (e *edge) client(jar http.CookieJar) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: e.certs.pool}, ForceAttemptHTTP2: true}
	e.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     transport,
		Jar:           jar,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// send makes a request with just these headers, and gives the answer with its body.
func (e *edge) send(client *http.Client, method, path, body string, headers ...string) (*http.Response, string) {
	e.t.Helper()
	req, err := http.NewRequestWithContext(e.t.Context(), method, e.base+path, strings.NewReader(body))
	if err != nil {
		e.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := client.Do(req)
	if err != nil {
		e.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		e.t.Fatal(err)
	}
	return resp, string(text)
}

func TestHTTPServer_ProtocolsAndLimits(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	t.Run("TLS", e.tls)
	t.Run("requests that are too much", e.sizes)
	session := e.login()
	t.Run("requests from other sites", func(t *testing.T) { e.crossSite(t, session) })
	t.Run("single sign-on", e.sso)
	t.Run("made-up addresses", e.forwarded)
	t.Run("certificates", e.reload)
}

func (e *edge) tls(t *testing.T) {
	if resp, _ := e.send(e.api.client, http.MethodGet, "/healthz", ""); resp.ProtoMajor != 2 ||
		resp.TLS.Version < tls.VersionTLS13 || resp.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("%s, TLS %x, %v", resp.Proto, resp.TLS.Version, resp.Header)
	}
	if conn, err := tls.Dial("tcp", e.address, &tls.Config{
		RootCAs:    e.certs.pool,
		MinVersion: tls.VersionTLS10,
		MaxVersion: tls.VersionTLS11,
	}); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 is good enough")
	}
	plain, err := http.Get("http://" + e.address + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	if _ = plain.Body.Close(); plain.StatusCode != http.StatusBadRequest {
		t.Errorf("plain HTTP is answered with %d", plain.StatusCode)
	}
}

func (e *edge) sizes(t *testing.T) {
	mine := []string{"Authorization", "Bearer " + e.token, "Content-Type", "application/json"}
	job := func(more string) string { return `{"name":"big","command":"true"` + more + `}` }
	for name, c := range map[string]struct {
		method, path, body string
		headers            []string
		want               int
	}{
		"a job beyond 64 KiB": {http.MethodPost, "/api/v1/jobs",
			job(`,"description":"` + strings.Repeat("x", 64<<10) + `"`), mine, http.StatusUnprocessableEntity},
		"a flow beyond 8 MiB": {http.MethodPost, "/api/v1/jobs",
			job(`,"description":"` + strings.Repeat("x", 8<<20) + `"`), mine, http.StatusRequestEntityTooLarge},
		"a body beyond 256 KiB": {http.MethodPost, "/api/v1/auth/login", `{"token":"` + strings.Repeat("x", 256<<10) +
			`"}`, mine[2:], http.StatusRequestEntityTooLarge},
		"deep JSON": {http.MethodPost, "/api/v1/jobs",
			job(`,"labels":` + strings.Repeat(`{"a":`, 40) + `1` + strings.Repeat(`}`, 40)), mine,
			http.StatusUnprocessableEntity},
		"a page of 501": {http.MethodGet, "/api/v1/jobs?limit=501", "", mine, http.StatusUnprocessableEntity},
		"a form": {http.MethodPost, "/api/v1/jobs", "name=a&command=true",
			[]string{mine[0], mine[1], "Content-Type", "application/x-www-form-urlencoded"},
			http.StatusUnsupportedMediaType},
		"an encoded slash":       {http.MethodGet, "/api/v1/jobs/a%2Fb", "", mine, http.StatusUnprocessableEntity},
		"a change by a question": {http.MethodGet, "/api/v1/jobs/a/run", "", mine, http.StatusMethodNotAllowed},
	} {
		if resp, text := e.send(e.api.client, c.method, c.path, c.body, c.headers...); resp.StatusCode != c.want ||
			!strings.Contains(text, `"requestId"`) {
			t.Errorf("%s: %d, want %d: %.200s", name, resp.StatusCode, c.want, text)
		}
	}
	// A header beyond 16 KiB (and what the server adds to that) is refused before anything looks at it.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, e.base+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Large", strings.Repeat("x", 24<<10))
	if resp, err := e.api.client.Do(req); err == nil {
		if _ = resp.Body.Close(); resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a header of 24 KiB: %d", resp.StatusCode)
		}
	}
}

// login creates a session by the printed link, in a browser that has a cookie already.
func (e *edge) login() *http.Cookie {
	e.t.Helper()
	link := regexp.MustCompile(`/#login=([a-z0-9]+)`).FindStringSubmatch(e.p.Text())
	if link == nil {
		e.t.Fatalf("no login link in %q", e.p.Text())
	}
	preset := strings.Repeat("a", 52)
	resp, text := e.send(e.api.client, http.MethodPost, "/api/v1/auth/login", `{"code":"`+link[1]+`"}`, "Content-Type",
		"application/json", "Cookie", "__Host-carillon="+preset)
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
		e.t.Fatalf("%d: %s", resp.StatusCode, text)
	}
	c := resp.Cookies()[0]
	if c.Name != "__Host-carillon" || !c.Secure || !c.HttpOnly || c.SameSite != http.SameSiteLaxMode || c.Path != "/" ||
		c.Domain != "" || len(c.Value) < 43 || c.Value == preset {
		e.t.Errorf("the session's cookie: %v", c)
	}
	if resp, _ := e.send(e.api.client, http.MethodGet, "/api/v1/auth/me", "", "Cookie",
		"__Host-carillon="+preset); resp.StatusCode != http.StatusUnauthorized {
		e.t.Errorf("a session that a browser brought along is good: %d", resp.StatusCode)
	}
	return c
}

// crossSite tries what pages of other sites make a browser send.
func (e *edge) crossSite(t *testing.T, session *http.Cookie) {
	cookie := session.Name + "=" + session.Value
	job := `{"name":"forged","command":"true"}`
	for name, headers := range map[string][]string{
		"another site":             {"Sec-Fetch-Site", "cross-site"},
		"a sub-domain":             {"Sec-Fetch-Site", "same-site"},
		"an older browser":         {"Origin", "https://evil.example.com"},
		"an origin that is hidden": {"Origin", "null"},
		"plain HTTP of our name":   {"Origin", "http://" + e.address},
	} {
		for method, path := range map[string]string{
			http.MethodPost:   "/api/v1/jobs",
			http.MethodPut:    "/api/v1/jobs/forged",
			http.MethodDelete: "/api/v1/jobs/forged",
		} {
			if resp, text := e.send(e.api.client, method, path, job, append(headers, "Content-Type", "application/json",
				"Cookie", cookie)...); resp.StatusCode != http.StatusForbidden {
				t.Errorf("%s, %s: %d %s", name, method, resp.StatusCode, text)
			}
		}
	}
	if resp, text := e.send(e.api.client, http.MethodPost, "/api/v1/jobs", job, "Sec-Fetch-Site", "same-origin",
		"Origin", e.base, "Content-Type", "application/json", "Cookie", cookie); resp.StatusCode != http.StatusCreated {
		t.Errorf("our own page: %d %s", resp.StatusCode, text)
	}
	// Beside a token a cookie counts nothing.
	if resp, _ := e.send(e.api.client, http.MethodGet, "/api/v1/auth/me", "", "Authorization", "Bearer car_x", "Cookie",
		cookie); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a bad token beside a good cookie: %d", resp.StatusCode)
	}
}

// sso goes with a browser to the issuer and back.
func (e *edge) sso(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := e.client(jar)
	visit := func(address string) string {
		t.Helper()
		resp, err := browser.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		location, err := resp.Location()
		if err != nil {
			t.Fatalf("%s answers %d", address, resp.StatusCode)
		}
		return location.String()
	}
	callback := visit(visit(e.base + "/api/v1/auth/oidc/start?to=/runs"))
	if home := visit(callback); home != e.base+"/runs" {
		t.Errorf("the browser ends at %s", home)
	}
	if resp, text := e.send(browser, http.MethodGet, "/api/v1/auth/me", ""); resp.StatusCode != http.StatusOK ||
		!strings.Contains(text, `"oidc:ann"`) || !strings.Contains(text, `"operator"`) {
		t.Errorf("%d %s", resp.StatusCode, text)
	}
	if again := visit(callback); !strings.HasSuffix(again, "/#sso=refused") {
		t.Errorf("the answer is good twice: %s", again)
	}
	e.issuer.Return(oidctest.WrongValues{Signature: "HS256"})
	if forged := visit(visit(visit(e.base + "/api/v1/auth/oidc/start"))); !strings.HasSuffix(forged, "/#sso=refused") {
		t.Errorf("a forged ID token leads to %s", forged)
	}
	if said := e.p.Text(); !strings.Contains(said, "sso_failed") || strings.Contains(said, oidctest.ClientSecret) {
		t.Error("the log does not tell of it, or tells the secret")
	}
}

// forwarded guesses from addresses that it makes up: no proxy is trusted here.
func (e *edge) forwarded(t *testing.T) {
	last := 0
	for i := range 8 {
		resp, _ := e.send(e.api.client, http.MethodPost, "/api/v1/auth/login", `{"token":"car_x"}`, "Content-Type",
			"application/json",
			"X-Forwarded-For", fmt.Sprintf("198.51.%d.1", i), "Forwarded", fmt.Sprintf("for=198.51.%d.1", i),
			"X-Real-IP", fmt.Sprintf("198.51.%d.1", i))
		if last = resp.StatusCode; last == http.StatusTooManyRequests {
			if resp.Header.Get("Retry-After") == "" {
				t.Error("there is no Retry-After")
			}
			break
		}
	}
	if last != http.StatusTooManyRequests {
		t.Errorf("after eight guesses: %d", last)
	}
}

func (e *edge) reload(t *testing.T) {
	standing, err := tls.Dial("tcp", e.address, &tls.Config{RootCAs: e.certs.pool})
	if err != nil {
		t.Fatal(err)
	}
	defer standing.Close()
	e.certs.replace("second")
	eventually(t, "the new certificate is shown", func() bool { return e.certs.of(e.address) == "second" })
	fmt.Fprint(standing, "GET /healthz HTTP/1.1\r\nHost: carillon\r\nConnection: close\r\n\r\n")
	if resp, err := http.ReadResponse(bufio.NewReader(standing), nil); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("a connection that stood does not go on: %v", err)
	}
	e.certs.write([]byte("nonsense"), []byte("nonsense"))
	var ready string
	eventually(t, "files that cannot be used are reported", func() bool {
		status, err := e.try(http.MethodGet, "/readyz", nil, &ready)
		return err == nil && status == http.StatusOK && strings.Contains(ready, "certificate_unusable")
	})
	if got := e.certs.of(e.address); got != "second" {
		t.Errorf("the server shows %s", got)
	}
	e.certs.replace("third")
	eventually(t, "the next good one is shown, and nothing more is reported", func() bool {
		status, err := e.try(http.MethodGet, "/readyz", nil, &ready)
		return err == nil && status == http.StatusOK && !strings.Contains(ready, "certificate") &&
			e.certs.of(e.address) == "third"
	})
}
