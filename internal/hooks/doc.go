// Package hooks decides what a URL that starts a job accepts: its key, the signature of a delivery, and which values of
// the delivery become parameters of the run.
//
// Promises: a key is 256 random bits, of which only the hash is stored; keys and signatures are compared in constant
// time; no error of a delivery contains the key or the secret. The package starts no goroutine.
package hooks
