// Package health watches the loops of a process on which fires, notifications, live events, history, audit and
// sweeps depend.
//
// A loop that has not completed a round within its limit has a condition with the error of its last round; the
// condition ends with the next successful round. Limits are at most a minute. The package starts no goroutine
// and blocks no caller: loops report in passing, and conditions are computed on request.
package health
