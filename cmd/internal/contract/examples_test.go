package contract

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
)

var update = flag.Bool("update", false, "write the examples of the OpenAPI document anew")

// examplesFile contains the examples of the document.
var examplesFile = filepath.Join("..", "..", "..", "internal", "httpapi", "examples.json")

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
	o := s.object("reports")
	o.vars["admin"] = s.admin.token
	all := map[string]example{}
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

// Texts that look like secrets are removed from examples.
var (
	tokens  = regexp.MustCompile(`car_[a-z2-7]{16}_[a-z2-7]{52}`)
	signing = regexp.MustCompile(`whsec_[A-Za-z0-9+/=]+`)
)

// tidy shortens lists and removes secrets. A body that is not JSON becomes a text.
func (s *stack) tidy(data []byte) json.RawMessage {
	data = tokens.ReplaceAll(data, []byte("car_k5w2hq6v3n7ptx4a_…"))
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
