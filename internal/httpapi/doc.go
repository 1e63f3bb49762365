// Package httpapi is Carillon's REST API and the server of its console, on gin and
// huma: one file per resource, one table of routes in which each operation names
// the role that it needs.
//
// It promises that nothing is answered without credentials but what is registered
// as public; that every refusal is a problem (RFC 9457) with a stable code, listing
// every fault of the request that one look can find; that input which is not
// exactly what an operation takes is refused before its handler runs; and that the
// OpenAPI document describes what is served, since both come from the same code.
//
// It keeps no state beside counters of failed logins, and starts no goroutine.
// What it needs it declares as ports in ports.go.
package httpapi
