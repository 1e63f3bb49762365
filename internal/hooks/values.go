package hooks

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strconv"

	"carillon/internal/common"
)

// Content is the decoded content of a delivery.
type Content struct {
	JSON any        // with numbers as json.Number; nil without a JSON body
	Form url.Values // fields of a form, and parameters of the query
}

// Values returns the parameters of a run. An optional one for which the delivery has no value, or null, is left out.
// Faults have locations of the form params.NAME.
func (h *Hook) Values(c Content) (values map[string]string, faults common.Faults) {
	values = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(h.Params)) {
		source, at := h.Params[name], "params."+common.Excerpt(name)
		found := true
		switch {
		case source.Value != nil:
			values[name] = *source.Value
		case source.Field != "":
			given := c.Form[source.Field]
			if found = len(given) > 0; len(given) > 1 {
				faults.Add(at, "duplicate", nil, "is a duplicate: the field is given %d times", len(given))
			} else if found {
				values[name] = given[0]
			}
		default:
			var text string
			var scalar bool
			if text, found, scalar = textAt(c.JSON, source.Path); !scalar {
				found = true
				faults.Add(at, "hook_scalar", nil, "must be a text, a number or a boolean in the delivery")
			} else if found {
				values[name] = text
			}
		}
		if !found && !source.Optional {
			faults.Add(at, "required", nil, "is required: the delivery has no value for it")
		}
	}
	return values, faults
}

// textAt returns the scalar at a path; found is false if there is none, or null; scalar, if there is an object or list.
func textAt(value any, path string) (text string, found, scalar bool) {
	steps, ok := parsePath(path)
	if !ok {
		return "", false, true // of a newer version
	}
	for _, step := range steps {
		switch v := value.(type) {
		case map[string]any:
			value = nil
			if !step.isIndex {
				value = v[step.name]
			}
		case []any:
			value = nil
			if step.isIndex && step.index < len(v) {
				value = v[step.index]
			}
		default:
			return "", false, true
		}
	}
	switch v := value.(type) {
	case nil:
		return "", false, true
	case string:
		return v, true, true
	case json.Number:
		return v.String(), true, true
	case bool:
		return strconv.FormatBool(v), true, true
	}
	return "", false, false
}

// step is a step of a path: the name of a member, or the index of an element.
type step struct {
	name    string
	index   int
	isIndex bool
}

var (
	namedStep   = regexp.MustCompile(`^\.([\pL\pN_-]+)`)
	indexStep   = regexp.MustCompile(`^\[([0-9]{1,4})\]`)
	quotedStep  = regexp.MustCompile(`^\["([^"\\]+)"\]`)
	quotedStep2 = regexp.MustCompile(`^\['([^'\\]+)'\]`)
)

// parsePath parses a path such as $.list[0]["a name"].
func parsePath(text string) (steps []step, ok bool) {
	if len(text) < 2 || len(text) > MaxPath || text[0] != '$' {
		return nil, false
	}
	for rest := text[1:]; rest != ""; {
		var m []string
		if m = indexStep.FindStringSubmatch(rest); m != nil {
			index, err := strconv.Atoi(m[1])
			if err != nil {
				return nil, false
			}
			steps = append(steps, step{index: index, isIndex: true})
		} else {
			for _, pattern := range []*regexp.Regexp{namedStep, quotedStep, quotedStep2} {
				if m = pattern.FindStringSubmatch(rest); m != nil {
					steps = append(steps, step{name: m[1]})
					break
				}
			}
		}
		if m == nil {
			return nil, false
		}
		rest = rest[len(m[0]):]
	}
	return steps, true
}
