// Package flows serves what flow runs have beyond other runs: their nodes, the requests that pause them, and the
// approvals that wait for an operator.
package flows
