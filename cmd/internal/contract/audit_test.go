package contract

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"carillon/internal/access"
)

// entry is an audit entry in the form of the API.
type entry struct {
	ID, Verb, Kind, Name string
	Actor                struct{ Name, Remote, Token, User, Note, Request string }
	Seq                  int64
}

// quiet are operations that do not use GET and change nothing, or that programs call all the time to use a lock.
// "recover" is called as a dry run.
var quiet = map[string]bool{"validate-job": true, "preview-schedule": true, "parse-crontab": true, "recover": true,
	"acquire-lock": true, "keep-lock-alive": true, "note-lock": true, "release-lock": true}

// Each change leaves one audit entry, a rejected request leaves none, and no entry contains a secret. In the end all
// entries are in the chain.
func TestEveryChange_HasAnAuditEntry(t *testing.T) {
	t.Parallel()
	s := start(t)
	o := s.object(ours)
	o.vars["admin"] = s.admin.token
	var doc document
	s.ask(http.MethodGet, "/openapi.json", nil, &doc)
	for _, op := range doc.operations() {
		c := calls[op.id]
		if op.method == http.MethodGet || c.target == "" {
			continue
		}
		t.Run(op.id, func(t *testing.T) {
			sub := *s
			sub.t = t
			sub.recorded(&op, &c, o)
		})
	}
	s.chained()
	s.hidden(o)
}

// recorded calls an operation and checks the audit entries that it leaves.
func (s *stack) recorded(op *operation, c *call, o *object) {
	if c.before != nil {
		c.before(s, o)
	}
	who := s.admin
	switch {
	case op.id == "logout":
		who = annsSession(s, o)
	case c.reach == ownerOnly:
		who = c.also(s, o)
	}
	switch op.id { // values that differ from the present state
	case "rollback-job":
		s.ask(http.MethodPut, "/api/v1/jobs/"+o.vars["job"], map[string]any{
			"name":    o.vars["job"],
			"group":   o.group,
			"command": "true",
		}, nil)
	case "resume-job":
		s.ask(http.MethodPost, "/api/v1/jobs/paused-"+o.vars["label"]+"/pause", map[string]any{"note": "for now"}, nil)
	}
	target, body := o.fill(c.target), o.fill(c.body)
	if c.reach != open {
		before := s.entries()
		if a := s.do(actor{}, request{
			method:  op.method,
			target:  target,
			body:    body,
			headers: o.filled(c.headers),
		}); a.status != http.StatusUnauthorized {
			s.t.Fatalf("without a token: %d %s", a.status, a.body)
		}
		if left := s.since(before); len(left) > 0 {
			s.t.Errorf("refused, it leaves %+v", left)
		}
	}
	before := s.entries()
	a := s.do(who, request{method: op.method, target: target, body: body, headers: o.filled(c.headers)})
	if a.status/100 != 2 && a.status != http.StatusSeeOther {
		s.t.Fatalf("%d %s", a.status, a.body)
	}
	left := s.since(before)
	if quiet[op.id] {
		if len(left) > 0 {
			s.t.Errorf("it leaves %+v", left)
		}
		return
	}
	// the jobs that inherit have entries of their own
	left = slices.DeleteFunc(left, func(e entry) bool { return e.Verb == "inherit" })
	if len(left) != 1 {
		s.t.Fatalf("it leaves %d entries: %+v", len(left), left)
	}
	e := left[0]
	if e.Verb == "" || e.Kind == "" || e.Name == "" || e.Actor.Name == "" || e.Actor.Remote != "127.0.0.1" {
		s.t.Errorf("it does not say who did what to what from where: %+v", e)
	}
	if who.token == s.admin.token && c.reach != open {
		if token, _ := access.ParseToken(who.token); e.Actor.Token != token.ID {
			s.t.Errorf("it does not name the token: %+v", e)
		}
	}
}

// entries returns the complete audit, the newest entry first.
func (s *stack) entries() (all []entry) {
	s.t.Helper()
	for cursor := ""; ; {
		var page struct {
			Items      []entry
			NextCursor string
		}
		s.ask(http.MethodGet, "/api/v1/audit?limit=500"+cursor, nil, &page)
		all = append(all, page.Items...)
		if page.NextCursor == "" {
			return all
		}
		cursor = "&cursor=" + page.NextCursor
	}
}

// since returns the entries that were added meanwhile.
func (s *stack) since(before []entry) []entry {
	s.t.Helper()
	return slices.DeleteFunc(s.entries(), func(e entry) bool {
		return slices.ContainsFunc(before, func(b entry) bool { return b.ID == e.ID })
	})
}

// chained waits until all entries are sealed, and verifies the chain.
func (s *stack) chained() {
	s.t.Helper()
	all := s.entries()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		open := slices.IndexFunc(s.entries(), func(e entry) bool { return e.Seq == 0 })
		if open < 0 {
			break
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("not sealed: %+v", all[open])
		}
	}
	checked := 0
	for from := int64(1); ; {
		var step struct {
			To      int64
			Checked int
			Intact  bool
			More    bool
			Faults  []any
			Head    struct{ Seq int64 }
		}
		s.ask(http.MethodGet, fmt.Sprintf("/api/v1/audit/verify?limit=7&from=%d", from), nil, &step)
		if !step.Intact {
			s.t.Fatalf("not intact: %+v", step.Faults)
		}
		checked += step.Checked
		if !step.More {
			if checked != len(all) || step.Head.Seq != int64(len(all)) {
				s.t.Errorf("%d of %d entries are in the chain, which ends at %d", checked, len(all), step.Head.Seq)
			}
			return
		}
		from = step.To + 1
	}
}

// hidden searches the audit for secrets.
func (s *stack) hidden(o *object) {
	s.t.Helper()
	token, _, _ := strings.Cut(strings.TrimPrefix(s.admin.token, "car_"), "_")
	for _, target := range []string{"/api/v1/audit?limit=500", "/api/v1/audit/verify?links=true&limit=1000"} {
		a := s.do(s.admin, request{method: http.MethodGet, target: target})
		text := string(a.body)
		for what, secret := range map[string]string{
			"a secret":         " again\"",
			"a password":       password,
			"another password": "blue horse under",
			"a token":          "car_",
			"a key of a hook":  "crnh_",
			"a value of env":   `"A":"` + o.vars["hush"],
		} {
			if at := strings.Index(text, secret); at >= 0 {
				s.t.Errorf("%s shows %s: %.300s", target, what, text[max(0, at-200):])
			}
		}
		if target == "/api/v1/audit?limit=500" && !strings.Contains(text, token) {
			s.t.Error("the id of the token that did it is not shown")
		}
	}
}
