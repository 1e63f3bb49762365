package httpapi

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"carillon/internal/httpapi/core"
	"carillon/internal/platform/lifecycle"
)

// Server returns the HTTP server for a handler, with limits for slow clients and large requests.
// Responses have a write deadline of their own, which streams renew. bound limits the connections
// of its listeners; nil is no limit.
func Server(h http.Handler, log *slog.Logger, bound *Connections) *http.Server {
	s := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       core.ReadTimeout,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          100,
			MaxReceiveBufferPerConnection: 1 << 20,
			MaxReceiveBufferPerStream:     256 << 10,
			SendPingTimeout:               30 * time.Second, // detects dead peers
			PingTimeout:                   15 * time.Second,
			WriteByteTimeout:              30 * time.Second,
		},
		ErrorLog: slog.NewLogLogger(serverLog{log.Handler()}, slog.LevelDebug),
	}
	if bound != nil {
		s.ConnState, s.ConnContext = bound.state, bound.context
	}
	return s
}

// serverLog converts log lines of the HTTP server about failed connections to events: mostly
// clients that do not use TLS or HTTP.
type serverLog struct{ slog.Handler }

// Handle logs one line.
func (l serverLog) Handle(ctx context.Context, r slog.Record) error {
	event := slog.NewRecord(r.Time, r.Level, "http_connection_failed", r.PC)
	event.AddAttrs(slog.String("error", strings.TrimPrefix(r.Message, "http: ")))
	return l.Handler.Handle(ctx, event)
}

// ServerPart runs an HTTP server: it listens when it starts, so that an address in use is reported at once, and
// lets requests in flight finish when it stops.
func ServerPart(name string, listen func() (net.Listener, error), server *http.Server) lifecycle.Part {
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
