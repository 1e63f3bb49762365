// Package oidc lets people log in where their organisation does: OpenID Connect, the
// authorization code flow with PKCE.
//
// It promises that an attempt belongs to the browser that began it, by a secret in a cookie of
// which state, nonce and PKCE verifier are made, and that it ends after ten minutes; that an
// ID token counts only where it is signed, by a key of the issuer and one of the asymmetric
// algorithms, made for us, not expired, and carries the nonce; and that nobody may do anything
// whom no rule gives a role. That an attempt is used once is what the store of sessions sees to.
//
// It starts no goroutine, and asks the issuer only while somebody logs in, for ten seconds at
// most. A Provider is safe for concurrent use.
package oidc
