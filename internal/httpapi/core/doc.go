// Package core has what all resources of the API have in common: the table of routes, the guard that checks each
// request before its handler, problems (RFC 9457), the caller and its roles, preconditions, pages and their cursors,
// queues of expensive requests, and streams of events.
//
// Promises: a route without an audience is not registered; every error becomes one Problem in one place; a handler
// runs only with input that matches its operation exactly.
package core
