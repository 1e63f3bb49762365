package trial

import (
	"maps"
	"slices"
	"strings"

	"carillon/internal/common"
	"carillon/internal/flow"
)

// mostNamed is the number of names that a hint lists.
const mostNamed = 20

// check returns what a trial gives for nodes, outputs and parameters that the flow does not have.
func (t *Trial) check(graph *flow.Graph) (faults common.Faults) {
	for _, node := range slices.Sorted(maps.Keys(t.Ends)) {
		end := t.Ends[node]
		step := stepOf(graph, "ends."+common.Excerpt(node), node, &faults)
		if step != nil && step.Kind() == common.JoinStep {
			faults.Add("ends."+common.Excerpt(node), "exclusive", node, "runs nothing that could end").
				Hint = "a step with join succeeds as soon as its dependencies are met"
			continue
		}
		if step == nil || end.Status != common.StatusSucceeded || end.Exit == nil || step.Kind() != common.InlineStep ||
			succeeds(step, *end.Exit) {
			continue
		}
		faults.Add("ends."+common.Excerpt(node), "exclusive", *end.Exit,
			"a run that ends with exit code %d does not succeed", *end.Exit).
			Hint = "add it to successExitCodes of the step, or give another end"
	}
	for _, node := range slices.Sorted(maps.Keys(t.Outputs)) {
		step := stepOf(graph, "outputs."+common.Excerpt(node), node, &faults)
		for _, name := range slices.Sorted(maps.Keys(t.Outputs[node])) {
			if step == nil {
				break
			}
			if _, known := outputOf(step, name); !known {
				hint := listed("outputs of the step", slices.Collect(maps.Keys(step.Outputs)))
				if step.Approval != nil {
					hint = listed("parameters of the approval", step.Approval.Params.Names())
				}
				faults.Add("outputs."+common.Excerpt(node)+"."+common.Excerpt(name), "unknown", name,
					"is not an output of the step").Hint = hint
			}
		}
	}
	faults = append(faults, t.answerFaults(graph)...)
	for _, f := range graph.Job().ParamFaults(t.Params) {
		if f.Code == "unknown" {
			f.Hint = listed("parameters of the flow", slices.Collect(maps.Keys(graph.Job().Params)))
		}
		faults = append(faults, f)
	}
	if t.Kill != "" && t.Kill != KillUser && t.Kill != KillTimeout && t.Kill != KillForce {
		faults.Add("kill", "enum", t.Kill, "must be %s, %s or %s", KillUser, KillTimeout, KillForce)
	}
	return faults
}

// answerFaults returns what is wrong with the values of the approvals that are approved.
func (t *Trial) answerFaults(graph *flow.Graph) (faults common.Faults) {
	for i := range graph.Len() {
		step := graph.Step(i)
		if status := t.Ends[step.Name].Status; step.Approval == nil || status != "" &&
			status != common.StatusSucceeded {
			continue
		}
		_, found := step.Approval.Params.Given(t.Outputs[step.Name])
		for _, f := range found {
			if f.Code == "unknown" { // reported with the names that there are
				continue
			}
			name, isParam := strings.CutPrefix(f.Location, "params.")
			if f.Location = "outputs." + step.Name; isParam {
				f.Location += "." + name
			}
			if f.Code == "required" {
				f.Hint = "who approves has to give it: give a value, such as --output " + step.Name + "." + name +
					"=VALUE"
			}
			faults = append(faults, f)
		}
	}
	return faults
}

// stepOf returns the step of a node; nil, with a fault, if the flow has none, or if it is no map and an item is named.
func stepOf(graph *flow.Graph, location, node string, faults *common.Faults) *common.Step {
	name, item, err := common.SplitNode(node)
	i, known := graph.Find(name)
	if err != nil || !known {
		var names []string
		for i := range graph.Len() {
			names = append(names, graph.Step(i).Name)
		}
		faults.Add(location, "unknown", node, "is not a step of the flow").Hint = listed("steps", names)
		return nil
	}
	step := graph.Step(i)
	if item >= 0 && step.ForEach == nil {
		faults.Add(location, "unknown", node, "is an item of a step without forEach")
		return nil
	}
	return step
}

// listed returns a hint that lists names, in their order for steps and else sorted.
func listed(what string, names []string) string {
	if what != "steps" {
		slices.Sort(names)
	}
	switch n := len(names); {
	case n == 0:
		return "there are no " + what
	case n > mostNamed:
		return what + ": " + strings.Join(names[:mostNamed], ", ") + ", …"
	default:
		return what + ": " + strings.Join(names, ", ")
	}
}

// checkItems returns the items that were named and do not exist. The list of a map is known once it runs.
func (t *Trial) checkItems(state *flow.State, graph *flow.Graph) (faults common.Faults) {
	named := map[string]string{}
	for node := range t.Ends {
		named[node] = "ends."
	}
	for node := range t.Outputs {
		named[node] = "outputs."
	}
	for _, node := range slices.Sorted(maps.Keys(named)) {
		name, item, _ := common.SplitNode(node) // check has accepted it
		if item < 0 {
			continue
		}
		if _, exists := state.Node(node); exists {
			continue
		}
		count := 0
		for v := range state.Nodes() {
			if v.Item >= 0 && graph.Step(v.Step).Name == name {
				count++
			}
		}
		if count > 0 {
			faults.Add(named[node]+node, "unknown", node, "is not an item of the step, which has %d: from %s to %s",
				count, common.ItemNode(name, 0), common.ItemNode(name, count-1))
		}
	}
	return faults
}
