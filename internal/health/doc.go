// Package health judges the state of a cluster: the loops of a process, its active conditions, and the findings of
// an examination with their remedies.
//
// A loop that has not completed a round within its limit has a condition with the error of its last round; the
// condition ends with the next successful round. Limits are at most a minute. The package starts no goroutine
// and blocks no caller: loops report in passing, and conditions are computed on request.
package health
