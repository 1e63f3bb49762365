// Package health watches the loops of a process: everything that must go round again and again for fires,
// notifications, live events, history, audit and sweeps to go on.
//
// It promises that a loop which has not completed a round for longer than its limit has a condition, with the error
// of its last round, and that the condition ends with the next round that succeeds. Limits are at most a minute. It
// starts no goroutine, and waits for nobody: a loop reports in passing, and conditions are computed when asked for.
package health
