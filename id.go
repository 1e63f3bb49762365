package carillon

import "carillon/internal/executor"

// ID returns the id of the process whose Config.Dir is a folder; it creates both if missing. In an etcd with users,
// deploy/etcd-users.sh app needs it.
func ID(dir string) (string, error) { return executor.WorkerID(dir) }
