// Package secrets serves the descriptions of secrets. Their values are accepted and never returned.
package secrets
