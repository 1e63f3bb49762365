// Package certs reloads certificates when their files are replaced.
//
// It promises that a new certificate is used within ten seconds for new connections, without a restart; that
// files which cannot be used change nothing, and raise a condition; and that a condition is raised in time
// before a certificate ends. Existing connections continue.
//
// The package starts no goroutine. A Keeper is safe for concurrent use.
package certs
