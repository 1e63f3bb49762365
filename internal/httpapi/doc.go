// Package httpapi is Carillon's REST API and the server of its console, on gin and huma: one file
// per resource, and one table of routes in which each operation names the role that it requires.
//
// Promises: without credentials only routes registered as public are served; every error is a
// problem (RFC 9457) with a stable code, listing all faults of the request found in one pass; input
// that does not match an operation exactly is refused before its handler runs; and the OpenAPI
// document describes what is served, since both come from the same code.
//
// The package keeps no state besides counters of requests and failed logins, and starts no
// goroutine. Its dependencies are the ports in ports.go.
package httpapi
