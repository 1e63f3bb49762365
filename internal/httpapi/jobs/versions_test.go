package jobs_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"carillon/internal/access"
	"carillon/internal/common"
	"carillon/internal/httpapi/apitest"
	"carillon/internal/httpapi/core"
	"carillon/internal/httpapi/jobs"
)

func TestVersions(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Changed(1, "create", "a", "first")
	h.Changed(2, "run", "a", "")
	h.Changed(3, "replace", "b", "other")
	h.Changed(4, "replace", "a", "second")
	h.Changed(5, "pause", "a", "second")
	h.Changed(6, "delete", "a", "")
	var l struct {
		Items      []jobs.JobVersion
		NextCursor string
		Partial    bool
	}
	list := func(query string) {
		l.Items, l.NextCursor = nil, ""
		apitest.Decode(t, h.Want(http.StatusOK,
			apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/versions"+query, "")), &l)
	}
	list("?limit=3")
	if len(l.Items) != 3 || l.Items[0].Version != 106 || l.Items[0].Verb != "delete" || l.Items[2].Version != 104 ||
		l.Items[2].By != "ann" || l.NextCursor == "" {
		t.Errorf("the newest three: %+v", l)
	}
	list("?limit=3&cursor=" + l.NextCursor)
	if len(l.Items) != 1 || l.Items[0].Version != 101 || l.NextCursor != "" {
		t.Errorf("the rest: %+v", l)
	}
	list("?limit=3")
	h.Problem(http.StatusUnprocessableEntity, "invalid", "query.cursor",
		apitest.As("viewer", http.MethodGet, "/api/v1/jobs/b/versions?cursor="+l.NextCursor, ""))
	h.Problem(http.StatusNotFound, "not_found", "",
		apitest.As("viewer", http.MethodGet, "/api/v1/jobs/none/versions", ""))

	var v jobs.VersionOfJob
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/versions/101", "")),
		&v)
	if v.Job == nil || v.Job.Command != "first" || v.UID != "u1" || v.Verb != "create" || v.Version != 101 {
		t.Errorf("version 101: %+v", v)
	}
	if body := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/versions/106", "")).
		Body.String(); strings.Contains(body, `"job"`) {
		t.Errorf("the end of a job has a definition: %s", body)
	}
	for _, version := range []string{"102", "103", "9223372036854775807"} {
		h.Problem(http.StatusNotFound, "not_found", "",
			apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/versions/"+version, ""))
	}
	for _, version := range []string{"0", "-1", "x", "9223372036854775808"} {
		h.Problem(http.StatusUnprocessableEntity, "invalid", "path.version",
			apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/versions/"+version, ""))
	}
}

// Versions have numbers from the creation of the job on, also where an older master stored none.
func TestVersions_HaveNumbers(t *testing.T) {
	h := apitest.NewHarness(t)
	stored := func(n int, verb, before, after string) {
		h.Changed(n, verb, "a", "")
		c := &h.Changes[len(h.Changes)-1]
		c.Before, c.After = json.RawMessage(before), json.RawMessage(after)
	}
	stored(1, "create", ``, `{"name":"a","uid":"u1"}`)
	stored(2, "replace", `{"name":"a","uid":"u1"}`, `{"name":"a","uid":"u1"}`)
	stored(3, "replace", `{"name":"a","uid":"u1"}`, `{"name":"a","uid":"u1","number":3}`)
	stored(4, "delete", `{"name":"a","uid":"u1","number":3}`, ``)
	stored(5, "create", ``, `{"name":"a","uid":"u2","number":1}`)
	stored(6, "pause", `{"name":"a","uid":"u2","number":1}`, `{"name":"a","uid":"u2"}`)
	stored(8, "replace", `{"name":"a","uid":"u3"}`, `{"name":"a","uid":"u3"}`)
	numbers := func(query string) (numbers []int64) {
		var page core.Page[jobs.JobVersion]
		apitest.Decode(t, h.Want(http.StatusOK,
			apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/versions"+query, "")), &page)
		for _, v := range page.Items {
			numbers = append(numbers, v.Number)
		}
		return numbers
	}
	// Of the last one neither the creation nor a neighbour is kept.
	if got := numbers(""); !slices.Equal(got, []int64{0, 2, 1, 4, 3, 2, 1}) {
		t.Errorf("numbers %d", got)
	}
	// The current version has the number of the job.
	h.Jobs["a"] = common.JobState{
		StoredJob: common.StoredJob{Job: common.Job{Name: "a", Command: "true"}, UID: "u3", Number: 7},
		Version:   108,
	}
	if got := numbers("?limit=2"); !slices.Equal(got, []int64{7, 2}) {
		t.Errorf("numbers %d", got)
	}
	var v jobs.VersionOfJob
	apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/versions/102", "")),
		&v)
	if v.Number != 2 {
		t.Errorf("number %d", v.Number)
	}
}

// Any of many versions is found, also where the clocks of masters disagreed.
func TestVersion_AmongMany_IsFound(t *testing.T) {
	h := apitest.NewHarness(t)
	for n := range 450 {
		h.Changed(n, "replace", "a", fmt.Sprintf("number-%d", n))
	}
	h.Changes[220].Revision, h.Changes[180].Revision = h.Changes[180].Revision, h.Changes[220].Revision
	for _, n := range []int{0, 99, 180, 220, 350, 449} {
		var v jobs.VersionOfJob
		apitest.Decode(t, h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet,
			fmt.Sprintf("/api/v1/jobs/a/versions/%d", 100+n), "")), &v)
		if v.Version != int64(100+n) || v.Job == nil {
			t.Errorf("version %d: %+v", 100+n, v)
		}
	}
}

// While the log store is away, what is listed says so, and what may be in it is not said to be missing.
func TestVersions_LogStoreUnavailable(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Changed(1, "create", "a", "first")
	h.StoreOff = true
	if body := h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/versions", "")).
		Body.String(); !strings.Contains(body, `"partial":true`) {
		t.Error(body)
	}
	h.Want(http.StatusOK, apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/versions/101", ""))
	h.Problem(http.StatusServiceUnavailable, "unavailable", "",
		apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/versions/77", ""))
}

// Who sees the versions of a job sees none of the time that it, or one of its name, was in another group.
func TestVersions_OfOtherGroups_AreHidden(t *testing.T) {
	h := apitest.NewHarness(t)
	h.Sessions["reds"] = access.Identity{
		Name:   "reds",
		User:   "reds",
		Grants: map[string]access.Role{"red": access.Viewer},
	}
	job := func(group string) common.Job { return common.Job{Name: "a", Command: "true", Group: group} }
	list := func(status int) (seen []int64) {
		for cursor := ""; ; {
			r := apitest.As("", http.MethodGet, "/api/v1/jobs/a/versions?limit=2&cursor="+cursor, "")
			r.Header.Set("Cookie", apitest.PlainCookie+"=reds")
			w := h.Want(status, r)
			var p core.Page[jobs.JobVersion]
			if apitest.Decode(t, w, &p); status != http.StatusOK {
				return nil
			}
			for _, v := range p.Items {
				seen = append(seen, v.Version)
			}
			if cursor = p.NextCursor; cursor == "" {
				return seen
			}
		}
	}
	was := func(groups ...string) { // the oldest first
		h.Changes = nil
		for i, group := range groups {
			after, _ := json.Marshal(common.StoredJob{Job: job(group), UID: "u"})
			h.Changes = append(h.Changes, common.Change{
				ID:       fmt.Sprintf("%020d", i),
				Verb:     "replace",
				Kind:     "job",
				Name:     "a",
				Revision: int64(i + 1),
				After:    after,
			})
		}
	}
	was("red", "blue", "blue", "", "red")
	h.Jobs["a"] = common.JobState{StoredJob: common.StoredJob{Job: job("red"), UID: "u"}}
	if got := list(http.StatusOK); !slices.Equal(got, []int64{5, 1}) {
		t.Errorf("%v", got)
	}
	h.Jobs["a"] = common.JobState{StoredJob: common.StoredJob{Job: job("blue"), UID: "u"}}
	list(http.StatusForbidden)
	delete(h.Jobs, "a")
	was("red", "blue")
	list(http.StatusForbidden)
}

// A list of versions says what each has changed, to those who may see both sides.
func TestVersions_ListChangedFields(t *testing.T) {
	h := apitest.NewHarness(t)
	side := func(rest string) []byte {
		return []byte(`{"name":"a","uid":"u1","createdAt":"2026-11-01T00:00:00Z","updatedAt":"2026-11-01T00:00:00Z",` +
			rest + `}`)
	}
	for n, c := range []struct {
		verb          string
		before, after []byte
	}{
		{"create", nil, side(`"command":"x"`)},
		{"replace", side(`"command":"x","group":"theirs"`), side(`"command":"y","title":"A","group":"ours"`)},
		{"pause", side(`"command":"y","group":"ours"`),
			side(`"command":"y","group":"ours","paused":true,"pauseNote":"new disk"`)},
		{"delete", side(`"command":"y","group":"ours"`), nil},
	} {
		h.Changed(n, c.verb, "a", "")
		h.Changes[n].Before, h.Changes[n].After = c.before, c.after
	}
	for who, want := range map[string]string{
		"viewer": "delete [] , pause [pauseNote paused] new disk, replace [command group title] , create [] ",
		"ours":   "delete [] , pause [pauseNote paused] new disk, replace [] ",
	} {
		r := apitest.As("viewer", http.MethodGet, "/api/v1/jobs/a/versions", "")
		if who == "ours" {
			secret := access.NewSecret()
			h.Sessions[secret] = access.Identity{
				Name:    "ann",
				Grants:  map[string]access.Role{"ours": access.Viewer},
				Session: true,
			}
			r.Header.Del("Authorization")
			r.AddCookie(&http.Cookie{Name: apitest.PlainCookie, Value: secret})
		}
		var l struct{ Items []jobs.JobVersion }
		apitest.Decode(t, h.Want(http.StatusOK, r), &l)
		var got []string
		for _, v := range l.Items {
			slices.Sort(v.Fields)
			got = append(got, fmt.Sprintf("%s %v %s", v.Verb, v.Fields, v.Note))
		}
		if text := strings.Join(got, ", "); text != want {
			t.Errorf("%s sees %q, want %q", who, text, want)
		}
	}
}
