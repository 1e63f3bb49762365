// Package auth says who somebody is and what they may do: roles, API tokens,
// sessions and one-use login codes, and a limiter for attempts to log in.
//
// It promises that of a secret only its SHA-256 is ever part of a record, that
// secrets are compared in constant time, and that each role includes the ones
// below it. It does no I/O and starts no goroutine; where records are kept is the
// matter of an adapter.
package auth
