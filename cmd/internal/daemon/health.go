package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"carillon/internal/common"
	"carillon/internal/httpapi"
	"carillon/internal/lifecycle"
)

// Pinger is a store that can tell whether it is there.
type Pinger interface {
	Ping(ctx context.Context) error
}

// health looks at what a daemon depends on.
type health struct {
	etcd  *clientv3.Client
	store Pinger
	fresh *freshness
}

// Ready looks at each thing for at most two seconds.
func (h health) Ready(ctx context.Context) []httpapi.Check {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	check := func(name string, err error) httpapi.Check {
		c := httpapi.Check{Name: name, OK: err == nil}
		if err != nil {
			c.Message = common.Excerpt(err.Error())
		}
		return c
	}
	_, err := h.etcd.Get(ctx, common.JobsPrefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	checks := []httpapi.Check{check("etcd", err), check("log_store", h.store.Ping(ctx))}
	if lag := h.fresh.lag(); lag > stale {
		err = fmt.Errorf("nothing was heard for %v", lag.Round(time.Second))
	} else {
		err = nil
	}
	return append(checks, check("watch", err))
}

// LocalServer serves a worker's /metrics, /healthz and /readyz on loopback or a
// unix socket. Nothing there changes anything.
func (w *Worker) LocalServer(address string, store Pinger, metrics http.Handler) lifecycle.Part {
	h := health{etcd: w.cfg.Etcd, store: store, fresh: &w.fresh}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", metrics)
	mux.HandleFunc("GET /healthz", func(rw http.ResponseWriter, _ *http.Request) { fmt.Fprintln(rw, "ok") })
	mux.HandleFunc("GET /readyz", func(rw http.ResponseWriter, r *http.Request) {
		checks := h.Ready(r.Context())
		rw.Header().Set("Content-Type", "application/json")
		for _, c := range checks {
			if !c.OK {
				rw.WriteHeader(http.StatusServiceUnavailable)
				break
			}
		}
		_ = json.NewEncoder(rw).Encode(map[string]any{"checks": checks}) // the client may have gone
	})
	return serverPart("local", func() (net.Listener, error) { return listenLocal(address) }, httpapi.Server(mux))
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
