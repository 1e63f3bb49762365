package common

// Base holds the nodes of an earlier flow run that a re-run keeps. Bits are numbered by the index of the step in the
// definition, or by the index of the item.
type Base struct {
	Run     string `json:"run"` // id of the earlier flow run
	Kept    Bits   `json:"kept"`
	Failed  Bits   `json:"failed,omitempty"`  // kept steps of class failure
	Skipped Bits   `json:"skipped,omitempty"` // kept steps of class skipped
	// Accepted are the failures among the kept nodes that count as successes. Their bits are those of successes.
	Accepted []Acceptance `json:"accepted,omitempty"`
	// Items holds the kept items of maps that are partly re-run. They succeeded.
	Items map[string]Bits `json:"items,omitempty"`
	// Collected holds, of maps that collect an output, its values of the kept items, in their order.
	Collected map[string][]string `json:"collected,omitempty"`
	// Again holds clean-up steps that run although no step before them runs again.
	Again Bits `json:"again,omitempty"`
	// Steps holds what expressions of the steps to run can read about kept steps.
	Steps map[string]KeptStep `json:"steps,omitempty"`
	// Spread holds the workers of a flow run of kind spread, whose numbers are those of the items.
	Spread *Spread `json:"spread,omitempty"`
	// Nested holds, by node, what the flow run keeps that the node runs: a failed one goes on from its failures.
	Nested map[string]*Nested `json:"nested,omitempty"`
	// Continued holds in the history, by node, the ids of the flow runs from which those in Nested were to go on.
	Continued map[string]string `json:"continued,omitempty"`
}

// Nested is how a flow run that a step runs goes on from an earlier one.
type Nested struct {
	UID    string   `json:"uid"` // of its job
	Digest string   `json:"digest"`
	Needs  []string `json:"needs,omitempty"` // features of the workers that advance it
	Keep   *Base    `json:"keep"`
}

// Continue makes a trigger of the job of a step begin a flow run that goes on from an earlier one.
func (t *Trigger) Continue(n *Nested) { t.Digest, t.Needs, t.Keep = n.Digest, n.Needs, n.Keep }

// Bare returns the base without what only the steps to run read or use, and without the workers, which the flow run has
// itself: what the history of the flow run needs. Of nested flow runs it keeps their ids. nil stays nil.
func (b *Base) Bare() *Base {
	if b == nil || b.Steps == nil && b.Spread == nil && b.Nested == nil && b.Collected == nil {
		return b
	}
	bare := *b
	if len(b.Nested) > 0 {
		bare.Continued = make(map[string]string, len(b.Nested))
		for node, n := range b.Nested {
			if n != nil && n.Keep != nil {
				bare.Continued[node] = n.Keep.Run
			}
		}
	}
	bare.Steps, bare.Spread, bare.Nested, bare.Collected = nil, nil, nil, nil
	return &bare
}

// ContinuedOf returns the id of the flow run from which that of a node is to go on, or was to; empty without one, and
// of a base that is nil.
func (b *Base) ContinuedOf(node string) string {
	if b == nil {
		return ""
	}
	if n := b.Nested[node]; n != nil && n.Keep != nil {
		return n.Keep.Run
	}
	return b.Continued[node]
}

// Collect adds the values of the kept items of a map.
func (b *Base) Collect(step string, values []string) {
	if b.Collected == nil {
		b.Collected = map[string][]string{}
	}
	b.Collected[step] = values
}

// CollectedOf returns the values of the kept items of a map; nil of a base that is nil.
func (b *Base) CollectedOf(step string) []string {
	if b == nil {
		return nil
	}
	return b.Collected[step]
}

// ItemsOf returns the kept items of a map; none of a base that is nil.
func (b *Base) ItemsOf(step string) Bits {
	if b == nil {
		return nil
	}
	return b.Items[step]
}

// Keeps reports whether any node is kept.
func (b *Base) Keeps() bool { return b != nil && (len(b.Kept) > 0 || len(b.Items) > 0) }

// KeptStep is what later steps can read about a step that is kept.
type KeptStep struct {
	Status   Status            `json:"status"`
	ExitCode *int              `json:"exitCode,omitempty"`
	Attempt  int               `json:"attempt,omitempty"`
	Items    int               `json:"items,omitempty"`
	Failed   int               `json:"failed,omitempty"`
	Outputs  map[string]string `json:"outputs,omitempty"`
}

// Bits is a set of small numbers. Its JSON is base64.
type Bits []byte

// Has reports whether the set contains a number.
func (b Bits) Has(n int) bool { return n >= 0 && n>>3 < len(b) && b[n>>3]&(1<<(n&7)) != 0 }

// With returns the set with a number added.
func (b Bits) With(n int) Bits {
	for n>>3 >= len(b) {
		b = append(b, 0)
	}
	b[n>>3] |= 1 << (n & 7)
	return b
}
