// Package httpapi is Carillon's REST API and the server of its console, on gin and huma: the list of resources, the
// list of middlewares, and the API document. Each resource is a package below it, over package core, and declares the
// ports that it consumes.
//
// Promises: without credentials only routes registered as public are served; every error is a problem (RFC 9457) with
// a stable code, listing all faults of the request found in one pass; input that does not match an operation exactly is
// refused before its handler runs; and the OpenAPI document describes what is served, since both come from the same
// code.
//
// The package keeps no state besides counters of requests and failed logins, and starts no goroutine.
package httpapi
