// Package typeschema reads the documents with which plug-ins describe their types, and checks the settings of jobs
// against their schemas.
//
// Promise: a document refers to nothing outside of itself, and is checked completely before it is used. A text that
// contains values or a secret is not judged where its content counts, since it is known at the run only; the worker
// judges it then.
//
// The package is pure. A Type is immutable.
package typeschema
