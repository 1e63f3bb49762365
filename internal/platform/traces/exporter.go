// Package traces exports the runs of a worker as OpenTelemetry traces, over OTLP/HTTP.
//
// Nothing is measured for it: an outcome has the times of its phases, so its spans are created when the log store has
// acknowledged it, and a worker that does not export does nothing. The ids of spans are computed from those of fire and
// run (common.TraceOf): the attempts of a fire belong to one trace, whichever worker executes or resolves them, and an
// outcome that is delivered twice has the same spans twice. Spans contain names, ids, times and outcomes, but no
// parameters, environment, output, notes or names of users.
//
// Export never delays a run: spans wait in a bounded queue of the SDK, which has a goroutine of its own, and are
// dropped when it is full.
package traces

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"carillon/internal/common"
	"carillon/internal/runlog"
)

const (
	// CloseTimeout is how long the spans that wait are sent when the worker stops.
	CloseTimeout = 5 * time.Second
	// queue is the number of spans that wait: those of some thousand runs.
	queue = 1 << 14
	// complainEvery is the interval at which a failing export is logged.
	complainEvery = time.Minute
)

// Config describes the process. The standard variables OTEL_… are read from the environment.
type Config struct {
	Service string // default of OTEL_SERVICE_NAME
	Version string
	Life    common.Life
	Host    string
	Log     *slog.Logger
}

// Exporter exports runs. Its methods may be called on nil, which exports nothing. It is safe for concurrent use.
type Exporter struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
	log      *slog.Logger

	mu         sync.Mutex
	complained time.Time
}

// New returns an exporter, or nil if the environment names no endpoint. Its error is a fault of the environment.
func New(ctx context.Context, cfg Config) (*Exporter, error) {
	name, endpoint := endpointOf(os.Getenv)
	if endpoint == "" {
		return nil, nil
	}
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, fmt.Errorf("%s: must be a URL, such as http://127.0.0.1:4318", name)
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"} {
		if p := os.Getenv(name); p != "" && p != "http/protobuf" {
			return nil, fmt.Errorf("%s: must be http/protobuf, the only supported protocol", name)
		}
	}
	self, err := resource.New(ctx,
		resource.WithAttributes(
			attribute.String("service.name", cfg.Service),
			attribute.String("service.version", cfg.Version),
			attribute.String("service.instance.id", cfg.Life.Worker),
			attribute.String("host.name", cfg.Host),
		),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(), // it wins
	)
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	client, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	e := &Exporter{log: cfg.Log}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(e.complain))
	var size []sdk.BatchSpanProcessorOption
	if os.Getenv("OTEL_BSP_MAX_QUEUE_SIZE") == "" {
		size = append(size, sdk.WithMaxQueueSize(queue))
	}
	e.provider = sdk.NewTracerProvider(
		sdk.WithResource(self),
		sdk.WithIDGenerator(ids{}),
		sdk.WithSampler(sdk.ParentBased(sdk.AlwaysSample())),
		sdk.WithBatcher(client, size...),
	)
	e.tracer = e.provider.Tracer("carillon", trace.WithInstrumentationVersion(cfg.Version))
	cfg.Log.Info("traces_exported", "to", at.Scheme+"://"+at.Host)
	return e, nil
}

// endpointOf returns the endpoint and the variable that names it; empty if nothing is to be exported.
func endpointOf(getenv func(string) string) (name, endpoint string) {
	if getenv("OTEL_SDK_DISABLED") == "true" || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return "", ""
	}
	for _, name := range []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"} {
		if endpoint := getenv(name); endpoint != "" {
			return name, endpoint
		}
	}
	return "", ""
}

// complain logs an error of the SDK, at most once in complainEvery.
func (e *Exporter) complain(err error) {
	e.mu.Lock()
	now := time.Now()
	silent := now.Sub(e.complained) < complainEvery
	if !silent {
		e.complained = now
	}
	e.mu.Unlock()
	if !silent {
		e.log.Warn("traces_not_exported", "error", common.Excerpt(err.Error()))
	}
}

// Close sends the spans that wait, until the context ends.
func (e *Exporter) Close(ctx context.Context) error {
	if e == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, CloseTimeout-time.Second)
	defer cancel()
	if err := e.provider.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("send the last spans: %w", err)
	}
	return nil
}

// Writer returns the store, such that the runs that it acknowledges are exported.
func (e *Exporter) Writer(store runlog.Writer) runlog.Writer {
	if e == nil {
		return store
	}
	return &writer{store, e}
}

type writer struct {
	runlog.Writer
	exporter *Exporter
}

// Write implements runlog.Writer.
func (w *writer) Write(ctx context.Context, b runlog.Batch) error {
	if err := w.Writer.Write(ctx, b); err != nil {
		return err
	}
	now := time.Now()
	for i := range b.Runs {
		w.exporter.export(&b.Runs[i], now)
	}
	return nil
}
