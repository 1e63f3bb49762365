package typeschema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"carillon/internal/common"
)

// maxFaults bounds the faults of one job.
const maxFaults = 50

// Faults returns the faults of a job of the type, as far as they are known before a run: those of its settings, secrets
// where the type does not accept any, and outputs that the type does not have.
func (t *Type) Faults(job *common.Job) (faults common.Faults) {
	unknown := map[string]bool{} // texts whose content is known at the run only
	job.With.Strings(func(at, text string) {
		_, secret := common.SecretOf(text)
		unknown[at] = secret || len(common.Names(text)) > 0
	})
	for _, f := range t.check(job.With) {
		if at := strings.TrimPrefix(f.Location, "with."); !unknown[at] {
			faults = append(faults, f)
		}
	}
	for _, at := range job.SecretTexts() {
		if !t.accepts(at) {
			faults.Add("with."+at, "secret_misplaced", nil,
				"cannot be or contain a secret: the type %s accepts none there", t.Name)
		}
	}
	for name := range job.Outputs {
		if !slices.Contains(t.Outputs, name) && len(t.Outputs) > 0 {
			faults.Add("outputs."+common.Excerpt(name), "unknown", name,
				"is not an output of the type %s, which has %s", t.Name, strings.Join(t.Outputs, ", "))
		}
	}
	if t.Escapes && job.OnLost != common.LostAbandon && job.OnLost != common.LostDetach {
		faults.Add("onLost", "type_escapes", string(job.OnLost),
			"must be abandon or detach: the work of the type %s may continue after its process has ended", t.Name)
	}
	return faults
}

// Check returns an error if settings with all their values do not match the schema. It quotes none of them.
func (t *Type) Check(with common.With) error {
	if faults := t.check(with); len(faults) > 0 {
		return fmt.Errorf("%s: %s", faults[0].Location, faults[0].Message)
	}
	return nil
}

func (t *Type) check(with common.With) (faults common.Faults) {
	var value any = map[string]any(with)
	if with == nil {
		value = map[string]any{}
	}
	invalid, ok := errors.AsType[*jsonschema.ValidationError](t.schema.Validate(value))
	if !ok {
		return nil
	}
	english := message.NewPrinter(language.English)
	var visit func(*jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		for _, cause := range e.Causes {
			visit(cause)
		}
		if len(e.Causes) > 0 || len(faults) >= maxFaults {
			return
		}
		keyword := ""
		if path := e.ErrorKind.KeywordPath(); len(path) > 0 {
			keyword = path[len(path)-1]
		}
		faults.Add(place(e.InstanceLocation, value), "schema", nil, "%s", sentence(keyword, e, english)).
			With("keyword", keyword)
	}
	visit(invalid)
	return faults
}

// sentence returns the message of a fault. It does not quote values, which may contain secrets.
func sentence(keyword string, e *jsonschema.ValidationError, p *message.Printer) string {
	switch keyword {
	case "required", "additionalProperties", "type", "enum", "minItems", "maxItems", "minProperties", "maxProperties",
		"oneOf", "anyOf", "not", "dependentRequired":
		return common.Excerpt(strings.TrimPrefix(e.ErrorKind.LocalizedString(p), "got "))
	}
	return "does not match the schema (" + common.Excerpt(keyword) + ")"
}

// place returns a location, such as with.headers.Accept or with.list[0].
func place(path []string, value any) string {
	var at strings.Builder
	at.WriteString("with")
	for _, token := range path {
		switch v := value.(type) {
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(v) {
				return at.String()
			}
			fmt.Fprintf(&at, "[%d]", i)
			value = v[i]
		case map[string]any:
			at.WriteString("." + common.Excerpt(token))
			value = v[token]
		}
	}
	return at.String()
}

// accepts reports whether the schema marks a location, as With.Strings names it, as one of secrets.
func (t *Type) accepts(at string) bool {
	return t.marks(t.raw, tokens(at), 0)
}

// tokens splits a location.
func tokens(at string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(at, "[", ".["), func(r rune) bool { return r == '.' })
}

// marks follows a location through a schema.
func (t *Type) marks(schema any, rest []string, depth int) bool {
	s, ok := schema.(map[string]any)
	if !ok || depth > 64 {
		return false
	}
	if len(rest) == 0 && s["x-secret"] == true {
		return true
	}
	if ref, isRef := s["$ref"].(string); isRef && t.marks(t.resolve(ref), rest, depth+1) {
		return true
	}
	for _, key := range [...]string{"allOf", "anyOf", "oneOf"} {
		list, _ := s[key].([]any)
		for _, one := range list {
			if t.marks(one, rest, depth+1) {
				return true
			}
		}
	}
	for _, key := range [...]string{"if", "then", "else"} {
		if t.marks(s[key], rest, depth+1) {
			return true
		}
	}
	if len(rest) == 0 {
		return false
	}
	if strings.HasPrefix(rest[0], "[") {
		return t.marks(s["items"], rest[1:], depth+1)
	}
	// A name may contain dots: the longest one that the schema knows is taken.
	properties, _ := s["properties"].(map[string]any)
	for n := len(rest); n > 0; n-- {
		if below, found := properties[strings.Join(rest[:n], ".")]; found {
			return t.marks(below, rest[n:], depth+1)
		}
	}
	for n := range rest {
		if t.marks(s["additionalProperties"], rest[n+1:], depth+1) {
			return true
		}
	}
	return false
}

// resolve returns the part of the schema that a reference within it names.
func (t *Type) resolve(ref string) any {
	value := t.raw
	for token := range strings.SplitSeq(strings.TrimPrefix(strings.TrimPrefix(ref, "#"), "/"), "/") {
		if token == "" {
			continue
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch v := value.(type) {
		case map[string]any:
			value = v[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// Marshal returns the document as JSON.
func (t *Type) Marshal() ([]byte, error) { return json.Marshal(&t.Document) }
