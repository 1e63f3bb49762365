// Package contract tests a complete master against its OpenAPI document and its access rules. It consists of tests
// only.
//
// The master is wired as in its program, over a real etcd and a real log store, and called over HTTP. Each operation of
// the document is called by callers of each role, everywhere or in one group, for a job of that group, of another, and
// of none. Each response must match the document's schema; a caller without permission must be rejected, and must not
// change anything; and no caller may see job definitions of other groups.
//
// An operation without an entry in calls_test.go fails the test, and so does an entry without an operation. An entry
// contains only what makes a call succeed (body, headers and parameters), and who may make it.
package contract
