package flow

import (
	"fmt"
	"strings"

	"carillon/internal/common"
)

// collects returns the output of its items that a map collects; empty if it collects none.
func (st *step) collects() string {
	if f := st.def.ForEach; f != nil {
		return f.Collect
	}
	return ""
}

// keepItem stores the output of an item that its map collects.
func (s *State) keepItem(i int32, item int, mark *common.Node) {
	key := s.graph.steps[i].collects()
	if key == "" {
		return
	}
	value, found := mark.Outputs[key]
	if !found {
		delete(s.collected[i], item)
		return
	}
	if s.collected == nil {
		s.collected = map[int32]map[int]string{}
	}
	if s.collected[i] == nil {
		s.collected[i] = map[int]string{}
	}
	s.collected[i][item] = value
}

// valueOf returns what an item that has succeeded adds to the list that its map collects, or why it adds nothing. kept
// is the number of kept items before it.
func (s *State) valueOf(i int32, item, kept int) (value, fault string) {
	st := &s.graph.steps[i]
	found := false
	if s.nodes[int(s.maps[i].base)+item].phase == phaseKept {
		if values := s.head.Base.Collected[st.def.Name]; kept < len(values) {
			value, found = values[kept], true
		}
	} else {
		value, found = s.collected[i][item]
	}
	if byDefault := st.def.Outputs[st.collects()].Default; !found && byDefault != nil {
		value, found = *byDefault, true
	}
	switch {
	case !found && s.acceptance(s.name(i, item)) != nil: // it has failed, and counts without a value
		return "", ""
	case !found:
		return "", fmt.Sprintf("has succeeded without it, or with more than %d bytes", common.MaxCollected)
	case len(value) > common.MaxCollected:
		return "", fmt.Sprintf("is larger than %d bytes", common.MaxCollected)
	case strings.ContainsAny(value, "\n\r"):
		return "", "has more than one line"
	}
	return value, ""
}

// succeeded calls visit for each item of a map that has succeeded, with the number of kept items before it, until it
// returns false.
func (s *State) succeeded(i int32, visit func(item, kept int) bool) {
	m, kept := s.maps[i], 0
	for item := range m.list {
		n := &s.nodes[int(m.base)+item]
		if n.decided && n.class == common.ClassSuccess && !visit(item, kept) {
			return
		}
		if n.phase == phaseKept {
			kept++
		}
	}
}

// collect returns the list that a map collects, all of whose items have ended: one line per value, in the order of the
// items. Empty values are left out, as the empty lines of every list.
func (s *State) collect(i int32) (list string, why *refusal) {
	key := s.graph.steps[i].collects()
	var b strings.Builder
	refuse := func(item int, fault string) {
		node := s.name(i, item)
		why = &refusal{code: common.ReasonOutputsInvalid, text: "the output " + key + " of item " + node + " " + fault,
			data: map[string]string{"output": key, "item": node}}
	}
	s.succeeded(i, func(item, kept int) bool {
		value, fault := s.valueOf(i, item, kept)
		if fault != "" {
			refuse(item, fault)
			return false
		}
		if value == "" {
			return true
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(value)
		return true
	})
	if why == nil && b.Len() > common.MaxOutputList {
		why = &refusal{code: common.ReasonOutputsInvalid, data: map[string]string{"output": key},
			text: fmt.Sprintf("the collected output %s is larger than %d KiB", key, common.MaxOutputList>>10)}
	}
	if why != nil {
		return "", why
	}
	return b.String(), nil
}

// gather sets the output of a map that collects one, and returns why it cannot.
func (s *State) gather(i int32) *refusal {
	key := s.graph.steps[i].collects()
	if key == "" {
		return nil
	}
	delete(s.outputs, i)
	list := ""
	if s.maps[i] != nil {
		var why *refusal
		if list, why = s.collect(i); why != nil {
			return why
		}
	}
	s.outputs[i] = map[string]string{key: list}
	return nil
}

// collectedOf returns the values of some items of a map, in the order in which these are given, for a flow run that
// keeps them.
func (s *State) collectedOf(i int32, items []int) []string {
	st := &s.graph.steps[i]
	if st.collects() == "" {
		return nil
	}
	known := map[int]string{}
	if s.maps[i] == nil { // the map itself is kept
		all := s.head.Base.CollectedOf(st.def.Name)
		for n, item := range numbers(s.head.Base.ItemsOf(st.def.Name)) {
			if n < len(all) {
				known[item] = all[n]
			}
		}
	} else {
		s.succeeded(i, func(item, kept int) bool {
			known[item], _ = s.valueOf(i, item, kept)
			return true
		})
	}
	var values []string
	for _, item := range items {
		if value, found := known[item]; found {
			values = append(values, value)
		}
	}
	return values
}

// numbers returns the numbers in a set.
func numbers(set common.Bits) (all []int) {
	for n := range 8 * len(set) {
		if set.Has(n) {
			all = append(all, n)
		}
	}
	return all
}
