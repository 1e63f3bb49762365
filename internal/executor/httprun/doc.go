// Package httprun sends the requests of jobs of the type http.
//
// Promise: it connects only to public addresses and those that the configuration allows, checked on the address that
// the connection is made to, also after redirects; it uses no proxy from the environment, keeps no cookies, and
// decodes no compressed bodies. A request that may have an effect is sent once: only GET, HEAD and OPTIONS use
// connections again. Redirects lead to the same scheme; headers with secrets, and Authorization and Cookie, are not
// sent to another host. Run returns as soon as its context has ended. It reads no more than the maximum size of a
// body, and stores it only if the job looks into it.
//
// A Client is safe for concurrent use. No goroutine outlives a call, except for idle connections, which Close ends.
package httprun
