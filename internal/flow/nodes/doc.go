// Package nodes shows the nodes of flow runs: those of a live one from its marks, with the reason why each pending node
// waits, and those of one that has ended from the history.
//
// It promises that a node is listed once, in the order of the definition that the flow run started with, and that the
// engine alone decides how far it is. It has no goroutines; everything is safe for concurrent use.
package nodes
