// Package lifecycle starts the parts of a daemon in order and stops them in
// reverse order.
//
// It promises that a part is started only after those before it work, that every
// part that was started is stopped exactly once, each within its own deadline,
// and that one part that fails stops all. Stopping has two stages: the first
// lets parts finish their work, the second (after a second signal) ends it early.
//
// Run owns one goroutine per part with a Serve, and one for each Start and Stop in progress; it waits for all of them.
// A part that ignores its deadline is abandoned with an error that names it, because the process is about to end.
package lifecycle
