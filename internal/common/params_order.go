package common

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Params are the parameters of a job, by name. Their JSON has the order in which they are declared: decoding keeps the
// order of the text, and those that code adds are sorted by name.
type Params map[string]Param

// Names returns the names in order.
func (p Params) Names() []string {
	return slices.SortedFunc(maps.Keys(p), func(a, b string) int {
		return cmp.Or(cmp.Compare(p[a].place, p[b].place), cmp.Compare(a, b))
	})
}

// Arrange gives the parameters the order of the names, of which the first occurrence counts. All others follow, in
// their present order.
func (p Params) Arrange(names []string) {
	place := 0
	seen := make(map[string]bool, len(p))
	for _, name := range slices.Concat(names, p.Names()) {
		if param, held := p[name]; held && !seen[name] {
			param.place, seen[name] = place, true
			p[name] = param
			place++
		}
	}
}

// MarshalJSON returns an object with the parameters in order.
func (p Params) MarshalJSON() ([]byte, error) {
	if p == nil {
		return []byte("null"), nil
	}
	all := make([]member, 0, len(p))
	for _, name := range p.Names() {
		var value bytes.Buffer
		enc := json.NewEncoder(&value)
		enc.SetEscapeHTML(false) // the encoder of the job decides that
		if err := enc.Encode(p[name]); err != nil {
			return nil, fmt.Errorf("encode parameter %q: %w", name, err)
		}
		all = append(all, member{name, bytes.TrimSpace(value.Bytes())})
	}
	return encodeMembers(all)
}

// UnmarshalJSON reads an object and keeps its order.
func (p *Params) UnmarshalJSON(data []byte) error {
	var values map[string]Param
	if err := json.Unmarshal(data, &values); err != nil {
		return err
	}
	if *p = values; len(values) < 2 {
		return nil
	}
	members, err := membersOf(bytes.TrimSpace(data))
	if err != nil {
		return err
	}
	names := make([]string, len(members))
	for i, m := range members {
		names[i] = m.name
	}
	p.Arrange(names)
	return nil
}
