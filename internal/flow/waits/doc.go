// Package waits ends the steps of flows that wait for fires of a job: as soon as all of them have succeeded, or when
// one can no longer be waited for.
//
// The keeper of a flow run starts such a step by putting a key that says what it waits for, and ends it after its
// timeout. All else is done by the elected master, which reads the ledger: Keeper looks at a wait when it begins, when
// a run of the job has begun or ended, and otherwise in turn. It ends the wait by the transaction by which an approval
// is answered, under a compare of the key, so that a second master does no harm. Until then it notes in the key which
// fires are still missing, which is the reason that users see.
//
// Which fires those are follows from the present schedule of the job, as for a backfill, and from the ledger's entries
// of fires that an earlier schedule has planned. The decision is a pure function, see decide.
//
// Run owns all state.
package waits
