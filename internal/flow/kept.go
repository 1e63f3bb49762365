package flow

import (
	"slices"

	"carillon/internal/common"
)

// keptItems returns which items of a map with failures are kept, and the earlier number of each item of the list now;
// -1 for one that runs for the first time. They are matched by value, so that an item that was added to the list, or
// has moved in it, does not run the others again. Without kept items the map runs as a whole.
func (p *planner) keptItems(i int32) (kept common.Bits, items []item) {
	def := p.now.steps[i].def
	was := p.outcome(def.Name)
	at, known := p.before.graph.index[def.Name]
	if p.scope.Kind != ScopeFailed || def.ForEach == nil || !known || was != nil && !p.hasFailed(def.Name, was) ||
		p.hasSourceToRun(i) || p.before.graph.steps[at].collects() != p.now.steps[i].collects() {
		return nil, nil
	}
	done, before, now := p.lists(i, at)
	return match(done, before, now)
}

// match returns which items of a list are kept, and the earlier number of each.
func match(done common.Bits, before, now []string) (kept common.Bits, items []item) {
	places := map[string][]int{} // of each value, in the order of the list before
	for n, value := range before {
		if n >= len(now) || now[n] != value { // an item that has its place is itself
			places[value] = append(places[value], n)
		}
	}
	for n, value := range now {
		was := -1
		switch of := places[value]; {
		case n < len(before) && before[n] == value:
			was = n
		case len(of) > 0: // of equal values one that has succeeded first: none runs again that need not
			k := max(0, slices.IndexFunc(of, done.Has))
			was = of[k]
			places[value] = slices.Delete(of, k, k+1)
		}
		if done.Has(was) {
			kept = kept.With(n)
		}
		items = append(items, item{n, was})
	}
	return kept, items
}

// item is an item of a map.
type item struct{ now, was int }

// numbersBefore returns the earlier numbers of the items that are kept.
func numbersBefore(items []item, kept common.Bits) (all []int) {
	for _, one := range items {
		if kept.Has(one.now) {
			all = append(all, one.was)
		}
	}
	return all
}

// lists returns which items of a map had succeeded, and its list then and now; no list if one of them is not known.
func (p *planner) lists(i, at int32) (done common.Bits, before, now []string) {
	if p.before.graph.steps[at].def.ForEach == nil {
		return nil, nil, nil
	}
	now, known := p.listNow(i)
	if !known {
		return nil, nil, nil
	}
	done, before = p.before.doneItems(at)
	return done, before, now
}

// listNow returns the items of a map whose sources are kept.
func (p *planner) listNow(i int32) (list []string, known bool) {
	ref, def := p.now.steps[i].list, p.now.steps[i].def
	if spread := p.before.head.Spread; spread != nil && def.ForEach.IsOfWorkers() {
		return spread.Items(), true
	}
	if ref == nil {
		return def.ForEach.Items, true
	}
	var text string
	switch at, ran := p.before.graph.index[ref.step]; {
	case ref.from == fromParams:
		text = p.now.job.ParamValues(p.before.head.Params)[ref.field]
	case ran:
		var byDefault *string
		if source, exists := p.now.index[ref.step]; exists {
			byDefault = p.now.steps[source].def.Outputs[ref.key].Default
		}
		value, found := p.before.facts(at).Outputs[ref.key]
		if !found && byDefault == nil {
			return nil, false
		}
		if text = value; !found {
			text = *byDefault
		}
	}
	list, err := parseItems(text, p.now.mapShare)
	return list, err == nil
}

// doneItems returns the items of a map that have succeeded, with a valid value if the map collects one, and its list;
// no list if it is not known.
func (s *State) doneItems(i int32) (done common.Bits, list []string) {
	if m := s.maps[i]; m != nil {
		if n := &s.nodes[i]; n.reason == common.ReasonOutputsInvalid && n.refusal != nil &&
			n.refusal.data["item"] == "" { // the values are too large together
			return nil, m.list
		}
		s.succeeded(i, func(item, kept int) bool {
			if s.graph.steps[i].collects() == "" {
				done = done.With(item)
			} else if _, fault := s.valueOf(i, item, kept); fault == "" {
				done = done.With(item)
			}
			return true
		})
		return done, m.list
	}
	if s.nodes[i].phase != phaseKept {
		return nil, nil
	}
	list, err := s.list(i)
	if name := s.graph.steps[i].def.Name; err == nil && s.head.Base.Steps[name].Items == len(list) {
		return s.head.Base.Items[name], list
	}
	return nil, nil
}
