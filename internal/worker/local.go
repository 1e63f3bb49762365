package worker

import (
	"cmp"
	"runtime/debug"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/runlog"
)

// Local is what a standalone in this process shares with a further worker in it.
type Local struct {
	Etcd  *clientv3.Client
	Store runlog.Writer
}

// LibraryVersion returns the version of this library in the program that links it.
func LibraryVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "dev"
	}
	for _, m := range info.Deps {
		if m.Path == "carillon" {
			return cmp.Or(m.Version, "dev")
		}
	}
	return "dev"
}
