// Package model tries the protocol on simulated workers. The workers are the product's
// own scheduler, dispatcher, claims, finishes, fence, take-back and recovery, the masters
// its own store, and the transactions run on a real etcd; but the links to it delay, lose
// and repeat them, leases end and watches stall as a script says, somebody revokes leases
// and deletes locks, every worker has a wall clock and a boot clock of its own, and all of
// it happens in the virtual time of a synctest bubble: minutes of a cluster's life take a
// fraction of a second. An etcd that is restored from a backup is played by a second one, which makes the same
// changes up to the backup, with the same revisions. Only the commands are simulated, which take their time and may
// ignore the wish to end them, and the guardian, which ends a worker that is stopped.
//
// What the workers executed is written into a diary, what etcd held into a history, and
// what was delivered into a ledger. A checker that knows nothing of the product reads
// these three and tells which of the promises G1 (one outcome for each fire), G2 (one
// claim for each attempt), G3 (no overlap where it is forbidden, nor of two attempts of a
// fire), G4 (a run that was lost is run again if, and only if, its job wants that and
// nobody wished it to end) and G5 (no outcome is lost) were broken. A run of a job with
// onLost: detach that goes on though it was lost overlaps with nothing. It also wants the order of the fires of jobs that
// queue them: next attempts that are due come first.
//
// Everything follows from a seed, as far as random ids and etcd allow:
//
//	go test ./test/model -run TestModel -seeds 250 -v
//	go test ./test/model -run TestModel/seed-17 -from 17 -seeds 1 -v
//
// TestRulesMatter leaves out one rule of the protocol at a time, and wants a promise to
// be broken by that.
package model
