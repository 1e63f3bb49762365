// Package spool is a bounded queue of output on a worker's disk: where output goes
// while the log store does not take it.
//
// It promises that what Append took is there after a crash of the process or of the
// machine, and comes out in the order in which it went in, until it is acknowledged.
// Over its bound the oldest output goes first, and what goes leaves word of it: chunks
// that say how much of a run is missing, at its true offset. It never lets the disk
// run full: it keeps a part of it free, and then takes nothing more.
//
// The queue is a row of files, each at most a few MiB, which are only ever appended to
// or replaced as a whole. A frame has its length and its checksum; a tail that a crash
// tore is cut off; a place that does not read is passed over, and its file set aside. What the log store may have
// already, since it was sent and not acknowledged, is never turned into missing bytes: it
// would be both there and missing.
//
// Beside the queue are copies of output that is in memory, which are not synced: what Keep wrote and Release did not
// forget is behind all else in the next life of the process, but may be lost with the machine.
//
// A Spool has no goroutines, and is safe for concurrent use, but for Keep and Release. State never waits for the disk.
package spool
