package typeschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"carillon/internal/common"
)

// Protocol is the version of the protocol between worker and plug-in.
const Protocol = 1

// Bounds of a document.
const (
	MaxDocument = 64 << 10
	maxTitle    = 100
)

var versionPattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}$`)

// Document describes a type.
type Document struct {
	Protocol int               `json:"protocol"`
	Name     string            `json:"name"`
	Version  string            `json:"version"`
	Title    map[string]string `json:"title,omitempty"` // by language
	With     json.RawMessage   `json:"with"`            // a JSON schema
	Outputs  []string          `json:"outputs,omitempty"`
	// Escapes reports that the work of a run may continue after its process has ended.
	Escapes bool `json:"escapes,omitempty"`
}

// Type is a described type.
type Type struct {
	Document
	raw    any // the schema
	schema *jsonschema.Schema
}

// Parse reads and checks a document.
func Parse(data []byte) (*Type, error) {
	if len(data) > MaxDocument {
		return nil, fmt.Errorf("the document is larger than %d KiB", MaxDocument>>10)
	}
	t := &Type{}
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(&t.Document); err != nil {
		return nil, fmt.Errorf("the document is not valid: %w", err)
	}
	if in.More() {
		return nil, errors.New("the document is followed by other data")
	}
	switch {
	case t.Protocol != Protocol:
		return nil, fmt.Errorf("protocol: %d is not %d", t.Protocol, Protocol)
	case !common.ValidType(t.Name):
		return nil, fmt.Errorf("name: %q is not the name of a type", common.Shorten(t.Name))
	case !versionPattern.MatchString(t.Version):
		return nil, fmt.Errorf("version: %q must be 1 to 64 letters, digits, '.', '+', '_' and '-'",
			common.Shorten(t.Version))
	case len(t.Outputs) > common.MaxOutputs:
		return nil, fmt.Errorf("outputs: must be at most %d", common.MaxOutputs)
	}
	for language, title := range t.Title {
		if len(language) > 16 || title == "" || len([]rune(title)) > maxTitle {
			return nil, fmt.Errorf("title: must have 1 to %d characters in each language", maxTitle)
		}
	}
	for _, name := range t.Outputs {
		if !common.ValidOutput(name) {
			return nil, fmt.Errorf("outputs: %q is not the name of an output", common.Shorten(name))
		}
	}
	return t, t.compile()
}

const location = "with.json"

func (t *Type) compile() error {
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(t.With))
	if err != nil {
		return fmt.Errorf("with: %w", err)
	}
	if err := closed(schema, 0); err != nil {
		return fmt.Errorf("with: %w", err)
	}
	if kind, _ := schema.(map[string]any); kind["type"] != "object" {
		return errors.New("with: must be a schema of an object")
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nothing{})
	if err := c.AddResource(location, schema); err != nil {
		return fmt.Errorf("with: %w", err)
	}
	if t.schema, err = c.Compile(location); err != nil {
		return fmt.Errorf("with: %w", err)
	}
	t.raw = schema
	return nil
}

// nothing loads no schemas.
type nothing struct{}

func (nothing) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside of the document", url)
}

// closed returns an error if a schema refers to anything outside of itself.
func closed(schema any, depth int) error {
	if depth > 64 {
		return errors.New("is nested too deep")
	}
	switch v := schema.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			text, isText := v[key].(string)
			switch {
			case (key == "$ref" || key == "$dynamicRef") && isText && !strings.HasPrefix(text, "#"):
				return fmt.Errorf("%s %q leads out of the document", key, common.Shorten(text))
			case key == "$id" && isText:
				return errors.New("$id is not supported")
			case key == "$schema" && text != "https://json-schema.org/draft/2020-12/schema":
				return errors.New("$schema must be that of 2020-12")
			}
			if err := closed(v[key], depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, one := range v {
			if err := closed(one, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}
