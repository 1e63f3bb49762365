// Package model tests the protocol with simulated workers. The workers use the product's own scheduler, dispatcher,
// claims, finishes, fence, re-take and recovery, the masters its own store, and the transactions run on a real etcd.
// The connections to it delay, lose and repeat requests, leases expire, watches stall, leases are revoked and locks
// deleted according to a script, and every worker has its own wall clock and boot clock. All of it runs in the virtual
// time of a synctest bubble: minutes of a cluster take a fraction of a second. An etcd that is restored from a backup
// is represented by a second one, which executes the same changes up to the backup, with the same revisions. Only the
// commands are simulated, which take some time and may ignore signals, and the guardian, which ends a stopped worker.
//
// The executions of the workers are recorded in a diary, the states of etcd in a history, and the deliveries in a
// ledger. A checker that is independent of the product reads these and reports which of the promises are broken: G1
// (one outcome per fire), G2 (one claim per attempt), G3 (no overlap where it is forbidden, nor of two attempts of a
// fire), G4 (a lost run is run again if and only if its job re-runs lost runs and there was no kill request), G5 (no
// outcome is lost). A run of a job with onLost: detach that continues after it was lost does not count as an overlap.
// The checker also requires the order of fires of jobs with the overlap policy queue: further attempts that are due
// come first.
//
// Everything is determined by a seed, as far as random ids and etcd allow:
//
//	go test ./test/model -run TestModel -seeds 250 -v
//	go test ./test/model -run TestModel/seed-17 -from 17 -seeds 1 -v
//
// TestMutations_BreakAPromise disables one rule of the protocol at a time, and requires that this breaks a promise.
package model
