// Package continuity checks that the wall clock and etcd continue from what this process, or an earlier start of it
// with the same data folder, has seen: that the clock did not jump, and that etcd was not restored from a backup.
//
// It promises that a jump or a restore between two starts is noticed as well, unless the data folder is lost. Keep and
// First are the only loops; all other methods are safe for concurrent use.
package continuity
