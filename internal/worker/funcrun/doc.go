// Package funcrun runs jobs as functions of this process.
//
// Each call has a goroutine of its own, and its run lasts until the function has returned: a goroutine cannot be
// killed, and an outcome that was written while it runs would be false. What ends the run early ends the context of the
// call, and determines the outcome.
package funcrun
