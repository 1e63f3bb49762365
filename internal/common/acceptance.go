package common

import (
	"slices"
	"time"
)

// Acceptance is the decision of a user that failures of nodes count as successes: their status stays, and the steps
// after them run.
type Acceptance struct {
	Nodes []string  `json:"nodes"`
	By    string    `json:"by,omitempty"`
	Note  string    `json:"note,omitempty"`
	At    time.Time `json:"at"`
}

// MaxAccepted bounds the failures that are accepted while their flow run goes on: its head contains them.
const MaxAccepted = 100

// AcceptanceOf returns the acceptance of a node; nil if its failure was not accepted.
func AcceptanceOf(all []Acceptance, node string) *Acceptance {
	for i := range all {
		if slices.Contains(all[i].Nodes, node) {
			return &all[i]
		}
	}
	return nil
}

// Accept returns the acceptances after a further one of a node, which is merged with those of the same request.
func Accept(all []Acceptance, node string, by *Acceptance) []Acceptance {
	for i := range all {
		if a := &all[i]; a.By == by.By && a.Note == by.Note && a.At.Equal(by.At) {
			a.Nodes = append(a.Nodes, node)
			return all
		}
	}
	return append(all, Acceptance{Nodes: []string{node}, By: by.By, Note: by.Note, At: by.At})
}

// FlowNeeds returns the features of the workers that advance the flow run which the trigger begins, of a flow whose
// present definition needs others.
func (t *Trigger) FlowNeeds(ofDefinition []string) []string {
	if t.Digest != "" && t.Needs != nil {
		return t.Needs
	}
	return ofDefinition
}

// FlowNeeds returns the features of the workers that advance the flow run which a re-run with the base begins.
func (b *Base) FlowNeeds(ofDefinition []string) []string {
	needs := ofDefinition
	if b != nil && len(b.Accepted) > 0 {
		needs = Adding(needs, FeatureAccept)
	}
	if b != nil && len(b.Nested) > 0 {
		needs = Adding(needs, FeatureNested)
	}
	return needs
}
