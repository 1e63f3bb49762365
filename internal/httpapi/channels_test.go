package httpapi

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi/core"
	"carillon/internal/notify"
)

// fakeChannels keeps channels in memory.
type fakeChannels struct {
	mu      sync.Mutex
	kept    map[string]notify.Channel
	notices []notify.Notice
	actor   common.Actor
	version int64
}

func (f *fakeChannels) Channels(context.Context) (all []notify.Channel, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.kept {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b notify.Channel) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

func (f *fakeChannels) Find(_ context.Context, name string) (notify.Channel, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c, known := f.kept[name]; known {
		return c, nil
	}
	return notify.Channel{}, common.Errorf(common.CodeNotFound, "there is no channel %s", name)
}

func (f *fakeChannels) Save(_ context.Context, actor common.Actor, name string, wish notify.Wish,
	pre common.Precondition) (notify.Channel, string, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, known := f.kept[name]
	if pre.Absent && known || pre.Version != 0 && pre.Version != before.Version {
		return before, "", false, common.Errorf(common.CodeStale, "channel %s is another", name)
	}
	if faults := wish.Faults(known); len(faults) > 0 {
		return before, "", false, common.Invalid("the channel cannot be saved", faults...)
	}
	f.version++
	f.actor = actor
	c := notify.Channel{
		Name:      name,
		Kind:      wish.Kind,
		To:        wish.To,
		Disabled:  wish.Disabled,
		UpdatedBy: actor.Name,
		CreatedAt: time.Now(),
		UpdatedAt: time.Now(),
		Version:   f.version,
	}
	if wish.URL != "" {
		c.Origin, _ = notify.OriginOf(wish.URL)
		c.Sealed = "sealed-canary"
	}
	if f.kept == nil {
		f.kept = map[string]notify.Channel{}
	}
	f.kept[name] = c
	if wish.Kind == notify.KindWebhook && !known {
		return c, "whsec_canary", true, nil
	}
	return c, "", !known, nil
}

func (f *fakeChannels) Delete(_ context.Context, _ common.Actor, name string, _ common.Precondition) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, known := f.kept[name]; !known {
		return common.Errorf(common.CodeNotFound, "there is no channel %s", name)
	}
	delete(f.kept, name)
	return nil
}

func (f *fakeChannels) Test(ctx context.Context, actor common.Actor, name string) (notify.Notice, error) {
	c, err := f.Find(ctx, name)
	if err != nil {
		return notify.Notice{}, err
	}
	return notify.Notice{
		ID:        "1",
		Channel:   name,
		Kind:      c.Kind,
		Subject:   notify.SubjectTest,
		Status:    notify.Failed,
		Code:      notify.CodeTrouble,
		Error:     "it says canary to " + actor.Name,
		Attempts:  1,
		CreatedAt: time.Now(),
		DoneAt:    time.Now(),
		Data:      notify.Data{Event: notify.SubjectTest},
	}, nil
}

func (f *fakeChannels) Notices(_ context.Context, q notify.NoticeQuery) (found []notify.Notice, more bool, err error) {
	for i := range f.notices {
		if q.Matches(&f.notices[i]) {
			found = append(found, f.notices[i])
		}
	}
	if len(found) > q.Limit {
		return found[:q.Limit], true, nil
	}
	return found, false, nil
}

func TestChannels(t *testing.T) {
	h := newHarness(t)
	const path = "/api/v1/channels/ops"
	w := h.want(http.StatusCreated, as("admin", http.MethodPut, path,
		`{"kind":"webhook","url":"https://hooks.example.com/T0/canary"}`))
	tag := w.Header().Get("ETag")
	var c Channel
	if decode(t, w, &c); c.Secret != "whsec_canary" || c.Origin != "https://hooks.example.com" || tag == "" {
		t.Errorf("made: %+v, %s", c, tag)
	}
	// From then on neither the secret nor the URL is seen by anybody, and who is told by admins only.
	for role, origin := range map[string]string{
		"viewer":   "",
		"operator": "",
		"editor":   "",
		"admin":    "https://hooks.example.com",
	} {
		for _, target := range []string{path, "/api/v1/channels"} {
			w := h.want(http.StatusOK, as(role, http.MethodGet, target, ""))
			if strings.Contains(w.Body.String(), "canary") ||
				strings.Contains(w.Body.String(), "hooks.example.com") != (origin != "") ||
				!strings.Contains(w.Body.String(), `"ops"`) {
				t.Errorf("%s as %s: %s", target, role, w.Body)
			}
		}
	}
	h.problem(http.StatusPreconditionFailed, "stale", "",
		as("admin", http.MethodPut, path, `{"kind":"mail","to":["a@example.com"]}`, "If-None-Match", "*"))
	h.want(http.StatusOK, as("admin", http.MethodPut, path, `{"kind":"mail","to":["a@example.com"]}`, "If-Match", tag))
	for _, c := range []struct{ body, location string }{
		{`{"kind":"pigeon"}`, "body.kind"},
		{`{"kind":"mail"}`, "body.to"},
		{`{"kind":"mail","to":["A <a@example.com>"]}`, "body.to[0]"},
		{`{"kind":"mail","to":["a@example.com"],"uid":1}`, "body.uid"},
		{`{"kind":"mail","to":["a@example.com"],"url":"https://x.example"}`, "body.url"},
	} {
		h.problem(http.StatusUnprocessableEntity, "invalid", c.location, as("admin", http.MethodPut, path, c.body))
	}
	h.problem(http.StatusUnprocessableEntity, "invalid", "body.url", as("admin", http.MethodPut, "/api/v1/channels/new",
		`{"kind":"webhook"}`))
	h.problem(http.StatusUnprocessableEntity, "invalid", "body.url", as("admin", http.MethodPut, "/api/v1/channels/new",
		`{"kind":"webhook","url":"ftp://x"}`))
	h.want(http.StatusOK, as("admin", http.MethodPost, path+"/test", ""))
	h.problem(http.StatusNotFound, "not_found", "", as("admin", http.MethodPost, "/api/v1/channels/none/test", ""))
	h.want(http.StatusNoContent, as("admin", http.MethodDelete, path, ""))
	h.problem(http.StatusNotFound, "not_found", "", as("admin", http.MethodDelete, path, ""))
}

func TestDeliveries(t *testing.T) {
	channels := &fakeChannels{}
	h := newHarness(t, func(c *Config) { c.Channels = channels })
	for _, id := range []string{"5", "4", "3", "2", "1"} {
		channels.notices = append(channels.notices, notify.Notice{
			ID:        id,
			Channel:   "ops",
			Kind:      notify.KindMail,
			Subject:   "failed",
			Status:    notify.Sent,
			Attempts:  1,
			Error:     "canary",
			CreatedAt: time.Now(),
			Data:      notify.Data{Event: "failed", Job: "nightly"},
		})
	}
	var all []string
	target := "/api/v1/deliveries?limit=2&job=nightly"
	for cursor := ""; ; {
		w := h.want(http.StatusOK, as("viewer", http.MethodGet, target+cursor, ""))
		if strings.Contains(w.Body.String(), "canary") {
			t.Errorf("a viewer sees %s", w.Body)
		}
		var page core.Page[Delivery]
		decode(t, w, &page)
		for _, d := range page.Items {
			all = append(all, d.ID)
		}
		if page.NextCursor == "" {
			break
		}
		cursor = "&cursor=" + page.NextCursor
		h.problem(http.StatusUnprocessableEntity, "invalid", "query.cursor",
			as("viewer", http.MethodGet, "/api/v1/deliveries?limit=2"+cursor, ""))
	}
	if !slices.Equal(all, []string{"5", "4", "3", "2", "1"}) {
		t.Errorf("listed: %v", all)
	}
	if w := h.want(http.StatusOK, as("admin", http.MethodGet, "/api/v1/deliveries?channel=ops&status=sent",
		"")); !strings.Contains(w.Body.String(), "canary") {
		t.Errorf("an admin sees %s", w.Body)
	}
	h.problem(http.StatusUnprocessableEntity, "invalid", "query.status",
		as("viewer", http.MethodGet, "/api/v1/deliveries?status=lost", ""))
}
