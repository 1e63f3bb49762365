// Package executor runs commands as real processes (Linux only).
//
// Promise: Run starts a command, hands over its output in order of offset, and
// returns only when the command and all that is known to stem from it are gone; whatever happens
// is an outcome, never an error. A command sees an environment built from
// nothing, descriptors 0 to 2, a process group of its own, no terminal, no new
// privileges and, unless the job names another folder, an empty one of its own. The
// umask, the missing core dumps and the closing of descriptors that this process
// was itself started with come from [Prepare], since they belong to the process
// as a whole.
//
// Stopping: TERM to the group, the grace, KILL to the group. What still lives in
// the group when the command has ended by itself is killed at once.
//
// With [Config.Adopt], so is all else that stems from the command: what outlives the process that
// started it becomes a child of this one, and is known by its mark ([MarkProcess]), its group, its session, its
// environment, the run's folder and output, or by having been seen below the command when that was
// stopped. One that gave all that up, its mark included, goes with the last of the runs that were going on when
// it was started; the end of a run whose job forbids overlap waits for it, at most lostAfter, and then kills it. Without Adopt, descendants that left the group are found by CARILLON_RUN_ID in
// their environment and killed too, but /proc is read for them only when the group
// still had members after the command's end or its output was still held open; one that hid
// better stays unseen until [Sweep], or for good.
//
// Where this process has a cgroup (v2) of its own, each run gets one below it, from which nothing
// can hide; that is found out when the executor is made.
//
// A command gets SIGKILL from the kernel when this process ends. What it started does
// not: that is what a guardian is for.
//
// What [Config.Masks] names comes out neither in the output nor in the reason of an outcome. Bytes that may
// be the beginning of a secret are kept back until more comes, or the command has ended.
//
// Goroutines: one for each start that may go on at a time, on a thread of its own, and
// one that reaps what was adopted, and while commands are being stopped one that looks whether their
// groups live, all ended by Close; three for each run, ended when
// Run returns.
//
// Limits: a running command costs three descriptors (and a thread that waits for it,
// on a kernel before 5.4); a silent one costs no buffer. A run that prints more than the head of
// its cap holds the tail in memory, with what tells who wrote it when: 128 KiB for each such run, and
// more, up to 2 MiB for a tail of 1 MiB, as long as all of them together take no more than 32 MiB
// above that. Beyond, tails are shorter. That part is handed over when
// the run ends, and is lost with the worker.
package executor
