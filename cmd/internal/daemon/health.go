package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"carillon/internal/common"
	"carillon/internal/health"
	"carillon/internal/httpapi"
	"carillon/internal/httpapi/system"
	"carillon/internal/platform/lifecycle"
)

// ready reports whether the worker can do its work: it claims, and its data about jobs is current. Other
// conditions do not affect readiness.
func (w *Worker) ready() system.Readiness {
	var trouble error
	if t := w.cluster.Trouble(); t != "" {
		trouble = errors.New(t)
	}
	lasting := w.conditions.Active()
	var away error
	for _, c := range lasting {
		if c.Code == common.ConditionEtcdAway {
			away = errors.New(c.Text)
		}
	}
	return system.ReadinessOf([]health.Check{health.CheckOf("etcd", true,
		away), health.CheckOf("claims", true, trouble), health.CheckOf("watch", true, w.watcher.Fault()),
		health.CheckOf("loops", true, w.loops.Fault())}, lasting)
}

// LocalServer serves a worker's metrics and health on loopback or a unix socket.
func (w *Worker) LocalServer(address string) lifecycle.Part {
	return serverPart("local", func() (net.Listener, error) { return listenLocal(address) },
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

// serverPart runs an HTTP server: it listens when it starts, so that an address in use is reported at once, and
// lets requests in flight finish when it stops.
func serverPart(name string, listen func() (net.Listener, error), server *http.Server) lifecycle.Part {
	var listener net.Listener
	return lifecycle.Part{
		Name: name,
		Start: func(context.Context) (err error) {
			if listener, err = listen(); err != nil {
				return fmt.Errorf("listen: %w", err)
			}
			return nil
		},
		Serve: func(ctx context.Context) error {
			if err := server.Serve(listener); err != http.ErrServerClosed {
				return err
			}
			<-ctx.Done()
			return nil
		},
		Stop: func(ctx context.Context) error {
			if err := server.Shutdown(ctx); err != nil {
				return server.Close()
			}
			return nil
		},
	}
}
