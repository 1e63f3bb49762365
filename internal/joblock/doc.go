// Package joblock holds the etcd transactions of workers: claim, finish and recovery, and the session lease for their
// locks.
//
// It promises that etcd's transactions alone decide: each attempt of a fire is claimed at most once; a claim, a finish
// and every fire that a cursor passes are written in one transaction; after a lost answer the result is read, never
// assumed. A run costs two nested transactions in the batches that it shares with others.
//
// States of a run in etcd, by its keys:
//
//	(none) ──claim──▶ lock and record ──finish──▶ outcome ──acknowledged by the log store──▶ (none)
//	                     │         ▲                 ▲
//	    the lease expired│         │re-take          │recovery (lost), once the record has been
//	                     ▼         │                 │unchanged for its waiting time; or finish
//	                  record without lock ───────────┘
//
// Return is a finish that puts a trigger for the same attempt in place of the outcome. The compares of each transaction
// are listed in docs/protocol.md.
//
// Session.Run is the only goroutine, and belongs to its caller. Claimer, Finisher and Recoverer are safe for concurrent
// use. The Claimer caches the definitions of at most 10,000 jobs, each valid for its version only.
package joblock
