package lifecycle

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	sd "github.com/coreos/go-systemd/v22/daemon"
)

// statusEvery is the minimum interval between status updates to systemd.
const statusEvery = 5 * time.Second

// Notified wraps the parts of a daemon in two parts that notify systemd by send, or directly if send is nil. The first
// reports ready as soon as the process runs, so that a host boots while etcd is unavailable, and then liveness and
// status: waiting for etcd until all parts have started, then the result of status. The last one reports the stop.
func Notified(log *slog.Logger, send func(state string) error, status func() string, parts ...Part) []Part {
	if send == nil {
		send = func(state string) error { _, err := sd.SdNotify(false, state); return err }
	}
	notify := func(state string) {
		if err := send(state); err != nil {
			log.Warn("systemd_not_notified", "error", err)
		}
	}
	const waiting = "STATUS=waiting for etcd"
	var started atomic.Bool
	first := Part{
		Name:  "systemd",
		Start: func(context.Context) error { notify(sd.SdNotifyReady + "\n" + waiting); return nil },
		Serve: func(ctx context.Context) error {
			var alive <-chan time.Time
			if every, err := sd.SdWatchdogEnabled(false); err == nil && every > 0 {
				alive = time.Tick(every / 2)
			}
			for tick, said := time.Tick(statusEvery), waiting; ; {
				if started.Load() {
					if now := "STATUS=" + status(); now != said {
						notify(now)
						said = now
					}
				}
				select {
				case <-ctx.Done():
					return nil
				case <-alive:
					notify(sd.SdNotifyWatchdog)
				case <-tick:
				}
			}
		},
	}
	last := Part{
		Name:  "systemd status",
		Start: func(context.Context) error { started.Store(true); return nil },
		Stop:  func(context.Context) error { notify(sd.SdNotifyStopping); return nil },
	}
	return append(append([]Part{first}, parts...), last)
}
