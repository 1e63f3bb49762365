// Package alertstore keeps in etcd who is told of jobs, what is to be told, and how each job
// stands with those who are told.
//
// It promises that the state of a job and the notices that follow from it are written in
// one transaction, where the state is the one that was read; that a notice is waiting or done,
// never both; that the secrets of channels are stored sealed only, and are in no history of
// changes; and that outcomes are handed over in the order of their revisions, each revision whole.
//
// It starts no goroutine. A Store is safe for concurrent use.
package alertstore
