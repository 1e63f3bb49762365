// Package check evaluates what happened to a set of jobs under faults. It computes the plan by arithmetic,
// reads the records that the started commands wrote about themselves, and compares both with the API's
// answers and with the journal of the faults and their times.
//
// It shares no code with the system under test. All times that it compares between processes are of the boot
// clock of the one machine on which they ran; wall clocks count only for planned times, which are the same
// for all processes.
//
// It reports only what it can prove: a command counts as alive from its first line to its last one, or while
// another command saw it; that two commands of a job are alive together is detected by the commands
// themselves, through a lock that ends with its process. It has no goroutines, and keeps everything but
// output in memory.
package check
