// Package authstore keeps tokens, sessions and login codes in etcd.
//
// It promises that a secret is never stored, only its hash; that each change is one
// transaction with a compare, together with its entry in the history of changes;
// that a login code is good for one session; that the first admin token can be made
// once; and that a token or session which is gone is refused everywhere within
// three seconds, for so long at most is what was read believed.
//
// It starts no goroutine. A Store is safe for concurrent use.
package authstore
