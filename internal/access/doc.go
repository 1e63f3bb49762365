// Package access holds identities and access rights: users and their passwords, roles, API tokens,
// sessions, one-use login codes, and a limiter for login attempts.
//
// Promises: a record contains only the SHA-256 of a secret and only the argon2id hash of a
// password; secrets are compared in constant time; each role includes the roles below it; a token
// never has more rights than its owner. A Hasher processes two passwords at a time. The package
// does no I/O and starts no goroutine; an adapter stores the records.
package access
