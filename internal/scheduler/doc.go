// Package scheduler decides when what is due. One goroutine, Loop.Run, owns the
// plan table (what fires when) and the executing table (what runs here), and is
// fed by channels.
//
// It promises: the next fire of a job is computed from its cursor, never from the
// clock; the fires of a job are handed out one at a time, in order; news of one
// job costs O(log n); the loop never waits for whoever takes the fires; and a
// jump of the wall clock is noticed within a second. It does no I/O, parses
// nothing and scans nothing: a whole table is taken in, and what is missing
// from it dropped, in small steps between looks at the clock.
package scheduler
