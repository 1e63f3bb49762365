// Package schedule is the one door to cron lines: it reads the text of a
// timetable, says in plain words what is wrong with it, and answers when a job
// fires next in its time zone.
//
// # Promise
//
// Next is strictly after its argument, never names a local time that does not
// exist, does bounded work, and says "never again" instead of returning a zero
// time. A line that can never fire is refused when it is parsed. What happens
// on a night when the clocks change is decided by Rules; lines whose hour field
// covers all 24 hours follow real time instead.
//
// # How
//
// The text is canonicalised here (own tokeniser, plain decimals, sorted lists)
// before the engine, github.com/gorhill/cronexpr, sees it, and the engine is
// asked about wall-clock time dressed as UTC only. Zones are applied outside it,
// window by window: a window is a stretch of time in which a zone keeps one
// offset.
//
// # Goroutines and limits
//
// The package starts no goroutine. An Interner and the Schedules it hands out
// are safe for concurrent use; Schedules that share a line share a parsed
// expression behind a mutex, because the engine writes into it. Text is at most
// 256 bytes of printable ASCII; years run from 1970 to 2099. Zone data is
// embedded, so that a machine without it plans the same.
package schedule
