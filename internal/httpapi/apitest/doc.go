// Package apitest has the whole API over fakes in memory, for the tests of the resources. Every response is compared
// with the API document.
package apitest
