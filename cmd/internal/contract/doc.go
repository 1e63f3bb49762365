// Package contract holds a whole master to what it says of itself: to its OpenAPI document, and
// to its rules of access. It consists of tests alone.
//
// The master is real, as its program puts it together, over a real etcd and a real log store; it
// is spoken to over HTTP. Each operation of the document is called by somebody of each role, who
// has it everywhere or in one group, for a job of that group, of another, and of none. Each answer
// has to be one that the document describes, byte for byte of its schema; whoever may not do a
// thing has to be refused, and must leave everything as it was; and nobody may be shown what jobs
// of others are made of.
//
// An operation without an entry in calls_test.go fails the test, and so does an entry without an
// operation. Which body, headers and parameters make a call succeed is all that an entry says
// besides who may make it.
package contract
