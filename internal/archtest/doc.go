// Package archtest checks the architecture: which package may import which, where each technology may appear,
// and the house rules that a parser can check.
//
// It promises that a package which is missing from the table fails the test, so that the author of a new
// package decides on its layer. It reads the sources of the tree; it starts no goroutine and is not part of
// any binary.
package archtest
