// Package certs keeps certificates in use that are replaced in their files.
//
// It promises that a new certificate is used within ten seconds for connections that are
// made from then on, without a restart; that files which cannot be used change nothing, and
// are told of; and that it says in time when a certificate ends. Connections that stand go on.
//
// Run is the only goroutine. A Keeper is safe for concurrent use.
package certs
