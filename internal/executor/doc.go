// Package executor runs commands as real processes (Linux only).
//
// Promise: Run starts a command, hands over its output in order of offset, and
// returns only when the command and its process group are gone; whatever happens
// is an outcome, never an error. A command sees an environment built from
// nothing, descriptors 0 to 2, a process group of its own, no terminal, no new
// privileges and, unless the job names another folder, an empty one of its own. The
// umask, the missing core dumps and the closing of descriptors that this process
// was itself started with come from [Prepare], since they belong to the process
// as a whole.
//
// Stopping: TERM to the group, the grace, KILL to the group. What still lives in
// the group when the command has ended by itself is killed at once. Descendants
// that left the group are found by CARILLON_RUN_ID in their environment and killed
// too, but /proc is read for them only when the group still had members after the
// command's end or its output was still held open: a thousand short runs a second
// do not each read /proc. So a descendant that left the group, gave up all the
// outputs and has no sibling in the group, or that wiped its environment, stays
// unseen until [Sweep], or for good, and the folder that it stands in may be given to
// another run.
//
// Goroutines: none between runs; three for each run, ended when Run returns.
//
// Limits: a running command costs three descriptors (and a thread that waits for it,
// on a kernel before 5.4); a silent one costs no buffer. A run that prints more than the head of
// its cap holds the tail in memory, at most 4 MiB, so that part is handed over when
// it ends, and is lost with the worker.
package executor
