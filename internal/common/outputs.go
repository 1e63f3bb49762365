package common

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of the outputs of a run.
const (
	MaxOutputs      = 32
	MaxOutputValue  = 4 << 10
	MaxOutputValues = 16 << 10 // all values of a run, without its list
	MaxOutputItems  = 10_000   // of a list
	MaxOutputList   = 128 << 10
	MaxCollected    = 1 << 10 // of an item of a map that collects it
)

var outputPattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,62}$`)

// ValidOutput reports whether a text may name an output. Such a name is safe as a file name and in an expression.
func ValidOutput(s string) bool { return outputPattern.MatchString(s) }

// Output declares a value that a run produces. The JSON of one that has a value only is the value.
type Output struct {
	List     bool    `json:"list,omitempty" doc:"The output is a list, one item per line; at most one output is."`
	Required bool    `json:"required,omitempty" doc:"A run that succeeds without this output fails."`
	Pointer  string  `json:"pointer,omitempty" maxLength:"256" doc:"Of a job of the type http: where the value is in a JSON body, as a JSON pointer (RFC 6901)." example:"/id"`
	Default  *string `json:"default,omitempty" doc:"The value if the run does not report it, or the step does not run. Without it, a step that reads a value that does not exist is refused."`
	Value    string  `json:"value,omitempty" doc:"The value of an output of a flow: a text with references. The output may be this text, in place of an object."`
}

// plainOutput has the fields of an output, and no methods.
type plainOutput Output

// UnmarshalJSON decodes a value or an object. Unknown fields are ignored, as in all stored data: a newer version may
// have written them. They are rejected where jobs are sent.
func (o *Output) UnmarshalJSON(data []byte) error {
	*o = Output{}
	if isText(data) {
		return json.Unmarshal(data, &o.Value)
	}
	return json.Unmarshal(data, (*plainOutput)(o))
}

// MarshalJSON encodes the output as its value where it has nothing else.
func (o Output) MarshalJSON() ([]byte, error) {
	if o.Value != "" && o == (Output{Value: o.Value}) {
		return encodePlain(o.Value)
	}
	return encodePlain(plainOutput(o))
}

// hasDefault reports whether an output has a default.
func hasDefault(outputs map[string]Output) bool {
	for _, o := range outputs {
		if o.Default != nil {
			return true
		}
	}
	return false
}

// OutputStatus and OutputDuration are outputs of each run of the type http.
const (
	OutputStatus   = "status"
	OutputDuration = "durationMs"
)

// HasOutput reports whether a run of a type reports an output.
func HasOutput(outputs map[string]Output, typeName, name string) bool {
	_, declared := outputs[name]
	return declared || typeName == TypeHTTP && (name == OutputStatus || name == OutputDuration)
}

// pointers checks the pointers of the outputs of a type.
func (c *checker) pointers(outputs map[string]Output, typeName string) {
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		at, p := "outputs."+Excerpt(name), outputs[name].Pointer
		switch {
		case typeName == TypeHTTP && (name == OutputStatus || name == OutputDuration):
			c.add(at, "type_reserved", name, "is reserved: each run of the type http has this output")
		case typeName == TypeHTTP && p == "":
			c.add(at+".pointer", "required", nil, "is required with the type http")
		case typeName != TypeHTTP && p != "":
			c.add(at+".pointer", "exclusive", nil, "has no meaning without the type http").With("without", "type")
		case p != "" && !pointerPattern.MatchString(p):
			c.add(at+".pointer", "pointer", p, "is not a JSON pointer (RFC 6901), such as /items/0/id")
		}
	}
}

var pointerPattern = regexp.MustCompile(`^(/([^~/]|~[01])*)+$`)

// outputs checks the outputs of a command or of a type.
func (c *checker) outputs(outputs map[string]Output, typeName string) {
	c.pointers(outputs, typeName)
	c.outputNames(outputs)
	lists := 0
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if outputs[name].Value != "" {
			f := c.add("outputs."+Excerpt(name), "exclusive", nil, "cannot have a value: the run reports it")
			f.Hint = "write {} here, and let the command write the value to the file $CARILLON_OUTPUT/NAME"
			f.With("without", "steps")
		}
		c.outputDefault("outputs."+Excerpt(name), outputs[name])
		if outputs[name].List {
			lists++
		}
	}
	if lists > 1 {
		c.add("outputs", "too_many", lists, "must contain at most one list").With("most", 1)
	}
}

// flowOutputs checks the outputs of a flow; its references are checked with the steps.
func (c *checker) flowOutputs(outputs map[string]Output) {
	c.outputNames(outputs)
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		location := "outputs." + Excerpt(name)
		switch o := outputs[name]; {
		case o.List || o.Required:
			c.add(location, "exclusive", nil, "cannot be a list or required: an output of a flow has a value only").
				With("beside", "steps")
		case o.Value == "":
			f := c.add(location, "required", nil, "must have a value: a flow has no command that reports it")
			f.Hint = "write the value here, such as ${{ steps.extract.outputs.day }}"
		default:
			c.text(location, o.Value)
			c.outputDefault(location, o)
		}
	}
}

// outputDefault checks the default of an output.
func (c *checker) outputDefault(location string, o Output) {
	if o.Default == nil {
		return
	}
	if o.Required {
		c.add(location+".default", "exclusive", nil, "has no meaning with required").With("beside", "required")
	}
	if _, fault := o.Parse([]byte(*o.Default)); fault != "" {
		f := c.add(location+".default", "output_value", Shorten(*o.Default), "is no value of an output: at most 4 KiB "+
			"of text, or 128 KiB and 10,000 items for a list")
		f.With("fault", fault)
	}
}

func (c *checker) outputNames(outputs map[string]Output) {
	c.most("outputs", len(outputs), MaxOutputs)
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if !ValidOutput(name) {
			c.add("outputs", "env_name", name, "names must be letters, digits and '_', and not begin with a digit")
		}
	}
}

// Limit returns the maximum size of the output's value in bytes.
func (o Output) Limit() int {
	if o.List {
		return MaxOutputList
	}
	return MaxOutputValue
}

// Parse returns the value that a file of the output holds: one trailing newline is removed. The fault is a code for
// translation, empty if there is none.
func (o Output) Parse(data []byte) (value, fault string) {
	value = strings.TrimSuffix(string(data), "\n")
	switch {
	case len(data) > o.Limit()+1 || len(value) > o.Limit():
		return "", "too_large"
	case !utf8.ValidString(value) || strings.ContainsRune(value, 0):
		return "", "not_text"
	case o.List && strings.Count(value, "\n") >= MaxOutputItems:
		return "", "too_many_items"
	}
	return value, ""
}
