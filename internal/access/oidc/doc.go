// Package oidc implements single sign-on: OpenID Connect, the authorization code flow with PKCE.
//
// Promises: an attempt belongs to the browser that began it (state, nonce and PKCE verifier are
// derived from a secret in its cookie) and ends after ten minutes; an ID token is accepted only if
// it is signed by a key of the issuer with an asymmetric algorithm, issued for our client, not
// expired, and contains the nonce; a user without a role from the rules is refused. The session
// store ensures that an attempt is used once.
//
// The package starts no goroutine and contacts the issuer only during a login, for ten seconds at
// most. A Provider is safe for concurrent use.
package oidc
