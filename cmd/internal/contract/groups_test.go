package contract

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"carillon/internal/access"
	"carillon/internal/common"
)

// callerWith creates a token with a role in groups.
func (s *stack) callerWith(role access.Role, groups ...string) actor {
	token := access.NewToken()
	s.put(common.TokenKey(token.ID), token.Record(access.TokenRequest{
		Name:   "a " + string(role),
		Role:   role,
		Groups: groups,
	}, nil, "test", time.Now()))
	return actor{
		name:   string(role) + " in " + strings.Join(groups, " and "),
		token:  token.Reveal(),
		role:   role,
		groups: groups,
	}
}

// want sends a request, and checks the status.
func (s *stack) want(status int, who actor, method, target, body string, headers ...string) answer {
	s.t.Helper()
	a := s.do(who, request{method: method, target: target, body: body, headers: headers})
	if a.status != status {
		s.t.Errorf("%s: %s %s %s: %d, want %d\n%.600s", who.name, method, target, body, a.status, status, a.body)
	}
	return a
}

var asPatch = []string{"Content-Type", "application/merge-patch+json"}

// A caller who may define jobs in one group can neither move a job of another group into it nor move one away, by any
// operation; without access to a job it has none to the job's past.
func TestJobsOfOtherGroups_CannotBeMoved(t *testing.T) {
	t.Parallel()
	s := start(t)
	editor, both := s.callerWith(access.Editor, ours), s.callerWith(access.Editor, ours, theirs)
	mine, others := s.object(ours), s.object(theirs)
	job := func(name, group string) string {
		return `{"name":"` + name + `","group":"` + group + `","command":"echo taken"}`
	}
	before := s.mark()
	for _, c := range []struct{ name, group string }{{"job-theirs", ours}, {"job-ours", theirs}, {"job-ours", ""},
		{"job-theirs", theirs}} {
		s.want(http.StatusForbidden, editor, http.MethodPut, "/api/v1/jobs/"+c.name, job(c.name, c.group))
		s.want(http.StatusForbidden, editor, http.MethodPut, "/api/v1/jobs/"+c.name, job(c.name, c.group),
			"If-Match", `"1"`)
		s.want(http.StatusForbidden, editor, http.MethodPatch, "/api/v1/jobs/"+c.name,
			`{"group":"`+c.group+`","command":"echo taken"}`, asPatch...)
		s.want(http.StatusForbidden, editor, http.MethodPost, "/api/v1/jobs/validate", job(c.name, c.group))
		for _, dry := range []string{"", "?dryRun=true"} {
			var many struct {
				Items []struct{ Result, Diff string }
			}
			a := s.want(http.StatusOK, editor, http.MethodPost, "/api/v1/jobs/apply"+dry,
				`{"jobs":[`+job(c.name, c.group)+`]}`)
			if err := json.Unmarshal(a.body, &many); err != nil || len(many.Items) != 1 ||
				many.Items[0].Result != "refused" || many.Items[0].Diff != "" {
				t.Errorf("apply%s of %v: %s", dry, c, a.body)
			}
		}
	}
	s.want(http.StatusForbidden, editor, http.MethodPatch, "/api/v1/jobs/job-ours", `{"group":null}`, asPatch...)
	for _, action := range []string{`"run"`, `"pause","note":"n"`, `"resume"`, `"delete"`, `"kill"`} {
		for _, which := range []string{`"jobs":["job-theirs"]`, `"group":"theirs"`, `"q":"job-theirs"`} {
			var many struct{ Done, Refused int }
			body := `{"action":` + action + `,` + which
			if action == `"delete"` && !strings.HasPrefix(which, `"jobs"`) {
				body += `,"expect":1`
			}
			a := s.want(http.StatusOK, editor, http.MethodPost, "/api/v1/jobs/bulk", body+`}`)
			if err := json.Unmarshal(a.body, &many); err != nil || many.Done != 0 || many.Refused != 1 {
				t.Errorf("bulk %s of %s: %s", action, which, a.body)
			}
		}
	}
	// A prune deletes only jobs of the caller's groups.
	for _, name := range []string{"job-ours", "job-theirs"} {
		s.want(http.StatusOK, s.admin, http.MethodPatch, "/api/v1/jobs/"+name, `{"labels":{"set":"a"}}`, asPatch...)
	}
	a := s.want(http.StatusOK, editor, http.MethodPost, "/api/v1/jobs/apply?prune=set%3Da&dryRun=true", `{"jobs":[]}`)
	if text := string(a.body); !strings.Contains(text, "job-ours") || strings.Contains(text, canary(theirs)) ||
		strings.Contains(text, `"name":"job-theirs","result":"deleted"`) {
		t.Errorf("prune: %s", text)
	}
	for _, key := range s.changed(before) {
		// the labels
		if !strings.HasPrefix(key, common.ChangesPrefix) && key != common.JobKey("job-ours") &&
			key != common.JobKey("job-theirs") {
			t.Errorf("changed: %s", key)
		}
	}

	// A job that moves takes its past with it: callers need a role in both groups.
	s.want(http.StatusOK, both, http.MethodPatch, "/api/v1/jobs/job-ours", `{"group":"theirs"}`, asPatch...)
	past := []string{mine.fill("/api/v1/runs/{run}/output"), mine.fill("/api/v1/runs/{run}/output/stream"),
		mine.fill("/api/v1/runs/{run}/output/search?q=hush"),
		mine.fill("/api/v1/jobs/{job}/versions/{version}"), mine.fill("/api/v1/jobs/{job}/versions/{version}/diff")}
	for _, target := range past {
		s.want(http.StatusForbidden, editor, http.MethodGet, target, "")
		s.want(http.StatusForbidden, s.callerWith(access.Admin, theirs), http.MethodGet, target, "")
		s.want(http.StatusOK, both, http.MethodGet, target, "")
	}
	rollback := mine.fill(`{"version":{version}}`)
	s.want(http.StatusForbidden, s.callerWith(access.Admin, theirs), http.MethodPost,
		"/api/v1/jobs/job-ours/rollback", rollback)
	s.want(http.StatusForbidden, editor, http.MethodPost, "/api/v1/jobs/job-ours/rollback", rollback)
	// The past of a deleted job stays visible to its group; another job with its name changes nothing.
	s.want(http.StatusNoContent, s.admin, http.MethodDelete, "/api/v1/jobs/job-ours", "")
	s.want(http.StatusOK, editor, http.MethodGet, past[0], "")
	s.want(http.StatusOK, editor, http.MethodPost, "/api/v1/jobs/apply", `{"jobs":[`+job("job-ours", ours)+`]}`)
	s.want(http.StatusOK, editor, http.MethodGet, past[0], "")
	s.want(http.StatusForbidden, editor, http.MethodGet, others.fill("/api/v1/runs/{run}/output"), "")
}

// Searches do not find hidden objects.
func TestHiddenJobs_AreNotFoundBySearch(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.object(ours)
	s.object(theirs)
	viewer := s.callerWith(access.Viewer, ours)
	for _, c := range []struct{ q, own, others string }{{"hush-ours", "job-ours", ""},
		{"hush-theirs", "", "job-theirs"}, {"job-theirs", "", "job-theirs"}} {
		for _, list := range []string{"/api/v1/runs?q=", "/api/v1/runs/search?q=", "/api/v1/jobs?q="} {
			text := string(s.want(http.StatusOK, viewer, http.MethodGet, list+c.q, "").body)
			byName := c.q == c.others && !strings.Contains(list, "search")
			if strings.Contains(text, `"job-theirs"`) != byName || strings.Contains(text, canary(theirs)) {
				t.Errorf("%s%s: %s", list, c.q, text)
			}
			if found := strings.Contains(text, `"job-ours"`); found != (c.own != "" &&
				!strings.Contains(list, "jobs?")) {
				t.Errorf("%s%s: %s", list, c.q, text)
			}
		}
	}
}

// An idempotency key belongs to its caller.
func TestIdempotencyKeys_BelongToTheirCaller(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.object(ours)
	run := func(who actor) string {
		t.Helper()
		var asked struct{ Run string }
		a := s.want(http.StatusAccepted, who, http.MethodPost, "/api/v1/jobs/job-ours/run", `{}`,
			"Idempotency-Key", "k")
		if err := json.Unmarshal(a.body, &asked); err != nil || asked.Run == "" {
			t.Fatalf("%v: %s", err, a.body)
		}
		return asked.Run
	}
	one, other := s.callerWith(access.Operator, ours), s.callerWith(access.Operator, ours) // of the same name
	first := run(one)
	if again := run(one); again != first {
		t.Errorf("the same request twice: %s, %s", first, again)
	}
	if run(other) == first {
		t.Error("another's key is taken for one's own")
	}
}

// A role that is removed ends requests in progress as well.
func TestRemovedRole_EndsRequestsInProgress(t *testing.T) {
	t.Parallel()
	s := start(t)
	o := s.object(ours)
	token(s, o)
	ann := actor{name: "ann", token: o.vars["secret"]}
	output := o.fill("/api/v1/runs/{run}/output")
	s.want(http.StatusOK, ann, http.MethodGet, output, "")
	s.want(http.StatusOK, s.admin, http.MethodPatch, o.fill("/api/v1/users/{user}"),
		`{"role":null,"groups":{"theirs":"admin"}}`)
	deadline := time.Now().Add(time.Minute)
	for s.do(ann, request{method: http.MethodGet, target: output}).status != http.StatusForbidden {
		if time.Now().After(deadline) {
			t.Fatal("the rights stay")
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.want(http.StatusNoContent, s.admin, http.MethodDelete, o.fill("/api/v1/users/{user}"), "")
	for s.do(ann, request{method: http.MethodGet, target: output}).status != http.StatusUnauthorized {
		if time.Now().After(deadline) {
			t.Fatal("the token of a user who is gone stays good")
		}
		time.Sleep(50 * time.Millisecond)
	}
}
