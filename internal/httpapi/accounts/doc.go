// Package accounts serves users, tokens and sessions, and logins by password, token, code and single sign-on. Failed
// logins are limited by account and by network.
package accounts
