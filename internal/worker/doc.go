// Package worker assembles a worker: it plans the jobs in etcd, claims due fires, has them run, and records the
// outcomes. What runs them is given to it.
package worker
