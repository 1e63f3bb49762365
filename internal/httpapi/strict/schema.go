package strict

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"carillon/internal/common"
)

// maxFaults bounds the list of faults in a response.
const maxFaults = 64

// Checker checks a parsed JSON value against a schema of the document and collects all faults.
// Unlike huma's check, it compares field names exactly, assigns each fault a code, and quotes
// excerpts only.
type Checker struct {
	Schemas huma.Registry
	// Shape leaves out checks that the receiving code does itself with better messages: enums,
	// patterns and bounds, and required fields below the root.
	Shape bool
	Root  string // location of the body
	// Patch accepts null for all optional fields, and requires none.
	Patch bool
	// PatchAt is the location of a merge patch within the body; empty for none.
	PatchAt string
	Faults  []common.Fault

	searched int // similar names
}

// Add adds a fault, up to the maximum number.
func (c *Checker) Add(at, code string, value any, format string, args ...any) *common.Fault {
	fault := common.Fault{Location: at, Code: code, Value: quoted(value), Message: fmt.Sprintf(format, args...)}
	if len(c.Faults) == maxFaults {
		return &fault
	}
	c.Faults = append(c.Faults, fault)
	return &c.Faults[len(c.Faults)-1]
}

// quoted returns what may be repeated of a value.
func quoted(v any) any {
	switch v := v.(type) {
	case string:
		return common.Excerpt(v)
	case json.Number:
		return common.Excerpt(v.String())
	case bool:
		return v
	}
	return nil
}

// Check checks a value at a location against a schema.
func (c *Checker) Check(s *huma.Schema, at string, v any) {
	if s.Ref != "" {
		s = c.Schemas.SchemaFromRef(s.Ref)
	}
	if v == nil && s.Nullable {
		return
	}
	if at == c.PatchAt && !c.Patch {
		c.Patch = true
		defer func() { c.Patch = false }()
	}
	if len(s.OneOf) > 0 {
		s = c.variant(s, v)
	}
	switch s.Type {
	case huma.TypeObject:
		c.object(s, at, v)
	case huma.TypeArray:
		list, ok := v.([]any)
		if !ok {
			c.Add(at, "type", v, "must be an array")
			return
		}
		for i, item := range list {
			c.Check(s.Items, fmt.Sprintf("%s[%d]", at, i), item)
		}
	case huma.TypeString:
		text, ok := v.(string)
		if !ok {
			c.Add(at, "type", v, "must be a string")
			return
		}
		if !c.Shape || s.Format != "" {
			c.text(s, at, text)
		}
	case huma.TypeInteger, huma.TypeNumber:
		c.number(s, at, v)
	case huma.TypeBoolean:
		if _, ok := v.(bool); !ok {
			c.Add(at, "type", v, "must be true or false")
		}
	}
}

// variant returns which of several schemas a value is checked against: that of its kind, and that of an object for a
// value of another kind.
func (c *Checker) variant(s *huma.Schema, v any) *huma.Schema {
	kind, other := kindOf(v), s
	for _, one := range s.OneOf {
		if one.Ref != "" {
			one = c.Schemas.SchemaFromRef(one.Ref)
		}
		switch one.Type {
		case kind:
			return one
		case huma.TypeObject:
			other = one
		}
	}
	return other
}

// kindOf returns the type that the schema of a value has; that of an integer for all numbers.
func kindOf(v any) string {
	switch v.(type) {
	case string:
		return huma.TypeString
	case json.Number:
		return huma.TypeInteger
	}
	return huma.TypeObject
}

func (c *Checker) object(s *huma.Schema, at string, v any) {
	m, ok := v.(map[string]any)
	if !ok {
		c.Add(at, "type", v, "must be an object")
		return
	}
	for _, name := range s.Required {
		if _, found := m[name]; !found && !c.Patch && (!c.Shape || at == c.Root) {
			c.Add(at+"."+name, "required", nil, "is required")
		}
	}
	values, _ := s.AdditionalProperties.(*huma.Schema)
	for _, name := range slices.Sorted(maps.Keys(m)) {
		in := at + "." + common.Excerpt(name)
		property := s.Properties[name]
		switch {
		case property != nil:
			// Null means that an optional field is absent.
			if m[name] != nil || slices.Contains(s.Required, name) && !c.Patch {
				c.Check(property, in, m[name])
			}
		case values != nil && m[name] == nil && c.Patch:
		case values != nil:
			c.Check(values, in, m[name])
		case s.AdditionalProperties != true && s.Type != "":
			c.Add(in, "unknown", nil, "is not a known field").Hint = c.meant(name,
				slices.Sorted(maps.Keys(s.Properties)))
		}
	}
}

// mostMeant bounds the similar names that are searched for in one document.
const mostMeant = 20

// meant returns a hint with the known name that was probably meant; empty if there is none.
func (c *Checker) meant(name string, known []string) string {
	if c.searched++; c.searched > mostMeant {
		return ""
	}
	near := common.Nearest(name, known)
	if ours := alsoCalled[name]; slices.Contains(known, ours) {
		near = ours
	}
	if near == "" {
		return ""
	}
	return "did you mean " + near + "?"
}

func (c *Checker) number(s *huma.Schema, at string, v any) {
	n, ok := v.(json.Number)
	if !ok {
		c.Add(at, "type", v, "must be a number")
		return
	}
	f, err := n.Float64()
	if s.Type == huma.TypeInteger {
		_, err = strconv.ParseInt(n.String(), 10, 64)
	}
	switch {
	case err != nil && s.Type == huma.TypeInteger:
		c.Add(at, "integer", v, "must be a whole number")
	case err != nil:
		c.Add(at, "number", v, "must be a number")
	case c.Shape:
	case s.Minimum != nil && f < *s.Minimum:
		c.Add(at, "range", v, "must be at least %.0f", *s.Minimum).With("least", *s.Minimum)
	case s.Maximum != nil && f > *s.Maximum:
		c.Add(at, "range", v, "must be at most %.0f", *s.Maximum).With("most", *s.Maximum)
	}
}

func (c *Checker) text(s *huma.Schema, at, text string) {
	if len(s.Enum) > 0 && !slices.Contains(s.Enum, any(text)) {
		names := make([]string, len(s.Enum))
		for i, e := range s.Enum {
			names[i] = fmt.Sprint(e)
		}
		c.Add(at, "enum", text, "must be one of %s", strings.Join(names, ", ")).With("allowed",
			strings.Join(names, ", ")).Hint = c.meant(text, names)
		return
	}
	if s.MaxLength != nil && utf8.RuneCountInString(text) > *s.MaxLength {
		c.Add(at, "too_long", text, "must be at most %d characters", *s.MaxLength).With("characters", *s.MaxLength)
	}
	if s.MinLength != nil && utf8.RuneCountInString(text) < *s.MinLength {
		c.Add(at, "required", text, "must not be empty")
	}
	if s.Format == "date-time" {
		if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
			c.Add(at, "time", text, "must be an RFC 3339 time such as 2026-12-01T09:00:00+08:00")
		}
	}
	switch s.Pattern {
	case "":
	case common.NamePattern:
		if !common.ValidName(text) {
			c.Add(at, "name", text, "%s", common.NameRule)
		}
	case common.GroupPattern:
		if !common.ValidGroup(text) {
			c.Add(at, "name", text, "%s", common.GroupRule)
		}
	case common.SeriesPattern:
		if !common.ValidSeries(text) {
			c.Add(at, "name", text, "%s", common.NameRule)
		}
	case runPattern:
		if !runID.MatchString(text) {
			c.Add(at, "run_id", text, "is not a run id")
		}
	case common.FirePattern:
		if !fireID.MatchString(text) {
			c.Add(at, "fire_id", text, "is not the id of a fire or run")
		}
	default:
		// Patterns of the document are constants; one that does not compile fails every test.
		if matched, err := regexp.MatchString(s.Pattern, text); err != nil || !matched {
			c.Add(at, "pattern", text, "must match %s", s.Pattern).With("pattern", s.Pattern)
		}
	}
}

// runPattern is the pattern of run ids, as in RunPath.
const runPattern = `^[a-z0-9]{1,32}\.(d-?[a-z0-9]{1,40}\.)?[a-z0-9]{1,40}\.[0-9]{1,9}$`

var (
	runID  = regexp.MustCompile(runPattern)
	fireID = regexp.MustCompile(common.FirePattern)
)

// Parameter checks a path or query parameter after converting its text to its schema's type.
func (c *Checker) Parameter(p *huma.Param, text string) {
	at := p.In + "." + p.Name
	switch p.Schema.Type {
	case huma.TypeInteger, huma.TypeNumber:
		c.Check(p.Schema, at, json.Number(text))
	case huma.TypeBoolean:
		if text != "true" && text != "false" {
			c.Add(at, "type", text, "must be true or false")
		}
	case huma.TypeArray:
		for item := range strings.SplitSeq(text, ",") {
			c.Check(p.Schema.Items, at, item)
		}
	default:
		c.Check(p.Schema, at, text)
	}
}
