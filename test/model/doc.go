// Package model tries the protocol on simulated workers. The workers are the product's
// own scheduler, dispatcher, claims, finishes and recovery, the masters its own store,
// and the transactions run on a real etcd; but the links to it delay, lose and repeat
// them, leases end and watches stall as a script says, every worker has a clock of its
// own, and all of it happens in the virtual time of a synctest bubble: minutes of a
// cluster's life take a fraction of a second.
//
// What the workers executed is written into a diary, what etcd held into a history, and
// what was delivered into a ledger. A checker that knows nothing of the product reads
// these three and tells which of the promises G1 (one outcome for each fire), G2 (one
// claim for each attempt), G3 (no overlap where it is forbidden) and G5 (no outcome is
// lost) were broken.
//
// Everything follows from a seed, as far as random ids and etcd allow:
//
//	go test ./test/model -run TestModel -seeds 250 -v
//	go test ./test/model -run TestModel/seed-17 -from 17 -seeds 1 -v
//
// TestRulesMatter leaves out one rule of the protocol at a time, and wants a promise to
// be broken by that.
package model
