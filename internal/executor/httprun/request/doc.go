// Package request reads the settings of a job of the type http, and renders them with the values of a run.
//
// Promise: a value that replaces ${NAME} changes nothing but the place where it stands. In the URL it is
// percent-encoded and stands after the host; in a JSON body it is escaped within a string, and otherwise must be a
// number, true, false or null; elsewhere it has no line break and no NUL. Render refuses all other values.
//
// The package is pure. All functions are safe for concurrent use.
package request
