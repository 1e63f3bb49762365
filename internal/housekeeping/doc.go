// Package housekeeping keeps the history at its bounds: runs that their job keeps no longer go,
// statistics are brought up to date, and what is left over goes back to the disk.
//
// It promises that nothing goes before its time: where it is not sure which jobs there
// are, what they say, or what time it is, it leaves all as it is; a clock that has gone on by more than a
// day since it was believed last is such a doubt for an hour. It works in small pieces with
// a rest after each that is in proportion to how long the piece took, so that writers of the
// store are not held up. A pass that was broken off, by an error or because another master was elected,
// is taken up by the next, which begins anew: what is gone is gone.
//
// Run has no goroutine beside its caller's. Conditions may be asked for by others meanwhile.
package housekeeping
