// Package joblock holds the transactions by which workers share out fires: claim,
// finish and recovery, and the session lease that they stand on.
//
// It promises that etcd's transactions alone decide: a fire and attempt is
// claimed at most once; a claim, a finish and every fire that a cursor passes
// are written in one transaction; an answer that was lost is found out, never
// guessed. A run costs two nested transactions, shared with the others of its batch.
//
// Session.Run is the only goroutine, and it is its caller's. Claimer, Finisher
// and Recoverer are safe for concurrent use. What the Claimer keeps between calls are the
// definitions of at most 10,000 jobs, each good for its version only.
package joblock
