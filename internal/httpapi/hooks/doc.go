// Package hooks serves the hooks of jobs: their management, and the URLs themselves, which start a job without an API
// token.
//
// Promises: a key is returned once, when it is created; a delivery with an unknown key gets the same answer as any
// other unknown path of hooks; wrong keys and signatures are limited per network as failed logins are, which never
// refuses a delivery with the right ones; a body is read only after the key was found.
package hooks
