// Package spool is a bounded queue on a worker's disk, of output on its way to the log store.
//
// It promises that output that Append accepted survives a crash of the process, and after Sync of the machine,
// and is returned in the order in which it was added, until it is acknowledged. Beyond its bound the oldest output
// is dropped first, and replaced by chunks that record how much of a run is missing, at its true offset. It
// never fills the disk: it keeps a part of it free, and then accepts nothing more.
//
// The queue is a sequence of files, each at most a few MiB, which are only appended to or replaced as a
// whole. A frame has its length and its checksum; a tail that a crash left incomplete is cut off; an
// unreadable part is skipped, and its file set aside. Output that the log store may have already, since it
// was sent and not acknowledged, is never replaced by missing bytes: it would be both present and missing.
//
// A Spool has no goroutines, and is safe for concurrent use. State never waits for the disk.
package spool
