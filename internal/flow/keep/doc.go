// Package keep advances flow runs: it starts the nodes that are ready, settles those that will not run, and ends the
// flow run when all have ended.
//
// Every worker has a Keeper that follows all heads. The worker of rank 0 for a flow run keeps it: it loads the
// definition and the marks, and acts at each change. The worker of rank 1 follows as well, and acts on work that is
// still pending after two seconds. No key records who keeps a flow run: every transaction is safe whichever worker
// commits it.
//
// It promises that a ready node is started as soon as its last mark has arrived, concurrency permitting; that a flow
// run has at most one transaction of this worker in flight; that a refused transaction is decided again from newer
// state; and that state which has missed a change is loaded again.
//
// Keeper.Run is the owner of all state. It receives changes and answers as messages and never waits for etcd: each
// request is sent by a goroutine of its own, which sends a message with the answer.
package keep
