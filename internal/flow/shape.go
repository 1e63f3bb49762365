package flow

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"carillon/internal/common"
)

// hintJoin explains steps that run nothing.
const hintJoin = "a step with join runs nothing: it can have name, title, after, rule and when"

// kind checks that a step is exactly one of command, job, approval, wait and join, and has no field of another kind.
func (b *builder) kind(i int) {
	def := b.graph.steps[i].def
	command := def.Command != "" || len(def.Args) > 0 || def.IsTyped()
	switch {
	case !command && def.Job == "" && def.Approval == nil && def.Wait == nil && !def.Join:
		b.add(at(i, "command"), "required", nil, "is required, unless args, job, approval, wait or join is given").
			Hint = "a step that runs nothing has join: true"
	case def.Join && (command || def.Job != "" || def.Approval != nil || def.Wait != nil):
		b.add(at(i, "join"), "exclusive", nil, "cannot stand beside command, args, job, approval and wait").
			With("beside", "command").Hint = hintJoin
	case def.Job != "" && (command || def.Approval != nil):
		b.add(at(i, "job"), "exclusive", nil, "cannot stand beside command, args and approval").
			With("beside", "command")
	case def.Approval != nil && command:
		b.add(at(i, "approval"), "exclusive", nil, "cannot stand beside command and args").With("beside", "command")
	case def.Wait != nil && (command || def.Job != "" || def.Approval != nil):
		b.add(at(i, "wait"), "exclusive", nil, "cannot stand beside command, args, job and approval").
			With("beside", "command")
	}
	foreign := func(without string, fields ...string) {
		value := reflect.ValueOf(def).Elem()
		for _, field := range fields {
			if f := value.FieldByName(field); !f.IsZero() {
				name := strings.ToLower(field[:1]) + field[1:]
				if def.Join {
					b.besideJoin(i, name)
					continue
				}
				b.add(at(i, name), "exclusive", nil, "has no meaning without %s", without).With("without", without)
			}
		}
	}
	inline := []string{"Type", "With",
		"Stdin", "Shell", "Env", "WorkDir", "User", "Timeout", "KillGrace", "MemoryMax", "TasksMax",
		"SuccessExitCodes", "Output", "Outputs", "OnLost", "LostAfter", "Placement", "Priority", "Slots"}
	if def.Kind() != common.InlineStep {
		foreign("command", inline...)
	}
	if !def.Kind().Runs() {
		foreign("command", "Retry")
	}
	if def.Job == "" {
		foreign("job", "Params")
	}
	if def.Join {
		b.joinFields(i)
	}
	for _, waits := range []struct {
		kind string
		is   bool
	}{{"approval", def.Approval != nil}, {"wait", def.Wait != nil}} {
		if waits.is && def.ForEach != nil {
			b.add(at(i, "forEach"), "exclusive", nil, "cannot stand beside %s", waits.kind).With("beside", waits.kind)
		}
		if waits.is && def.Finally {
			b.add(at(i, waits.kind), "exclusive", nil, "cannot stand beside finally").With("beside", "finally")
		}
	}
}

// joinFields checks the fields of a step that runs nothing, other than those of runs.
func (b *builder) joinFields(i int) {
	def := b.graph.steps[i].def
	for _, f := range []struct {
		name  string
		given bool
	}{{"allowFailure", def.AllowFailure}, {"forEach", def.ForEach != nil}, {"finally", def.Finally}} {
		if f.given {
			b.besideJoin(i, f.name)
		}
	}
}

func (b *builder) besideJoin(i int, field string) {
	b.add(at(i, field), "exclusive", nil, "cannot stand beside join").With("beside", "join").Hint = hintJoin
}

// cleanUp checks a clean-up step.
func (b *builder) cleanUp(i int) {
	def := b.graph.steps[i].def
	if !def.Finally {
		return
	}
	if def.Rule != "" {
		b.add(at(i, "rule"), "exclusive", nil, "cannot stand beside finally: the step runs however others end").
			With("beside", "finally")
	}
	for n := range def.After {
		if e := &def.After[n]; e.On != "" || len(e.ExitCodes) > 0 {
			b.add(edgeAt(i, n), "exclusive", nil, "cannot have a condition beside finally: use when").
				With("beside", "finally")
		}
	}
	if v, err := def.Timeout.Value(); def.Timeout != "" && err == nil &&
		(v < time.Millisecond || v > common.MaxCleanUpTimeout) {
		b.add(at(i, "timeout"), "range", def.Timeout, "must be from 1ms to 1h with finally").
			With("least", "1ms", "most", "1h")
	}
}

// rule checks how a step combines its edges.
func (b *builder) rule(i int) {
	def := b.graph.steps[i].def
	if def.Rule != "" && !slices.Contains(common.Rules[:], def.Rule) {
		b.enum(at(i, "rule"), string(def.Rule), texts(common.Rules[:]))
	}
	if (def.Rule.Any() || def.Rule == common.RuleNoneFailedOneSuccess) && len(def.After) == 0 {
		b.add(at(i, "rule"), "exclusive", nil, "has no meaning without after").With("without", "after")
	}
	for n := range def.After {
		e := &def.After[n]
		if e.On != "" && !slices.Contains(common.Conditions[:], e.On) {
			b.enum(edgeAt(i, n)+".on", string(e.On), texts(common.Conditions[:]))
		}
		if e.On != "" && len(e.ExitCodes) > 0 {
			b.add(edgeAt(i, n)+".exitCodes", "exclusive", nil, "cannot stand beside on").With("beside", "on")
		}
		if len(e.ExitCodes) > common.MaxExitCodes {
			b.add(edgeAt(i, n)+".exitCodes", "too_many", len(e.ExitCodes), "must be at most %d", common.MaxExitCodes).
				With("most", common.MaxExitCodes)
		}
		for _, code := range e.ExitCodes {
			if code < 0 || code > 255 {
				b.add(edgeAt(i, n)+".exitCodes", "range", code, "must be from 0 to 255").With("least", 0, "most", 255)
			}
		}
		if source, known := b.graph.index[e.Step]; known && len(e.ExitCodes) > 0 {
			if s := &b.graph.steps[source]; s.isMap() || !s.def.Kind().Runs() {
				b.add(edgeAt(i, n)+".exitCodes", "reference", e.Step, "names a step without an exit code")
			}
		}
	}
}

func (b *builder) enum(location, value string, known []string) {
	allowed := strings.Join(known, ", ")
	f := b.add(location, "enum", value, "must be one of %s", allowed).With("allowed", allowed)
	if b.meant++; b.meant > mostMeant {
		return
	}
	if near := common.Nearest(value, known); near != "" {
		f.Hint = "did you mean " + near + "?"
	}
}

func texts[T ~string](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// collect checks the output that a map collects. Those of a job are known once it runs.
func (b *builder) collect(i int) {
	def := b.graph.steps[i].def
	key := def.ForEach.Collect
	switch {
	case key == "":
	case !common.ValidOutput(key):
		b.add(at(i, "forEach.collect"), "env_name", key,
			"must be letters, digits and '_', and not begin with a digit")
	case def.Kind() != common.InlineStep:
	case !common.HasOutput(def.Outputs, def.Type, key):
		b.add(at(i, "forEach.collect"), "reference", key, "is not an output of the step").Hint =
			"declare it: outputs: {" + key + ": {}}"
	case def.Outputs[key].List:
		b.add(at(i, "forEach.collect"), "reference", key, "is a list: an item adds one value to the list of the step")
	}
}

// forEach checks the list of a map.
func (b *builder) forEach(i int) {
	f := b.graph.steps[i].def.ForEach
	if f == nil {
		return
	}
	number := func(name string, n, most int) {
		if n < 0 || n > most {
			b.add(at(i, "forEach."+name), "range", n, "must be at most %d", most).With("most", most)
		}
	}
	number("concurrency", f.Concurrency, common.MaxConcurrency)
	number("maxFailures", f.MaxFailures, common.MaxOutputItems)
	number("items", len(f.Items), common.MaxOutputItems)
	switch {
	case f.List != "" && len(f.Items) > 0:
		b.add(at(i, "forEach.list"), "exclusive", nil, "cannot stand beside items").With("beside", "items")
	case f.List == "" && f.Items == nil:
		b.add(at(i, "forEach.items"), "required", nil, "is required, unless list is given")
	}
	size := 0
	for n, item := range f.Items {
		size += len(item) + 1
		if fault := itemFault(item); fault != "" {
			b.add(at(i, "forEach.items["+itoa(n)+"]"), "invalid", item, "%s", fault)
		}
	}
	if size > common.MaxOutputList {
		b.add(at(i, "forEach.items"), "too_large", nil, "must be at most 128 KiB").With("size", "128 KiB")
	}
	name := f.Variable()
	def := b.graph.steps[i].def
	b.collect(i)
	_, inEnv := def.Env[name]
	_, inParams := def.Params[name]
	switch {
	case !common.ValidVariable(name):
		b.add(at(i, "forEach.as"), "env_name", name,
			"must be letters, digits and '_', and not begin with a digit")
	case common.DecidesWhatRuns(name):
		b.add(at(i, "forEach.as"), "env_reserved", name,
			"cannot hold the item: the variable decides what a run executes, or is set by the worker")
	case inEnv || inParams:
		b.add(at(i, "forEach.as"), "exclusive", name, "stands in env or params as well: give it in one place").
			With("beside", "env")
	}
}
