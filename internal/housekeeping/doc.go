// Package housekeeping enforces retention: it deletes expired runs, updates statistics, and returns free space
// to the disk.
//
// Nothing is deleted too early: if the set of jobs, their settings or the time are uncertain, everything is
// kept. A clock that is more than a day ahead of the last trusted time counts as uncertain for an hour. The
// work is split into small pieces with pauses in proportion to their duration, so that writers of the store are
// not delayed. A pass that was interrupted, by an error or by the election of another master, is repeated from
// the start by the next one.
//
// Run starts no goroutine. Conditions may be called concurrently.
package housekeeping
