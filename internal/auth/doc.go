// Package auth says who somebody is and what they may do: users and their passwords,
// roles, API tokens, sessions and one-use login codes, and a limiter for attempts to
// log in.
//
// It promises that of a secret only its SHA-256, and of a password only its argon2id
// hash, is ever part of a record; that secrets are compared in constant time; that each
// role includes the ones below it, and that a token never has more rights than its owner
// has. A Hasher works on two passwords at a time. It does no I/O and starts no
// goroutine; where records are kept is the matter of an adapter.
package auth
