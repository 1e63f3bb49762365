// Package spool is a bounded queue of output on a worker's disk, for output that the log store does not
// accept in time.
//
// It promises that output that Append accepted survives a crash of the process or of the machine, and is
// returned in the order in which it was added, until it is acknowledged. Beyond its bound the oldest output
// is dropped first, and replaced by chunks that record how much of a run is missing, at its true offset. It
// never fills the disk: it keeps a part of it free, and then accepts nothing more.
//
// The queue is a sequence of files, each at most a few MiB, which are only appended to or replaced as a
// whole. A frame has its length and its checksum; a tail that a crash left incomplete is cut off; an
// unreadable part is skipped, and its file set aside. Output that the log store may have already, since it
// was sent and not acknowledged, is never replaced by missing bytes: it would be both present and missing.
//
// Beside the queue are copies of output that is in memory, which are not synced: what Keep wrote and Release did not
// forget is behind all else in the next life of the process, but may be lost with the machine.
//
// A Spool has no goroutines, and is safe for concurrent use, but for Keep and Release. State never waits for the disk.
package spool
