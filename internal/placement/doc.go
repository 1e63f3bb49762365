// Package placement decides which worker takes a fire first. It filters the workers
// that are alive by what the job asks for and what they say of themselves, and ranks
// those that are left; the worker of rank 0 claims at once, the others later.
//
// It promises that workers which see the same candidates come to the same ranks,
// whatever their process, version or start, and that a worker that comes or goes
// moves only its own share of the jobs (strategies hash and weight). What it says
// saves needless claims; nothing that must be right depends on it, so candidates
// may be a few seconds old. (The strategy weight takes a logarithm, whose last digit
// may differ between processor types: two of them may disagree where two workers are
// as good as even.)
//
// It does no I/O, starts no goroutine and keeps no state. All of it may be called
// concurrently.
package placement
