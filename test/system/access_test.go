package system

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A cluster of two masters is opened, a user logs in at one of them and makes a token for a
// script, which the other one takes; taken away, it is refused by both. When no admin can
// get in any more, the host can.
func TestAccess(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	first, second := c.master(), c.master()
	first.token = c.bootstrap()
	second.token = first.token
	eventually(t, "the masters are ready", func() bool { return first.ready() && second.ready() })
	const password, later = "blue horse under a quiet bridge", "nine green lamps along the canal"
	first.do(http.StatusCreated, http.MethodPost, "/api/v1/users", map[string]any{
		"name":     "ann",
		"groups":   map[string]string{"reports": "editor"},
		"password": password,
	}, nil)
	first.do(http.StatusCreated, http.MethodPost, "/api/v1/users", map[string]any{
		"name":     "root",
		"role":     "admin",
		"password": password,
	}, nil)

	ann := enters(t, first, "ann", password)
	var token struct{ ID, Token string }
	ann.do(http.StatusCreated, http.MethodPost, "/api/v1/tokens", map[string]any{
		"name":   "nightly",
		"role":   "operator",
		"groups": []string{"reports"},
	}, &token)
	script := []*api{{t: t, base: first.base, token: token.Token}, {t: t, base: second.base, token: token.Token}}
	job := map[string]any{"name": "report", "command": "true", "group": "reports"}
	first.do(http.StatusCreated, http.MethodPut, "/api/v1/jobs/report", job, nil)
	first.do(http.StatusCreated, http.MethodPut, "/api/v1/jobs/other",
		map[string]any{"name": "other", "command": "true"}, nil)
	for _, a := range script {
		eventually(t, "the script may run the jobs of its group", func() bool {
			status, err := a.try(http.MethodPost, "/api/v1/jobs/report/run", nil, nil)
			return err == nil && status == http.StatusAccepted
		})
		a.do(http.StatusForbidden, http.MethodPost, "/api/v1/jobs/other/run", nil, nil)
		a.do(http.StatusForbidden, http.MethodPut, "/api/v1/jobs/report", job, nil)
	}
	ann.do(http.StatusNoContent, http.MethodDelete, "/api/v1/tokens/"+token.ID, nil, nil)
	for _, a := range script {
		eventually(t, "the token is refused", func() bool {
			status, err := a.try(http.MethodGet, "/api/v1/auth/me", nil, nil)
			return err == nil && status == http.StatusUnauthorized
		})
	}

	// A new password ends what was begun with the old one, on both masters.
	at := ann.at(second)
	at.do(http.StatusOK, http.MethodGet, "/api/v1/auth/me", nil, nil)
	first.do(http.StatusOK, http.MethodPatch, "/api/v1/users/ann", map[string]any{"password": later}, nil)
	for _, v := range []*visitor{ann, at} {
		eventually(t, "the session is over", func() bool {
			return v.status(http.MethodGet, "/api/v1/auth/me", nil, nil) == http.StatusUnauthorized
		})
	}
	enters(t, second, "ann", later)

	if out, err := exec.Command(filepath.Join(bin, "carillon-master"),
		c.flags("bootstrap")...).CombinedOutput(); err == nil {
		t.Errorf("a second bootstrap: %s", out)
	}
	first.do(http.StatusConflict, http.MethodDelete, "/api/v1/users/root", nil, nil)
	out, err := exec.Command(filepath.Join(bin, "carillon-master"), c.flags("reset-admin")...).Output()
	if err != nil {
		t.Fatalf("reset-admin: %v", err)
	}
	broken := &api{t: t, base: second.base, token: strings.TrimSpace(string(out))}
	broken.do(http.StatusOK, http.MethodPatch, "/api/v1/users/root", map[string]any{"password": later}, nil)
	enters(t, first, "root", later)
}

// visitor is a client with a cookie.
type visitor struct {
	t      *testing.T
	base   string
	client *http.Client
}

func enters(t *testing.T, a *api, user, password string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, base: a.base, client: &http.Client{Jar: jar}}
	v.do(http.StatusOK, http.MethodPost, "/api/v1/auth/login", map[string]string{"user": user, "password": password},
		nil)
	return v
}

// at is the same visitor at another master.
func (v *visitor) at(a *api) *visitor { return &visitor{t: v.t, base: a.base, client: v.client} }

func (v *visitor) status(method, path string, body, out any) int {
	v.t.Helper()
	var payload io.Reader = http.NoBody
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			v.t.Fatal(err)
		}
		payload = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.base+path, payload)
	if err != nil {
		v.t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := v.client.Do(req)
	if err != nil {
		v.t.Fatal(err)
	}
	defer resp.Body.Close()
	if out != nil {
		if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
			v.t.Fatal(err)
		}
	}
	return resp.StatusCode
}

func (v *visitor) do(want int, method, path string, body, out any) {
	v.t.Helper()
	if got := v.status(method, path, body, out); got != want {
		v.t.Fatalf("%s %s: %d, want %d", method, path, got, want)
	}
}
