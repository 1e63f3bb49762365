// Package guardian supervises a process whose descendants must not outlive it (Linux only).
//
// [Main] makes the started process the guardian: small, without settings, and a child subreaper. It executes itself
// again as the worker, in a process group of its own, so that ^C in a terminal reaches the guardian only.
//
// Promise: the guardian passes signals on to the worker and exits with the worker's exit code. When the worker ends for
// any reason, the guardian kills all its descendants, in whatever process group or session they are, before it exits.
// The same happens if the worker sent a deadline ([Child.Beat]) and no further heartbeat arrives before it, because the
// worker is stopped, frozen or hangs. A guardian that was itself suspended first waits half a second for a heartbeat.
// When the guardian ends, the worker notices it at once ([Child.Follow]) and ends its children itself; it exits after
// five seconds at the latest.
//
// The service manager (systemd) communicates with the guardian, which forwards the worker's notifications and answers
// the watchdog as long as heartbeats arrive.
//
// Goroutines: one in the guardian, which receives messages; in the worker one that waits for the guardian's end, and
// one that runs the worker.
//
// Limits: if both are killed at once, the processes of runs continue until the same worker starts again and sweeps
// them, except for commands that the kernel ends with their parent. A process of another user, such as a setuid
// program, cannot be killed; the guardian gives up on it after ten seconds.
package guardian
