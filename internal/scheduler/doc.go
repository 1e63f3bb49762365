// Package scheduler decides when each job and trigger fires, and by its rank when this worker may act on a fire. One
// goroutine, Loop.Run, owns the plan (the next fire of each job), the ranking, and the table of runs that execute on
// this worker. It receives all input by channels.
//
// It promises: the next fire of a job is computed from its cursor, never from the clock; the fires of a job are sent
// one at a time, in order; a change of one job costs O(log n); the loop never waits for the receiver of the fires; a
// fire that another worker may claim first is held in the agenda, and ranked again when the members change; and a jump
// of the wall clock is noticed within a second. It does no I/O, parses nothing and scans nothing: a complete list of
// jobs is applied, and jobs missing from it are dropped, in small steps between readings of the clock.
package scheduler
