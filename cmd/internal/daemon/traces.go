package daemon

import (
	"context"
	"log/slog"

	"carillon/internal/platform/traces"
	"carillon/internal/worker"
)

// Traces returns the exporter of the spans of runs; nil if the environment names no endpoint. Its error is a fault of
// the environment.
func Traces(ctx context.Context, service, version string, n *Node, log *slog.Logger) (*traces.Exporter, error) {
	return traces.New(ctx, traces.Config{
		Service: service,
		Version: version,
		Life:    n.Home.Life,
		Host:    worker.Hostname(),
		Log:     log,
	})
}
