package common

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Types of jobs that every worker of this version has. All others are plug-ins.
const (
	TypeShell = "shell" // a command
	TypeHTTP  = "http"  // a request
)

// Bounds of a job's with.
const (
	MaxWithBytes = 32 << 10
	MaxWithDepth = 8
)

// TypePattern is the pattern of names of types, for schemas.
const TypePattern = `^[a-z][a-z0-9-]{0,30}$`

var typePattern = regexp.MustCompile(TypePattern)

// ValidType reports whether a text may name a type. Such a name is safe as part of an etcd key and of a file name.
func ValidType(s string) bool { return typePattern.MatchString(s) }

// ReservedType reports whether a name is not available to plug-ins.
func ReservedType(s string) bool {
	return s == TypeShell || s == TypeHTTP || s == TypeFunc || s == "approval"
}

// typeNeed begins the feature of a worker that has a type.
const typeNeed = "type:"

// FeatureOfType returns the feature of workers that have a type.
func FeatureOfType(name string) string { return typeNeed + name }

// OfSomeWorkers reports whether a feature is that of a function, or of a type which is not built in: a worker of any
// version may lack it.
func OfSomeWorkers(feature string) bool {
	name, isType := strings.CutPrefix(feature, typeNeed)
	return isType && !ReservedType(name) || strings.HasPrefix(feature, funcNeed)
}

// Understood reports whether this version knows what a feature means.
func Understood(feature string) bool {
	return strings.HasPrefix(feature, typeNeed) || strings.HasPrefix(feature, funcNeed) ||
		slices.Contains(Features[:], feature)
}

// TypeName returns the name of the job's type.
func (j *Job) TypeName() string { return or(j.Type, TypeShell) }

// IsTyped reports whether the job has a type in place of a command.
func (j *Job) IsTyped() bool { return j.TypeName() != TypeShell }

// HasNoProcess reports whether a run of the job is no process of its own: it is part of its worker.
func (j *Job) HasNoProcess() bool { return j.TypeName() == TypeHTTP || j.TypeName() == TypeFunc }

// With holds the settings of a job with a type. Numbers are kept as they are written.
type With map[string]any

// UnmarshalJSON reads an object.
func (w *With) UnmarshalJSON(data []byte) error {
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	var values map[string]any
	if err := in.Decode(&values); err != nil {
		return err
	}
	*w = values
	return nil
}

// Strings calls visit for each text, with its location such as headers.Accept or expect.status[0], in order.
func (w With) Strings(visit func(location, text string)) {
	w.Map(func(location, text string) (any, error) { // which never fails
		visit(location, text)
		return text, nil
	})
}

// Map returns a copy with each text replaced. The first error ends it.
func (w With) Map(replace func(location, text string) (any, error)) (With, error) {
	if w == nil {
		return nil, nil
	}
	mapped, err := mapTexts("", map[string]any(w), replace)
	if err != nil {
		return nil, err
	}
	return With(mapped.(map[string]any)), nil
}

func mapTexts(at string, value any, replace func(location, text string) (any, error)) (any, error) {
	switch v := value.(type) {
	case string:
		return replace(at, v)
	case map[string]any:
		out := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			below, err := mapTexts(strings.TrimPrefix(at+"."+Excerpt(name), "."), v[name], replace)
			if err != nil {
				return nil, err
			}
			out[name] = below
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i := range v {
			below, err := mapTexts(fmt.Sprintf("%s[%d]", at, i), v[i], replace)
			if err != nil {
				return nil, err
			}
			out[i] = below
		}
		return out, nil
	}
	return value, nil
}

// Piece is a part of a text of with: a literal, or the name of a value that replaces it.
type Piece struct{ Text, Name string }

var errPlaceholder = errors.New("contains ${ without the name of a variable and }; write $$ for a dollar sign")

// Pieces parses a text of with. ${NAME} is a value, and $$ a dollar sign.
func Pieces(text string) (pieces []Piece, err error) {
	literal := strings.Builder{}
	flush := func() {
		if literal.Len() > 0 {
			pieces = append(pieces, Piece{Text: literal.String()})
			literal.Reset()
		}
	}
	for {
		before, rest, found := strings.Cut(text, "$")
		literal.WriteString(before)
		switch {
		case !found:
			flush()
			return pieces, nil
		case strings.HasPrefix(rest, "$"):
			literal.WriteByte('$')
			rest = rest[1:]
		case strings.HasPrefix(rest, "{"):
			name, after, closed := strings.Cut(rest[1:], "}")
			if !closed || !envPattern.MatchString(name) {
				return nil, errPlaceholder
			}
			flush()
			pieces, rest = append(pieces, Piece{Name: name}), after
		default:
			literal.WriteByte('$')
		}
		text = rest
	}
}

// Names returns the names of the values that a text of with contains.
func Names(text string) (names []string) {
	pieces, _ := Pieces(text)
	for _, p := range pieces {
		if p.Name != "" {
			names = append(names, p.Name)
		}
	}
	return names
}

// RunNames are values that a text of with may contain besides params and env: variables of each command that the worker
// sets.
var RunNames = [...]string{"CARILLON_JOB", "CARILLON_RUN_ID", "CARILLON_PLANNED_AT", "CARILLON_ATTEMPT",
	"CARILLON_FENCE", "CARILLON_INTERVAL_START", "CARILLON_INTERVAL_END"}

// UnknownNames returns the faults of values in with that are neither in params nor in env.
func (j *Job) UnknownNames() (faults Faults) {
	j.With.Strings(func(location, text string) {
		if _, secret := SecretOf(text); secret {
			return
		}
		for _, name := range Names(text) {
			_, inParams := j.Params[name]
			_, inEnv := j.Env[name]
			if !inParams && !inEnv && !slices.Contains(RunNames[:], name) {
				faults.Add("with."+location, "unknown", name, "contains ${%s}, which is neither in params nor in env",
					Excerpt(name)).With("name", name)
			}
		}
	})
	return faults
}

// SecretTexts returns the locations in with whose text is, or contains, the value of a secret.
func (j *Job) SecretTexts() (locations []string) {
	j.With.Strings(func(location, text string) {
		_, secret := SecretOf(text)
		if secret || slices.ContainsFunc(Names(text), j.NamesSecret) {
			locations = append(locations, location)
		}
	})
	return locations
}

// NamesSecret reports whether a variable of env refers to a secret.
func (j *Job) NamesSecret(variable string) bool {
	if _, byParam := j.Params[variable]; byParam {
		return false
	}
	_, secret := SecretOf(j.Env[variable])
	return secret
}

// secretsIn adds the references to secrets of with, by location.
func (w With) secretsIn(refs map[string]string) map[string]string {
	w.Strings(func(location, text string) {
		if name, found := SecretOf(text); found {
			if refs == nil {
				refs = map[string]string{}
			}
			refs["with."+location] = name
		}
	})
	return refs
}

// typeFaults checks the type and its settings.
func (j *Job) typeFaults(c *checker) {
	none := func(location string, given bool) {
		if given {
			c.add(location, "exclusive", nil, "has no meaning with the type %s", j.TypeName()).With("beside", "type")
		}
	}
	switch {
	case !ValidType(j.TypeName()):
		c.add("type", "type", j.Type, "must be 1 to 31 characters of a–z, 0–9 and '-', and begin with a letter")
	case ReservedType(j.TypeName()) && !slices.Contains([]string{TypeShell, TypeHTTP, TypeFunc}, j.TypeName()):
		c.add("type", "type_reserved", j.Type, "is reserved")
	}
	if !j.IsTyped() {
		if j.With != nil {
			c.add("with", "exclusive", nil, "has no meaning without type").With("without", "type")
		}
		return
	}
	none("command", j.Command != "")
	none("args", len(j.Args) > 0)
	none("shell", j.Shell != "")
	none("stdin", j.Stdin != "")
	if j.HasNoProcess() {
		none("user", j.User != "")
		none("workDir", j.WorkDir != "")
		none("memoryMax", j.MemoryMax != "")
		none("tasksMax", j.TasksMax != 0)
	}
	if j.TypeName() == TypeFunc {
		j.functionFaults(c)
	}
	if data, err := json.Marshal(j.With); err != nil || len(data) > MaxWithBytes {
		c.add("with", "too_large", nil, "must be at most 32 KiB").With("size", "32 KiB")
		return
	}
	if depthOf(map[string]any(j.With)) > MaxWithDepth {
		c.add("with", "too_deep", nil, "must be at most %d levels deep", MaxWithDepth).With("most", MaxWithDepth)
		return
	}
	j.With.Strings(func(location, text string) {
		at := "with." + location
		c.text(at, text)
		if _, secret := SecretOf(text); secret {
			return // its name is checked with those of env
		}
		if _, err := Pieces(text); err != nil {
			c.add(at, "placeholder", text, "%v", err)
		}
	})
}

// depthOf returns the number of nested objects and lists.
func depthOf(value any) (depth int) {
	switch v := value.(type) {
	case map[string]any:
		for _, below := range v {
			depth = max(depth, depthOf(below))
		}
		return depth + 1
	case []any:
		for _, below := range v {
			depth = max(depth, depthOf(below))
		}
		return depth + 1
	}
	return 0
}
