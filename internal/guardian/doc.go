// Package guardian keeps a process whose children must not outlive it (Linux only).
//
// [Main] makes the process that was started the guardian: small, without settings, and
// a child subreaper. It executes itself again as the worker, which does the work in a
// process group of its own, so that a terminal's ^C reaches the guardian only.
//
// Promise: signals are passed on to the worker, and its exit code is passed back. When
// the worker ends, in whatever way, everything that stems from it is killed, whatever
// group or session it moved to, before the guardian ends. The same happens when the
// worker has named a time ([Child.Beat]) and is not heard again before it: stopped,
// frozen, or hanging. A guardian that was itself standing still gives the worker half a
// second to be heard first. When the guardian ends, the worker learns it at once
// ([Child.Gone]), and ends its children itself; it is ended five seconds later.
//
// Who starts the daemons (systemd) speaks with the guardian, which passes on what the worker has
// to say, and says that all is alive as long as the worker is heard.
//
// Goroutines: in the guardian one that listens; in the worker one that waits for the
// guardian's end, and one that runs the worker.
//
// Limits: when both are killed at once, what they started lives on until a start of the
// same worker sweeps it, except for commands that the kernel ends with their parent. A
// process of another user, such as a setuid program, cannot be killed; the guardian
// gives up on it after ten seconds.
package guardian
