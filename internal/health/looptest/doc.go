// Package looptest lets tests of a daemon show that each of its loops raises a condition when it stands still.
package looptest
