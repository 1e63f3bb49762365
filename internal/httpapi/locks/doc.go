// Package locks serves named locks: to scripts, which use them through cronctl lock, and to operators.
package locks
