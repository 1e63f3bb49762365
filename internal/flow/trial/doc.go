// Package trial runs a flow without a cluster: the caller says how each step ends, and the engine of package flow
// decides all else, driven as a keeper drives it. It evaluates no rule itself, so that what a trial shows is what a
// flow run does.
//
//	t := trial.Trial{Ends: map[string]trial.End{"load": {Exit: new(3)}}}
//	result, err := t.Run(graph)
//
// Nodes that run end one after another, in the order in which they were started; a node that is to keep running does
// not end. The package is pure and has no goroutines.
package trial
