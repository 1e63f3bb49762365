// Package authstore keeps users, tokens, sessions and login codes in etcd.
//
// It promises that a secret is never stored, only its hash; that each change is one
// transaction with a compare, together with its entry in the history of changes;
// that a login code is good for one session; that the first admin token can be made
// once, and the last admin cannot be taken away; and that a token or session which is
// gone, or whose user has gone or changed, is refused or bounded everywhere within
// three seconds, for so long at most is what was read believed.
//
// That somebody failed to log in is part of the history, up to a bound; that a token was
// used is not: it is written down apart, once a minute.
//
// It starts no goroutine. A Store is safe for concurrent use.
package authstore
