package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/lifecycle"
)

// Pinger is a store that can tell whether it is there.
type Pinger interface {
	Ping(ctx context.Context) error
}

// checkOf is what was looked at, and how it was found.
func checkOf(name string, needed bool, err error) httpapi.Check {
	c := httpapi.Check{Name: name, OK: err == nil, Needed: needed}
	if err != nil {
		c.Message = common.Excerpt(err.Error())
	}
	return c
}

// fault is what is wrong with a watch.
func (f *freshness) fault() error {
	switch lag := f.lag(); {
	case f.at.Load() == 0:
		return errors.New("the jobs were not read yet")
	case lag > stale:
		return fmt.Errorf("nothing was heard for %v", lag.Round(time.Second))
	}
	return nil
}

// ready tells whether the worker can do its work: it claims, and knows of the jobs. What
// else is not as it should be keeps it from nothing.
func (w *Worker) ready() httpapi.Readiness {
	var trouble error
	if t := w.cluster.Trouble(); t != "" {
		trouble = errors.New(t)
	}
	lasting := w.conditions.now()
	var away error
	for _, c := range lasting {
		if c.Code == common.ConditionEtcdAway {
			away = errors.New(c.Text)
		}
	}
	return httpapi.ReadinessOf([]httpapi.Check{checkOf("etcd", true, away), checkOf("claims", true, trouble), checkOf("watch", true, w.fresh.fault()),
		checkOf("loops", true, w.loops.Fault())}, lasting)
}

// LocalServer serves a worker's /metrics, /healthz and /readyz on loopback or a
// unix socket. Nothing there changes anything.
func (w *Worker) LocalServer(address string, metrics http.Handler) lifecycle.Part {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintln(rw, "ok") })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, _ *http.Request) {
		ready := w.ready()
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(ready.HTTPStatus())
		_ = json.NewEncoder(rw).Encode(ready) // the client may have gone
	})
	return serverPart("local", func() (net.Listener, error) { return listenLocal(address) }, httpapi.Server(mux, w.cfg.Log, nil))
}

func listenLocal(address string) (net.Listener, error) {
	path, isUnix := strings.CutPrefix(address, "unix:")
	if !isUnix {
		return net.Listen("tcp", address)
	}
	if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("remove an earlier socket: %w", err)
	}
	return net.Listen("unix", path)
}

// serverPart runs an HTTP server: it listens at its start, so that an address in
// use is told at once, and lets requests in flight finish at its stop.
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
