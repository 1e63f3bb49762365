package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"carillon/internal/common"
	"carillon/internal/common/schedule"
	"carillon/internal/flow"
)

// flowOf reads a flow from a file with jobs, and checks it without a server. With an empty name, the file must contain
// one flow. Faults are printed, as cronctl validate prints them.
func (c *cli) flowOf(file, name string) (*flow.Graph, error) {
	docs, err := c.documents(file)
	if err != nil {
		return nil, err
	}
	at, err := choose(docs, file, name)
	if err != nil {
		return nil, err
	}
	job, faults := readJob(docs[at].data)
	if len(faults) == 0 {
		faults = append(flow.Faults(&job), timetableFaults(&job)...)
	}
	if len(faults) > 0 {
		one := checked{From: docs[at].from, Name: job.Name, Faults: faults, Warnings: []common.Fault{}}
		return nil, c.showFaulty(one)
	}
	return flow.Compile(&job)
}

// showFaulty prints the faults of a definition, and returns the exit code.
func (c *cli) showFaulty(one checked) error {
	if c.structured() {
		if err := c.print([]checked{one}); err != nil {
			return err
		}
	} else {
		c.showChecked([]checked{one})
	}
	return exitError(exitUsage)
}

// choose returns the index of the flow with a name; without one, of the only flow.
func choose(docs []document, file, name string) (int, error) {
	var flows []int
	var names []string
	for i := range docs {
		var job struct {
			Name  string
			Steps json.RawMessage
		}
		_ = json.Unmarshal(docs[i].data, &job) // what is no job has neither
		switch {
		case name != "" && job.Name == name && job.Steps == nil:
			return 0, noFlow(fmt.Sprintf("job %q has no steps", common.Shorten(name)))
		case name != "" && job.Name == name:
			return i, nil
		case job.Steps != nil:
			flows, names = append(flows, i), append(names, job.Name)
		}
	}
	switch {
	case len(flows) == 0:
		return 0, noFlow(file + " contains no flow")
	case name != "":
		return 0, hinted(common.CodeNotFound, fmt.Sprintf("%s contains no flow %q", file, common.Shorten(name)),
			"it contains "+strings.Join(names, ", "))
	case len(flows) > 1:
		return 0, invalid(fmt.Sprintf("%s contains %d flows", file, len(flows)),
			"name one of "+strings.Join(names, ", "))
	}
	return flows[0], nil
}

func noFlow(message string) error {
	return invalid(message, "a flow is a job with steps in place of a command")
}

// readJob decodes a job strictly, and returns all faults of its form, with their places.
func readJob(data []byte) (job common.Job, faults common.Faults) {
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	var value any
	if err := in.Decode(&value); err != nil {
		faults.Add("", "json", nil, "is not valid JSON: %v", err)
		return job, faults
	}
	checkForm(value, reflect.TypeFor[common.Job](), "", &faults)
	if err := json.Unmarshal(data, &job); err != nil && len(faults) == 0 {
		location, message := "", err.Error()
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			location, message = wrong.Field, "cannot be "+article(wrong.Value)
		}
		faults.Add(location, "type", nil, "%s", message)
	}
	job.DefaultTimezone("UTC") // as the server of a cluster without a setting
	return job, faults
}

// article returns a kind of JSON value with its article.
func article(kind string) string {
	if strings.HasPrefix(kind, "array") || strings.HasPrefix(kind, "object") {
		return "an " + kind
	}
	return "a " + kind
}

// maxFormFaults bounds the faults that are listed.
const maxFormFaults = 100

// checkForm adds the fields that a type does not have, and values of another kind.
func checkForm(value any, t reflect.Type, at string, faults *common.Faults) {
	if value == nil || len(*faults) >= maxFormFaults {
		return // null means that a field is absent
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	object, isObject := value.(map[string]any)
	if !isObject && t.Kind() != reflect.Map && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()) {
		return // it has a short form, which it reads itself
	}
	switch t.Kind() {
	case reflect.Struct:
		if !isObject {
			faults.Add(at, "type", quotable(value), "must be an object")
			return
		}
		fields := fieldsOf(t)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			in := strings.TrimPrefix(at+"."+common.Excerpt(name), ".")
			if field, known := fields[name]; known {
				checkForm(object[name], field, in, faults)
			} else {
				fault := faults.Add(in, "unknown", nil, "is not a known field")
				if near := common.Nearest(name, slices.Sorted(maps.Keys(fields))); near != "" {
					fault.Hint = "did you mean " + near + "?"
				}
			}
		}
	case reflect.Map:
		if !isObject {
			faults.Add(at, "type", quotable(value), "must be an object")
			return
		}
		for _, name := range slices.Sorted(maps.Keys(object)) {
			checkForm(object[name], t.Elem(), at+"."+common.Excerpt(name), faults)
		}
	case reflect.Slice:
		list, isList := value.([]any)
		if !isList {
			faults.Add(at, "type", quotable(value), "must be an array")
			return
		}
		for i, item := range list {
			checkForm(item, t.Elem(), fmt.Sprintf("%s[%d]", at, i), faults)
		}
	case reflect.String:
		if _, is := value.(string); !is {
			faults.Add(at, "type", quotable(value), "must be a string")
		}
	case reflect.Bool:
		if _, is := value.(bool); !is {
			faults.Add(at, "type", quotable(value), "must be true or false")
		}
	case reflect.Int, reflect.Int64:
		if n, is := value.(json.Number); !is {
			faults.Add(at, "type", quotable(value), "must be a number")
		} else if _, err := n.Int64(); err != nil {
			faults.Add(at, "integer", n.String(), "must be a whole number")
		}
	}
}

// quotable returns what a fault may quote of a value.
func quotable(value any) any {
	switch v := value.(type) {
	case string, bool:
		return v
	case json.Number:
		return v.String()
	}
	return nil
}

// fieldsOf returns the types of the fields of a struct by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" {
			fields[name] = f.Type
		}
	}
	return fields
}

// timetableFaults lists the faults of a job's schedules that need no server.
func timetableFaults(job *common.Job) (faults common.Faults) {
	schedules := schedule.NewInterner()
	job.EachSchedule(func(at string, _ int, of *common.JobSchedule) {
		if of.CronExpr == "" {
			return
		}
		spec, err := schedule.SpecOf(job.Name, of)
		if err == nil {
			_, err = schedules.Parse(spec)
		}
		refusal, ok := errors.AsType[*schedule.Error](err)
		switch {
		case !ok:
		case refusal.Field == schedule.FieldZone:
			faults.Add(at+"timezone", refusal.Code, of.Timezone, "%s", refusal.Message).Hint = refusal.Hint
		default:
			faults.Add(at+"cronExpr", refusal.Code, of.CronExpr, "%s: %s", refusal.Field, refusal.Message).
				Hint = refusal.Hint
		}
	})
	return faults
}
