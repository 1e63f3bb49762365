package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const ours, theirs = "ours", "theirs"

func TestContract(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("calls every operation as each kind of caller")
	}
	s := start(t)
	actors := s.cast(ours)
	objects := []*object{s.object(ours), s.object(theirs), s.object("")}
	for _, o := range objects {
		o.vars["admin"] = s.admin.token
	}
	doc := s.document()
	left := maps.Clone(calls)
	for _, op := range doc.operations() {
		c, listed := calls[op.id]
		delete(left, op.id)
		t.Run(op.id, func(t *testing.T) {
			if !listed {
				t.Fatalf("%s %s has no entry in calls_test.go: say how it is called, and who may", op.method, op.path)
			}
			sub := *s
			sub.t = t
			sub.hold(&doc, &op, &c, actors, objects)
		})
	}
	for id := range left {
		t.Errorf("calls_test.go has %s, and the document has not", id)
	}
}

// hold calls an operation with every caller, for every object.
func (s *stack) hold(doc *document, op *operation, c *call, actors []actor, objects []*object) {
	path, _, _ := strings.Cut(c.target, "?")
	if !pathPattern(op.path).MatchString(path) {
		s.t.Fatalf("the call is for %s, the operation for %s", c.target, op.path)
	}
	if got, want := op.spec["x-carillon-role"], c.role(); got != want {
		s.t.Errorf("the document says that it needs %v, the call %s", got, want)
	}
	if c.reach != ofGroup && c.reach != groupIfAny && !strings.Contains(c.target+c.body, "{") {
		objects = objects[:1]
	}
	h := holding{stack: s, doc: doc, op: op, call: c, reported: map[string]bool{}}
	for _, o := range objects {
		for _, who := range actors {
			if c.before != nil && !o.ready[op.id] {
				c.before(s, o)
			}
			o.ready[op.id] = true
			h.as(who, o, c.allows(&who, o.group))
		}
		if c.also != nil {
			h.as(c.also(s, o), o, true)
		}
	}
}

// holding is an operation that is compared with the document.
type holding struct {
	*stack
	doc      *document
	op       *operation
	call     *call
	reported map[string]bool // faults that were reported already
}

// as calls the operation with one caller, and checks the response and the effect.
func (h *holding) as(who actor, o *object, allowed bool) {
	var before map[string]int64
	if h.op.method != http.MethodGet && !allowed {
		before = h.mark()
	}
	a := h.do(who, request{
		method:  h.op.method,
		target:  o.fill(h.call.target),
		body:    o.fill(h.call.body),
		headers: o.filled(h.call.headers),
		follow:  h.call.follow,
	})
	name := fmt.Sprintf("%s for a job of group %q", who.name, o.group)
	for _, fault := range h.doc.conforms(h.op, &a) {
		if !h.reported[fault] {
			h.t.Errorf("%s: %s\n%.400s", name, fault, a.body)
		}
		h.reported[fault] = true
	}
	h.reveals(name, &who, &a)
	if allowed {
		o.ready[h.op.id] = false
		if a.status/100 > 3 || h.call.want != 0 && a.status != h.call.want {
			h.t.Errorf("%s: %d\n%.400s", name, a.status, a.body)
		}
		if to := a.header.Get("Location"); h.call.leads != "" && !strings.Contains(to, h.call.leads) {
			h.t.Errorf("%s: leads to %q", name, to)
		}
		return
	}
	if want := h.call.refusal(&who); a.status != want {
		h.t.Errorf("%s: %d, want %d\n%.400s", name, a.status, want, a.body)
	}
	if before == nil {
		return
	}
	if keys := h.changed(before); len(keys) > 0 {
		h.t.Errorf("%s is refused, and has changed %q", name, keys)
	}
}

func pathPattern(template string) *regexp.Regexp {
	return regexp.MustCompile("^" + regexp.MustCompile(`\\\{[a-zA-Z]+\\\}`).ReplaceAllString(regexp.QuoteMeta(template),
		"[^/]+") + "$")
}

// role returns the role that the document requires.
func (c *call) role() string {
	switch {
	case c.says != "":
		return c.says
	case c.reach == open:
		return "public"
	case c.need == "":
		return "authenticated"
	}
	return string(c.need)
}

func (c *call) allows(who *actor, group string) bool {
	i := who.identity()
	switch c.reach {
	case open:
		return true
	case authenticated:
		return who.token != ""
	case somewhere:
		return i.Somewhere(c.need)
	case groupIfAny:
		return group == "" && i.Somewhere(c.need) || i.May(c.need, group)
	case ofGroup:
		return i.May(c.need, group)
	case ownerOnly:
		return false
	}
	return i.Role.Includes(c.need)
}

// refusal returns the status for a caller without permission.
func (c *call) refusal(who *actor) int {
	switch {
	case who.token == "":
		return http.StatusUnauthorized
	case c.refused != 0:
		return c.refused
	}
	return http.StatusForbidden
}

// reveals reports data of a group in responses to callers without a role in it.
func (s *stack) reveals(name string, who *actor, a *answer) {
	for _, group := range []string{ours, theirs, ""} {
		if !who.identity().May("viewer", group) &&
			(bytes.Contains(a.body, []byte(canary(group))) || strings.Contains(fmt.Sprint(a.header), canary(group))) {
			s.t.Errorf("%s is shown what is for group %q:\n%.2000s", name, group, a.body)
		}
	}
}

// plain are the headers that every response may have.
var plain = []string{"Content-Type", "Content-Length", "Content-Security-Policy", "Cross-Origin-Opener-Policy",
	"Cross-Origin-Resource-Policy", "Date", "Permissions-Policy",
	"Referrer-Policy", "X-Accel-Buffering", "X-Content-Type-Options", "X-Frame-Options", "X-Request-Id",
	"Cache-Control", "Vary", "Www-Authenticate", "Link"}

// conforms compares a response with the operation in the document.
func (d document) conforms(op *operation, a *answer) (faults []string) {
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if a.header.Get("X-Request-Id") == "" || a.header.Get("X-Content-Type-Options") != "nosniff" ||
		a.header.Get("Content-Security-Policy") == "" {
		add("%d: headers are missing: %v", a.status, a.header)
	}
	if a.header.Get("Cache-Control") != "no-store" {
		add("%d: may be kept: %q", a.status, a.header.Get("Cache-Control"))
	}
	responses := fields(op.spec["responses"])
	response := d.resolve(responses[strconv.Itoa(a.status)])
	if response == nil {
		add("%d is not in the document", a.status)
		return faults
	}
	headers := fields(response["headers"])
	for name := range a.header {
		described := slices.ContainsFunc(slices.Collect(maps.Keys(headers)), func(h string) bool {
			return strings.EqualFold(h, name)
		})
		if !described && !slices.Contains(plain, name) {
			add("%d has the header %s, which is not in the document", a.status, name)
		}
	}
	content := fields(response["content"])
	if len(content) == 0 {
		if len(a.body) > 0 {
			add("%d has a body, and the document none", a.status)
		}
		return faults
	}
	mediaType, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	media := fields(content[mediaType])
	if media == nil {
		add("%d is %q, which the document does not know", a.status, mediaType)
		return faults
	}
	if !strings.HasSuffix(mediaType, "json") {
		return faults
	}
	value, err := read(a.body)
	if err != nil {
		add("%d: %v", a.status, err)
		return faults
	}
	faults = append(faults, d.faults(media["schema"], strconv.Itoa(a.status), value)...)
	if a.status < http.StatusBadRequest || mediaType != "application/problem+json" {
		return faults
	}
	var problem struct {
		Status    int
		RequestID string `json:"requestId"`
	}
	if err := json.Unmarshal(a.body, &problem); err != nil || problem.Status != a.status ||
		problem.RequestID != a.header.Get("X-Request-Id") {
		add("%d: the problem says %+v (%v)", a.status, problem, err)
	}
	if (a.status == http.StatusUnauthorized) != (a.header.Get("WWW-Authenticate") != "") {
		add("%d with WWW-Authenticate %q", a.status, a.header.Get("WWW-Authenticate"))
	}
	return faults
}
