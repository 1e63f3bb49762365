// Package defaults decides what jobs inherit from their groups, and from the defaults of all jobs, and what a change of
// these would change. It is pure.
package defaults
