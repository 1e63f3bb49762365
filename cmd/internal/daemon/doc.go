// Package daemon wires the parts of master and worker; each runs in its own binary, and both run in the
// standalone. Decisions are made in the packages that it wires.
package daemon
