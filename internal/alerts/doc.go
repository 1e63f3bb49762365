// Package alerts tells people of what became of their jobs: which outcomes are events, when
// a job is in trouble and when it has recovered, who is told, and when it is tried again.
//
// It promises that what happened is told at least once, as long as etcd holds what was
// written there and the channel takes it within a day: the place up to which outcomes were
// looked at moves only after what they mean was written down, together with the state of the
// job, under a compare; and a notice is waiting until a channel has taken it. A job in
// trouble is told of once, and then at most hourly; a cluster in trouble at most EventsPerMinute
// times a minute, and beyond that in a summary.
//
// Notifier.Run is for the elected master. It waits for the goroutines that it starts: one
// follows the outcomes, one looks after the clock, one sends, with a few for what is on its way.
// Two at a time do no harm: each write carries a compare.
package alerts
