// Package daemon has what the processes of master, worker and standalone have in common: settings and connections, the
// files of a worker that executes commands, signals, exit codes. internal/master and internal/worker wire the parts.
package daemon
