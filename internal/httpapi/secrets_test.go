package httpapi

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
)

// fakeSecrets keeps secrets in memory.
type fakeSecrets struct {
	mu      sync.Mutex
	kept    map[string]common.Secret
	values  map[string]string
	version int64
}

func (f *fakeSecrets) Secrets(context.Context) (all []common.Secret, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range f.kept {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b common.Secret) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (f *fakeSecrets) Secret(_ context.Context, name string) (common.Secret, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, known := f.kept[name]; known {
		return s, nil
	}
	return common.Secret{}, common.Errorf(common.CodeNotFound, "there is no secret %s", name)
}

func (f *fakeSecrets) judge(name string, pre common.Precondition,
	allowed func(*common.Secret) error) (before common.Secret, known bool, err error) {
	before, known = f.kept[name]
	if known {
		err = allowed(&before)
	} else {
		err = allowed(nil)
	}
	if err == nil && (pre.Absent && known || pre.Version != 0 && pre.Version != before.Version) {
		err = common.Errorf(common.CodeStale, "secret %s is another", name)
	}
	return before, known, err
}

func (f *fakeSecrets) SaveSecret(_ context.Context, actor common.Actor, name string, wish common.SecretWish,
	pre common.Precondition, allowed func(*common.Secret) error) (common.Secret, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, known, err := f.judge(name, pre, allowed)
	if err != nil {
		return before, false, err
	}
	if faults := wish.Faults(known); len(faults) > 0 {
		return before, false, common.Invalid("the secret cannot be saved", faults...)
	}
	f.version++
	s := common.Secret{
		Name:        name,
		Description: wish.Description,
		Groups:      wish.Groups,
		UpdatedBy:   actor.Name,
		SetAt:       before.SetAt,
		CreatedAt:   time.Now(),
		UpdatedAt:   time.Now(),
		Version:     f.version,
	}
	if f.kept == nil {
		f.kept, f.values = map[string]common.Secret{}, map[string]string{}
	}
	if wish.Value != "" {
		s.SetAt, f.values[name] = time.Now(), wish.Value
	}
	f.kept[name] = s
	return s, !known, nil
}

func (f *fakeSecrets) DeleteSecret(_ context.Context, _ common.Actor, name string, pre common.Precondition,
	allowed func(*common.Secret) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, known, err := f.judge(name, pre, allowed)
	if err != nil {
		return err
	}
	if !known {
		return common.Errorf(common.CodeNotFound, "there is no secret %s", name)
	}
	delete(f.kept, name)
	return nil
}

const canary = "canary-4711-swordfish"

func TestSecrets(t *testing.T) {
	secrets := &fakeSecrets{}
	h := newHarness(t, func(c *Config) { c.Secrets = secrets })
	const path = "/api/v1/secrets/db"
	said := func(w interface{ String() string }) {
		t.Helper()
		if strings.Contains(w.String(), canary) {
			t.Errorf("the value is answered: %s", w)
		}
	}
	made := h.want(http.StatusCreated, as("admin", http.MethodPut, path,
		`{"value":"`+canary+`","description":"of the reports","groups":["reports"]}`))
	said(made.Body)
	if secrets.values["db"] != canary {
		t.Fatalf("kept is %q", secrets.values["db"])
	}
	said(h.want(http.StatusOK, as("editor", http.MethodGet, path, "")).Body)
	list := h.want(http.StatusOK, as("editor", http.MethodGet, "/api/v1/secrets", ""))
	said(list.Body)
	var all struct{ Items []Secret }
	decode(t, list, &all)
	if len(all.Items) != 1 || all.Items[0].Name != "db" || !slices.Equal(all.Items[0].Groups, []string{"reports"}) ||
		all.Items[0].SetAt.IsZero() {
		t.Errorf("%+v", all)
	}
	changed := h.want(http.StatusOK, as("admin", http.MethodPut, path, `{"description":"of all"}`, "If-Match",
		made.Header().Get("ETag")))
	if secrets.values["db"] != canary || changed.Header().Get("ETag") == made.Header().Get("ETag") {
		t.Errorf("a change without a value: %q, ETag %s", secrets.values["db"], changed.Header().Get("ETag"))
	}
	h.problem(http.StatusPreconditionFailed, "stale", "", as("admin", http.MethodPut, path, `{"value":"`+canary+`"}`,
		"If-None-Match", "*"))
	for _, bad := range []string{`{"value":"short"}`, `{"value":"` + strings.Repeat("x", 4097) + `"}`,
		`{"value":"has a nul\u0000 in it"}`, `{}`} {
		p := h.problem(http.StatusUnprocessableEntity, "invalid", "body.value",
			as("admin", http.MethodPut, "/api/v1/secrets/new", bad))
		if p.Errors[0].Value != nil {
			t.Errorf("%.20s is quoted: %v", bad, p.Errors[0].Value)
		}
	}
	h.problem(http.StatusUnprocessableEntity, "invalid", "body.groups[0]",
		as("admin", http.MethodPut, path, `{"groups":["Nope"]}`))
	h.want(http.StatusNoContent, as("admin", http.MethodDelete, path, ""))
	h.problem(http.StatusNotFound, "not_found", "", as("admin", http.MethodDelete, path, ""))
	h.problem(http.StatusNotFound, "not_found", "", as("editor", http.MethodGet, path, ""))
}

// Who keeps a secret is an admin wherever it may be used, before and after; who sees it could use it.
func TestWhoMayKeepSecrets(t *testing.T) {
	secrets := &fakeSecrets{}
	h := newHarness(t, func(c *Config) { c.Secrets = secrets })
	people := map[string]access.Identity{
		"reporter": {Name: "reporter", Grants: map[string]access.Role{"reports": access.Admin, "other": access.Editor}},
		"stranger": {Name: "stranger", Grants: map[string]access.Role{"stranger": access.Admin}},
		"editor":   {Name: "editor", Role: access.Editor},
		"viewer":   {Name: "viewer", Role: access.Viewer},
	}
	maps.Copy(h.sessions, people)
	ask := func(who, method, path, body string) int {
		r := as("", method, path, body)
		r.AddCookie(&http.Cookie{Name: plainCookie, Value: who})
		return h.send(r).Code
	}
	const path = "/api/v1/secrets/"
	value := func(groups string) string { return `{"value":"` + canary + `","groups":[` + groups + `]}` }
	for _, c := range []struct {
		who, method, name, body string
		want                    int
	}{
		{"reporter", http.MethodPut, "r", value(`"reports"`), 201},
		{"reporter", http.MethodPut, "r", value(`"reports","other"`), 403},
		{"reporter", http.MethodPut, "r", value(``), 403},
		{"reporter", http.MethodPut, "all", value(``), 403},
		{"editor", http.MethodPut, "r", value(`"reports"`), 403},
		{"stranger", http.MethodPut, "r", value(`"stranger"`), 403},
		{"stranger", http.MethodDelete, "r", "", 403},
		{"stranger", http.MethodGet, "r", "", 403},
		{"reporter", http.MethodGet, "r", "", 200},
		{"editor", http.MethodGet, "r", "", 200},
		{"viewer", http.MethodGet, "r", "", 403},
		{"viewer", http.MethodGet, "", "", 403},
		{"stranger", http.MethodPut, "s", value(`"stranger"`), 201},
		{"reporter", http.MethodDelete, "s", "", 403},
		{"reporter", http.MethodDelete, "r", "", 204},
	} {
		if got := ask(c.who, c.method, strings.TrimSuffix(path+c.name, "/"), c.body); got != c.want {
			t.Errorf("%s %s %q %s: %d, want %d", c.who, c.method, c.name, c.body, got, c.want)
		}
	}
	r := as("", http.MethodGet, "/api/v1/secrets", "")
	r.AddCookie(&http.Cookie{Name: plainCookie, Value: "reporter"})
	if body := h.want(http.StatusOK, r).Body.String(); strings.Contains(body, `"s"`) {
		t.Errorf("a secret of another group is listed: %s", body)
	}
}
