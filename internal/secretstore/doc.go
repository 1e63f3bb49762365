// Package secretstore keeps the named secrets that jobs refer to in etcd, sealed, and opens
// them for runs.
//
// It promises that a secret is stored in sealed form only, bound to its name; that it is in no
// answer, no history of changes and no error of this package; that a change is written only over
// what it was decided on; and that Open gives a run the secret only where its group may have it, and
// as it stands in etcd: what was followed counts only while the watch has shown lately that it is whole.
//
// A Store starts no goroutine; a Table has one, which is Follow's caller's. Both are safe for
// concurrent use.
package secretstore
