// Package archtest holds the architecture: which package may import which, where
// each technology may appear, and the house rules that a parser can check.
//
// It promises that a package which is not in the table fails the test, so that
// whoever adds one decides where it belongs. It reads the sources of the tree; it
// starts no goroutine and is not part of any binary.
package archtest
