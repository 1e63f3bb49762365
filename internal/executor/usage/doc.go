// Package usage adds up what the processes of a run use, and keeps a bounded number of samples of it.
//
// It promises that cumulative figures never decrease although processes come and go, and that none is counted twice:
// a process that was waited for by its parent is a part of the parent's figures from then on.
//
// Limits: the use of a process that was started and ended between two readings counts only if its parent waited for
// it. It is pure: no goroutine, no I/O.
package usage
