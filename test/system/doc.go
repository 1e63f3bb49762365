// Package system tests Carillon as its users run it: the real binaries as real
// processes, an etcd and a server that speaks MongoDB's protocol beside them, spoken
// to over HTTP and signals alone.
package system
