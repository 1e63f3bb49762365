// Package executor runs commands as real processes (Linux only).
//
// Promise: Run starts a command, passes on its output in the order of offsets, and returns only when the command and
// all its known descendants are gone; every failure is an outcome, never an error. A command gets an environment built
// from an empty set, descriptors 0 to 2, its own process group, no terminal, no new privileges and, unless the job
// names another one, an empty private working directory. [Prepare] sets the umask, disables core dumps and closes
// inherited descriptors, since these belong to the process as a whole.
//
// Stopping: TERM to the process group, the grace period, KILL to the group. Processes that are left in the group when
// the command has ended by itself are killed at once.
//
// With [Config.Adopt], all other descendants of the command are killed as well: a process that outlives its parent
// becomes a child of this process, and is identified by its mark ([MarkProcess]), its group, its session, its
// environment, the run's folder and output, or because it was seen below the command when that was stopped. A process
// without any of these, including the mark, ends with the last of the runs that were active when it was started; the
// end of a run whose job forbids overlap waits for it, at most lostAfter, and then kills it. Without Adopt, descendants
// that left the group are found by CARILLON_RUN_ID in their environment and killed too, but /proc is searched for them
// only if the group still had members after the command's end or its output was still open; a process that hides better
// remains until [Sweep], or for good.
//
// If a cgroup (v2) is delegated to this process, each run gets its own cgroup below it, from which no process can
// escape; New checks this.
//
// The kernel sends SIGKILL to a command when this process ends, but not to the command's descendants: the guardian
// kills those.
//
// Secrets of [Config.Masks] appear neither in the output nor in the reason of an outcome. Bytes that may be the
// beginning of a secret are held back until more output arrives or the command has ended.
//
// Goroutines: one for each concurrent start, on a thread of its own; one that reaps adopted processes; and, while
// commands are being stopped, one that checks whether their groups are alive. Close ends all of them. Each run has
// three more, which end when Run returns.
//
// Limits: a running command costs three descriptors (and a waiting thread on a kernel before 5.4); a command without
// output needs no buffer. A run that prints more than the head of its limit keeps the tail in memory, with its times
// and streams: 128 KiB for each such run, and up to 2 MiB for a tail of 1 MiB as long as all runs together use no more
// than 32 MiB above that; otherwise tails are shorter. The tail is passed on when the run ends, and is lost if the
// worker dies.
package executor
