// Package check judges what happened to a set of jobs while things were broken. It
// knows the plan by arithmetic, reads what the started commands wrote about
// themselves, and holds both against what the API says and against the journal of
// what was broken, and when.
//
// It shares no code with what it judges. All times that it compares between
// processes are of the boot clock of the one machine on which they ran; wall clocks
// count only for planned times, which are the same for everybody.
//
// It says only what it can prove: a command counts as alive from its first line to
// its last one, or while another command saw it; that two commands of a job are alive
// together is seen by the commands themselves, through a lock that ends with its
// process. It has no goroutines, and keeps everything but output in memory.
package check
