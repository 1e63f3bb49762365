package embedded

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// ErrUnwritable marks the failure of a server that would have ended the process, as when it cannot write to its files.
var ErrUnwritable = errors.New("etcd cannot go on")

// failures takes what etcd logs before it ends the process.
type failures struct {
	log    *slog.Logger
	once   sync.Once
	failed chan struct{} // closed by the first one
	err    error         // the first one; read after failed
}

func newFailures(log *slog.Logger) *failures { return &failures{log: log, failed: make(chan struct{})} }

// logger returns a logger for etcd. It logs nothing but what ends the process, and the goroutine that does so waits for
// ever instead, so that the runs end in order.
func (f *failures) logger() *zap.Logger {
	return zap.New(zapcore.NewNopCore(), zap.WithFatalHook(f), zap.WithPanicHook(f))
}

// OnWrite implements zapcore.CheckWriteHook.
func (f *failures) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	values := zapcore.NewMapObjectEncoder()
	for _, field := range fields {
		field.AddTo(values)
	}
	err := fmt.Errorf("%w: %s", ErrUnwritable, entry.Message)
	if cause, found := values.Fields["error"]; found {
		err = fmt.Errorf("%w: %v", err, cause)
	}
	f.once.Do(func() { // others follow from it
		f.log.Error("etcd_failed", "error", err)
		f.err = err
		close(f.failed)
	})
	select {}
}
