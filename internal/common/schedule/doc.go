// Package schedule parses cron expressions, explains in plain words what is wrong with them, and computes when a job
// fires next in its time zone. It is the only package that uses a cron library.
//
// # Promise
//
// Next is strictly after its argument, never returns a local time that does not exist, does bounded work, and reports
// "never again" instead of returning a zero time. A line that can never fire is rejected when it is parsed. Rules
// decide what happens on a night when the clocks change; lines whose hour field covers all 24 hours follow real time
// instead.
//
// # How
//
// The text is brought into a canonical form here (own tokenizer, plain decimals, sorted lists) before the engine,
// github.com/gorhill/cronexpr, parses it, and the engine computes wall-clock times in UTC only. Zones are applied
// outside it, window by window: a window is a period in which a zone keeps one offset.
//
// # Goroutines and limits
//
// The package starts no goroutine. An Interner and its Schedules are safe for concurrent use; Schedules with the same
// line share a parsed expression behind a mutex, because the engine writes into it. Text is at most 256 bytes of
// printable ASCII; years are 1970 to 2099. Zone data is embedded, so that a machine without it computes the same.
package schedule
