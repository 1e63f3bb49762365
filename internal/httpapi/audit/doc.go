// Package audit serves the audit, and the verification of its chain. Values that may be secrets are masked.
package audit
