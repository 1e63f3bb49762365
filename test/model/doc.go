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
// come first. Of jobs that run after others it requires that each such fire replaces no pending one, that each parent
// has succeeded since the fire before, and that no fire is left out (promise "after").
//
// Clusters with flows have small random DAGs of all kinds of steps, rules and conditions, maps, nested flows, retries,
// timeouts and limits, which operators pause, kill, answer, retry, re-run and backfill. The workers keep the flow runs
// with the product's own keepers, whose watches of heads, marks and triggers are held up and interrupted independently.
// The checker has rules of its own, by which it computes from the definition and the ends of the nodes that ran what
// may start and how all else ends. It reports which of these are broken: F1 (a node ends once, with one entry of the
// ledger), F2 (it is started once, and has one run at a time), F3 (only if its join holds), F4 (a flow run ends once,
// after all its nodes, and leaves nothing in etcd), F5 (nothing starts after a pause or a kill), F6 (what is ready
// starts in time, and what can end ends), F7 (how everything ends follows from the rules), F8, which is G1 for fires of
// flows, F9 (a re-run is the one next attempt of its fire; it runs the nodes that were requested, with the requested
// definition, and all others are kept, as they ended, and are not executed), F10 (a backfill runs each of its fires
// once, as the next attempt, within its limits), F11 (clean-up steps run after all others, and are not left out), F12
// (a flow run that has failed is followed by the attempts that its definition wants, which keep what has succeeded),
// F13 (an approval waits as it is defined, and ends once: by an answer, with its flow run, or after its time), and F14
// (a fire that yields to a backfill has a run of that in its way).
//
// Clusters with daemon jobs have the product's own keepers of replicas. Their jobs are saved, scaled, restarted,
// paused, deleted and created again, workers are drained and stopped, and the views of jobs, triggers and workers lag.
// The checker reports which of these are broken: D-1 (a replica has one key at a time, and loses it only where it is
// not wanted; its runs do not overlap), D-2 (where no worker is disturbed, a wanted replica has a key within a minute,
// and in the end it runs), D-3 (handovers take down one replica of a job at a time), D-4 (each handover that balances
// the workers lowers the sum of the squares of their slots, and they end), D-5, which is G1, G2 and G5 for starts of
// replicas, "wanted" (the recovery of a replica starts none that has not been wanted for a minute) and "update" (in
// the end all replicas run as their job is defined, and no handover goes on). The wall clocks of these workers differ
// by a second at most: where they differ by more than the two seconds between the ranks of workers, another worker
// than the first one may claim a replica, and a handover may not lower the sum.
//
// Clusters with a pool have jobs that all take slots of it, while its number of slots changes. The checker reports
// which of these are broken: P-1 (a run takes slots only if there are enough, at every revision), P-2 (a slot is in use
// as long as the record of its run exists, and no longer), and, where nothing is disturbed, P-3 (no fire waits for
// three seconds while a slot is free).
//
// Everything is determined by a seed, as far as random ids and etcd allow:
//
//	go test ./test/model -run TestModel -seeds 250 -v
//	go test ./test/model -run TestModel/seed-17 -from 17 -seeds 1 -v
//	go test ./test/model -run TestFlows -flowseeds 250 -v
//	go test ./test/model -run TestDaemons -daemonseeds 250 -v
//	go test ./test/model -run TestPools -poolseeds 250 -v
//
// TestMutations_BreakAPromise and those of flows, of jobs on several workers and of daemon jobs disable one rule of the
// protocol at a time, and require that this breaks a promise.
package model
