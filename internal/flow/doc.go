// Package flow decides how a flow run proceeds: which nodes may start, which can no longer run, when the flow run is
// complete, and its status. It is pure: no I/O, no clock, no goroutines. It promises that the final status of every
// node follows from the definition and the outcomes of the nodes that ran, in whatever order their marks are seen.
//
// A definition is checked by Validate when it is saved, and compiled once by Compile into a Graph, which is immutable
// and may be shared. Encode and Decode turn it into the parts that etcd holds.
//
// A keeper holds one State per flow run, in a single goroutine:
//
//	state := flow.New(graph, head)       // head names what a re-run keeps
//	state.Load(marks)                    // all marks that exist, in any order
//	for {
//		work := state.Next(64)           // at most 64 starts and 64 settles, each returned once
//		// commit work; after a transaction that was refused: state.Return(names...)
//		// then wait for a watch event:
//		state.Apply(name, mark, modRevision)
//		state.SetHead(head)              // when an operator paused, killed or retried something
//	}
//
// Next returns a node once, until its mark arrives or Return gives it back. A node that Next returned counts towards
// the limit of concurrent nodes. Work.Complete is returned when every node has ended; Work.Kill asks for a kill request
// in the head. Pending reports whether there is work without returning it, for a worker that follows a flow run which
// another one keeps. Marks of older revisions are ignored, so events may be applied again after a list.
//
// An event costs O(out-degree) of its node. An event that takes back an outcome (a live retry) recomputes the state.
//
// The maps of a flow whose lists are known only at run time share the nodes that the steps leave free in equal parts,
// so that the number of items that a map may have does not depend on which map begins first.
package flow
