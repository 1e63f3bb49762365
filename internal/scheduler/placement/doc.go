// Package placement decides which worker claims a fire first. It filters the live workers by the requirements of the
// job and ranks the eligible ones; the worker of rank 0 claims at once, the others later.
//
// It promises that workers with the same candidates compute the same ranks, whatever their process, version or start,
// and that a worker that joins or leaves moves only its own share of the jobs (strategies hash and weight). Ranks avoid
// needless claims; correctness does not depend on them, so candidates may be a few seconds old. (The strategy weight
// uses a logarithm, whose last digit may differ between processor types: workers may disagree on the order of two
// almost equal scores.)
//
// It does no I/O, starts no goroutine and keeps no state. All functions are safe for concurrent use.
package placement
