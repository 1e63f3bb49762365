package contract

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the examples of the OpenAPI document anew")

// examplesFile contains the examples of the document.
var examplesFile = filepath.Join("..", "..", "..", "internal", "httpapi", "examples.json")

// exampleGroup is the group of the job that the examples show.
const exampleGroup = "reports"

type example struct {
	Request json.RawMessage            `json:"request,omitempty"`
	Answers map[string]json.RawMessage `json:"answers,omitempty"`
}

// TestExamples checks that the document has an example of each request and response body, which matches its schema.
// With -update the examples are recorded from the calls of an admin.
func TestExamples(t *testing.T) {
	t.Parallel()
	s := start(t)
	doc := s.document()
	if *update {
		s.record(doc)
		return
	}
	for _, op := range doc.operations() {
		if text, _ := op.spec["description"].(string); text == "" || op.spec["summary"] == "" {
			t.Errorf("%s is not described", op.id)
		}
		shown := func(where string, media any) {
			for kind, m := range fields(media) {
				v, given := fields(m)["example"]
				if !given {
					t.Errorf("%s: %s (%s) has no example; run go test ./cmd/internal/contract -run TestExamples "+
						"-update, and then go test ./internal/httpapi -run TestDocuments -update",
						op.id, where, kind)
					continue
				}
				for _, fault := range doc.faults(fields(m)["schema"], "the example", v) {
					t.Errorf("%s: %s: %s", op.id, where, fault)
				}
			}
		}
		shown("the body", at(op.spec, "requestBody", "content"))
		answered := false
		for status, r := range fields(op.spec["responses"]) {
			content := at(doc.resolve(r), "content")
			if code, _ := strconv.Atoi(status); code/100 == 2 || code/100 == 3 {
				if len(fields(content)) == 0 {
					answered = true
				}
				for _, m := range fields(content) {
					answered = answered || fields(m)["example"] != nil
				}
			}
			if _, common := fields(r)["$ref"]; common {
				shown(status, content)
			}
		}
		if !answered {
			shown("the answer", map[string]any{"a good answer": map[string]any{}})
		}
	}
}

// record calls every operation as an admin, and records requests and responses.
func (s *stack) record(doc document) {
	o := s.object(exampleGroup)
	o.vars["admin"] = s.admin.token
	all, kept := map[string]example{}, map[string]example{}
	if data, err := os.ReadFile(examplesFile); err == nil && json.Unmarshal(data, &kept) != nil {
		s.t.Fatalf("%s is not JSON", examplesFile)
	}
	for _, op := range doc.operations() {
		c, listed := calls[op.id]
		if !listed {
			continue // TestContract reports it
		}
		if c.before != nil {
			c.before(s, o)
		}
		who := s.admin
		if c.reach == ownerOnly {
			who = c.also(s, o)
		}
		r := request{
			method:  op.method,
			target:  o.fill(c.target),
			body:    o.fill(c.body),
			headers: o.filled(c.headers),
			follow:  c.follow,
		}
		a := s.do(who, r)
		one := example{Answers: map[string]json.RawMessage{}}
		if c.body != "" {
			one.Request = s.tidy([]byte(r.body))
		}
		if len(a.body) > 0 {
			one.Answers[strconv.Itoa(a.status)] = s.tidy(a.body)
		}
		if old, known := kept[op.id]; known && shape(old) == shape(one) {
			one = old // the same fields, with the values of another time
		}
		all[op.id] = one
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err == nil {
		err = os.WriteFile(examplesFile, append(data, '\n'), 0o644)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// shape returns the fields of an example without their values.
func shape(one example) string {
	paths := map[string]bool{}
	var walk func(path string, v any)
	walk = func(path string, v any) {
		paths[path] = true
		switch v := v.(type) {
		case []any:
			for i := range v {
				walk(path+"[]", v[i])
			}
		case map[string]any:
			for name := range v {
				walk(path+"."+name, v[name])
			}
		}
	}
	for status, body := range one.Answers {
		var v any
		if json.Unmarshal(body, &v) == nil {
			walk(status, v)
		}
	}
	var request bytes.Buffer
	_ = json.Compact(&request, one.Request) // empty without one
	return request.String() + strings.Join(slices.Sorted(maps.Keys(paths)), "\n")
}

// Texts that look like secrets are removed from examples.
var (
	tokens  = regexp.MustCompile(`car_[a-z2-7]{16}_[a-z2-7]{52}`)
	keys    = regexp.MustCompile(`crnh_[a-z2-7]{16}_[a-z2-7]{52}`)
	shared  = regexp.MustCompile(`"[a-z2-7]{52}"`)
	signing = regexp.MustCompile(`whsec_[A-Za-z0-9+/=]+`)
)

// tidy shortens lists and removes secrets. A body that is not JSON becomes a text.
func (s *stack) tidy(data []byte) json.RawMessage {
	data = tokens.ReplaceAll(data, []byte("car_k5w2hq6v3n7ptx4a_…"))
	data = keys.ReplaceAll(data, []byte("crnh_k5w2hq6v3n7ptx4a_…"))
	data = shared.ReplaceAll(data, []byte(`"iwhmtz…"`))
	data = signing.ReplaceAll(data, []byte("whsec_…"))
	if host, err := os.Hostname(); err == nil {
		data = bytes.ReplaceAll(data, []byte(`"`+host+`"`), []byte(`"master-1"`))
	}
	v, err := read(data)
	if err != nil {
		v = string(data)
	}
	out, err := json.Marshal(short(v))
	if err != nil {
		s.t.Fatal(err)
	}
	return out
}

func short(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 2 {
			v = v[:2]
		}
		for i := range v {
			v[i] = short(v[i])
		}
		return v
	case map[string]any:
		for name := range v {
			v[name] = short(v[name])
		}
	}
	return v
}
