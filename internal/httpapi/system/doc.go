// Package system serves health and version, the diagnosis and recovery of the cluster, the masters, and the stream of
// changes.
package system
