// Package common holds Carillon's vocabulary: job, fire, run, worker, change,
// the etcd keys, and errors with a code. It promises that the same value reads
// the same in every process. It imports nothing of ours, starts no goroutine
// and does no I/O; what acts on these words lives in the packages above.
package common
