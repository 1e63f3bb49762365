// Package common holds Carillon's vocabulary: job, fire, run, worker, change, the keys of etcd, and errors with a code.
// It promises that a value means the same in every process. It imports no other package of the project, starts no
// goroutine and does no I/O. Tags other than json describe fields in the API document.
package common
