// Package notify notifies people of failed jobs: it decides which outcomes are events, when a job
// is in trouble and when it has recovered, which channels are notified, and when a failed delivery
// is retried.
//
// Promises: events are notified at least once, as long as etcd keeps its data and the channel
// accepts within a day. The place up to which outcomes have been processed moves only after the
// resulting notifications have been written, together with the state of the job, under a compare; a
// notification is pending until a channel has accepted it. A job in trouble is notified once and
// then at most hourly; a cluster in trouble causes at most EventsPerMinute notified events per
// minute, and a summary of the others.
//
// Notifier.Run is for the elected master. It waits for the goroutines that it starts: one follows
// the outcomes, one the approvals that wait, one does the periodic work, one sends, with a few more
// for the tries in progress.
// Two masters running at the same time do no harm: each write carries a compare.
package notify
