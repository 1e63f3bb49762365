package daemon

import (
	"fmt"
	"net"
	"os"
	"strings"

	"carillon/internal/httpapi"
	"carillon/internal/httpapi/system"
	"carillon/internal/platform/lifecycle"
)

// ready reports whether the worker can do its work.
func (w *Worker) ready() system.Readiness { return system.ReadinessOf(w.Ready()) }

// LocalServer serves a worker's metrics and health on loopback or a unix socket.
func (w *Worker) LocalServer(address string) lifecycle.Part {
	return httpapi.ServerPart("local", func() (net.Listener, error) { return listenLocal(address) },
		httpapi.Server(system.Local(w.cfg.Registry.Handler(), w.ready), w.cfg.Log, nil))
}

func listenLocal(address string) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(address, "unix:")
	if !isUnix {
		return net.Listen("tcp", address)
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("remove stale socket: %w", err)
	}
	return net.Listen("unix", path)
}
