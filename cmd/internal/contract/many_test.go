package contract

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"carillon/internal/access"
)

// stored is what the API says of a job.
type stored struct {
	Group   string
	Timeout string
	Retry   *struct{ Max int }
	Labels  map[string]string
	Meta    struct {
		Inherited []struct{ From, Timeout string }
	}
}

func (s *stack) stored(name string) (job stored) {
	s.t.Helper()
	s.ask(http.MethodGet, "/api/v1/jobs/"+name, nil, &job)
	return job
}

// A change of many jobs sets what it names and leaves the rest inherited, and all of its audit entries have the id of
// its request.
func TestPatchJobs_KeepInheritingWhatThePatchDoesNotSet(t *testing.T) {
	t.Parallel()
	s := start(t)
	for group, timeout := range map[string]string{"shop": "1h", "lab": "2h"} {
		s.want(http.StatusOK, s.admin, http.MethodPut, "/api/v1/defaults?group="+group, `{"timeout":"`+timeout+`"}`)
	}
	for _, job := range []string{`"name":"one","group":"shop","labels":{"old":"1"}`,
		`"name":"two","group":"shop","timeout":"5m"`, `"name":"far","group":"lab","labels":{"team":"x"}`} {
		s.want(http.StatusCreated, s.admin, http.MethodPost, "/api/v1/jobs", `{"command":"true",`+job+`}`)
	}
	change := func(body string) (answer struct {
		Changed, Unchanged, Refused int
		Digest, Request             string
	}) {
		t.Helper()
		var review = answer
		a := s.want(http.StatusOK, s.admin, http.MethodPatch, "/api/v1/jobs?dryRun=true", "{"+body+"}")
		if err := json.Unmarshal(a.body, &review); err != nil {
			t.Fatal(err)
		}
		a = s.want(http.StatusOK, s.admin, http.MethodPatch, "/api/v1/jobs",
			fmt.Sprintf(`{%s,"digest":"%s","note":"together"}`, body, review.Digest))
		if err := json.Unmarshal(a.body, &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Changed != review.Changed || answer.Unchanged != review.Unchanged ||
			answer.Refused != review.Refused {
			t.Errorf("reviewed %+v, done %+v", review, answer)
		}
		return answer
	}
	done := change(`"group":"shop","patch":{"retry":{"max":2},"labels":{"old":null,"team":"x"}}`)
	one, two := s.stored("one"), s.stored("two")
	if done.Changed != 2 || one.Retry.Max != 2 || one.Timeout != "" || one.Meta.Inherited[0].Timeout != "1h" ||
		len(one.Labels) != 1 || two.Timeout != "5m" || len(two.Meta.Inherited) != 0 {
		t.Errorf("retry and labels: %+v\n%+v\n%+v", done, one, two)
	}
	var audit struct{ Items []entry }
	s.ask(http.MethodGet, "/api/v1/audit?verb=patch", nil, &audit)
	for i := range audit.Items {
		if e := &audit.Items[i]; e.Actor.Request != done.Request || e.Actor.Note != "together" || done.Request == "" {
			t.Errorf("audit of %s: %+v", e.Name, e.Actor)
		}
	}
	if len(audit.Items) != 2 {
		t.Errorf("audit: %+v", audit.Items)
	}
	// null inherits again
	if done = change(`"jobs":["one","two"],"patch":{"timeout":null}`); done.Changed != 1 || done.Unchanged != 1 {
		t.Errorf("null: %+v", done)
	}
	if two = s.stored("two"); two.Timeout != "" || two.Meta.Inherited[0].Timeout != "1h" {
		t.Errorf("null: %+v", two)
	}
	// another group has other defaults
	change(`"jobs":["one"],"patch":{"group":"lab"}`)
	if one = s.stored("one"); one.Group != "lab" || one.Meta.Inherited[0].From != "lab" ||
		one.Meta.Inherited[0].Timeout != "2h" {
		t.Errorf("moved: %+v", one)
	}
	// a filter finds no hidden job, and none moves into a group of others
	var seen struct {
		Items []struct{ Name, Result string }
	}
	editor := s.callerWith(access.Editor, "shop")
	a := s.want(http.StatusOK, editor, http.MethodPatch, "/api/v1/jobs", `{"selector":"team=x","patch":{"group":"lab"}}`)
	if err := json.Unmarshal(a.body, &seen); err != nil || len(seen.Items) != 1 || seen.Items[0].Name != "two" ||
		seen.Items[0].Result != "refused" {
		t.Errorf("%v %+v", err, seen)
	}
}
