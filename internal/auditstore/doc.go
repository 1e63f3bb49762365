// Package auditstore keeps the head of the audit chain, and the changes that are not in the log
// store yet, in etcd.
//
// It promises that the head moves only from where it was seen, and only by the elected master.
// It starts no goroutine.
package auditstore
