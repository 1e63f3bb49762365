package common

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func typed(change ...func(*Job)) *Job {
	j := &Job{Name: "a", Type: "sql", With: With{"dsn": "secret:db-password"}}
	for _, c := range change {
		c(j)
	}
	return j
}

// reporting sets a type and one output.
func reporting(name, output, pointer string) *Job {
	return typed(func(j *Job) { j.Type, j.Outputs = name, map[string]Output{output: {Pointer: pointer}} })
}

// holding sets a text of with.
func holding(text string, change ...func(*Job)) *Job {
	return typed(append(change, func(j *Job) { j.With["x"] = text })...)
}

func TestTypeFaults(t *testing.T) {
	deep := any("x")
	for range MaxWithDepth {
		deep = map[string]any{"a": deep}
	}
	for name, c := range map[string]struct {
		job  *Job
		want string // location and code; empty: valid
	}{
		"plug-in":            {typed(), ""},
		"shell":              {typed(func(j *Job) { j.Type, j.With, j.Command = "shell", nil, "true" }), ""},
		"command":            {typed(func(j *Job) { j.Command = "true" }), "command exclusive"},
		"args":               {typed(func(j *Job) { j.Args = []string{"true"} }), "args exclusive"},
		"shell of a type":    {typed(func(j *Job) { j.Shell = "/bin/sh" }), "shell exclusive"},
		"stdin":              {typed(func(j *Job) { j.Stdin = "x" }), "stdin exclusive"},
		"invalid name":       {typed(func(j *Job) { j.Type = "SQL" }), "type type"},
		"reserved":           {typed(func(j *Job) { j.Type = "approval" }), "type type_reserved"},
		"with without type":  {typed(func(j *Job) { j.Type, j.Command = "", "true" }), "with exclusive"},
		"too large":          {holding(strings.Repeat("a", MaxWithBytes)), "with too_large"},
		"too deep":           {typed(func(j *Job) { j.With["x"] = deep }), "with too_deep"},
		"NUL":                {typed(func(j *Job) { j.With["x"] = []any{"a\x00"} }), "with.x[0] nul"},
		"secret name":        {typed(func(j *Job) { j.With["x"] = "secret:A B" }), "with.x secret_name"},
		"unknown value":      {typed(func(j *Job) { j.With["x"] = "${DAY}" }), "with.x unknown"},
		"no value":           {typed(func(j *Job) { j.With["x"] = "${DAY" }), "with.x placeholder"},
		"value of a param":   {typed(func(j *Job) { j.With["x"], j.Params = "${DAY}", Params{"DAY": {}} }), ""},
		"value of env":       {holding("${DAY}", func(j *Job) { j.Env = map[string]string{"DAY": "1"} }), ""},
		"value of the run":   {typed(func(j *Job) { j.With["x"] = "${CARILLON_PLANNED_AT}" }), ""},
		"other run value":    {typed(func(j *Job) { j.With["x"] = "${CARILLON_WORKER}" }), "with.x unknown"},
		"dollar":             {typed(func(j *Job) { j.With["x"] = "$${DAY} costs $5" }), ""},
		"user of a request":  {typed(func(j *Job) { j.Type, j.User = "http", "www" }), "user exclusive"},
		"user of a plug-in":  {typed(func(j *Job) { j.User = "www" }), ""},
		"memory, a request":  {typed(func(j *Job) { j.Type, j.MemoryMax = "http", "1GiB" }), "memoryMax exclusive"},
		"pointer":            {reporting("sql", "a", "/a"), "outputs.a.pointer exclusive"},
		"http output":        {reporting("http", "a", ""), "outputs.a.pointer required"},
		"http pointer":       {reporting("http", "a", "/a~1b/0"), ""},
		"http bad pointer":   {reporting("http", "a", "a"), "outputs.a.pointer pointer"},
		"http always output": {reporting("http", "status", "/a"), "outputs.status type_reserved"},
	} {
		var got []string
		for _, f := range c.job.Faults() {
			got = append(got, f.Location+" "+f.Code)
		}
		if c.want == "" && len(got) > 0 || c.want != "" && !slices.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestWithKeepsNumbers(t *testing.T) {
	const text = `{"name":"a","type":"sql","with":{"big":12345678901234567890,"list":[1.50,{"x":null}]}}`
	var j Job
	if err := json.Unmarshal([]byte(text), &j); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(&j)
	if err != nil || string(data) != text {
		t.Errorf("%s, %v", data, err)
	}
}

func TestPieces(t *testing.T) {
	for text, want := range map[string][]Piece{
		"":              nil,
		"a":             {{Text: "a"}},
		"$$${A}$":       {{Text: "$"}, {Name: "A"}, {Text: "$"}},
		"a${A}${B_1}b":  {{Text: "a"}, {Name: "A"}, {Name: "B_1"}, {Text: "b"}},
		"$HOME costs $": {{Text: "$HOME costs $"}},
	} {
		got, err := Pieces(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"${", "${}", "${A", "${{ steps.a }}", "${1}", "${A B}"} {
		if _, err := Pieces(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

func TestNeedsOfTypes(t *testing.T) {
	s := StoredJob{Job: *typed()}
	s.NoteNeeds([]string{"type:old", "future"})
	if want := "[type:sql secrets future]"; fmt.Sprint(s.Needs) != want {
		t.Errorf("%v, want %s", s.Needs, want)
	}
	if s.ScheduleNeeds()[0] != "future" || len(s.ScheduleNeeds()) != 1 {
		t.Errorf("a type was taken for a change of the schedule: %v", s.ScheduleNeeds())
	}
	steps := []Step{{Name: "a", Type: "http"}, {Name: "b", Command: "true"},
		{Name: "c", Type: "shell", Command: "true"}}
	flow := StoredJob{Job: Job{Name: "f", Steps: steps}}
	if want := "[flows types]"; fmt.Sprint(flow.NeededFeatures()) != want {
		t.Errorf("%v, want %s", flow.NeededFeatures(), want)
	}
	flow.Steps, flow.Flow = nil, &FlowRef{Types: StepTypes(steps)} // as it is stored
	if want := "[flows types]"; fmt.Sprint(flow.NeededFeatures()) != want {
		t.Errorf("%v, want %s", flow.NeededFeatures(), want)
	}
}

func TestOfSomeWorkers(t *testing.T) {
	for feature, want := range map[string]bool{"type:sql": true, "type:http": false, "types": false, "outputs": false} {
		if OfSomeWorkers(feature) != want {
			t.Errorf("%s: %v", feature, !want)
		}
	}
}

func TestSecretTexts(t *testing.T) {
	j := typed(func(j *Job) {
		j.With["query"], j.With["plain"] = "select '${TOKEN}'", "${DAY}"
		j.Env = map[string]string{"TOKEN": "secret:token", "DAY": "1"}
	})
	if want := "[dsn query]"; fmt.Sprint(j.SecretTexts()) != want {
		t.Errorf("%v, want %s", j.SecretTexts(), want)
	}
	if want := "map[TOKEN:token with.dsn:db-password]"; fmt.Sprint(j.SecretRefs()) != want {
		t.Errorf("%v, want %s", j.SecretRefs(), want)
	}
}
