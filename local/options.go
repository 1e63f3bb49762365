package local

import "log/slog"

// Option sets an option of Open.
type Option func(*options)

type options struct {
	listen, timezone string
	log              *slog.Logger
}

func newOptions(set []Option) options {
	o := options{listen: "127.0.0.1:0", timezone: "UTC", log: slog.New(slog.DiscardHandler)}
	for _, one := range set {
		one(&o)
	}
	return o
}

// Listen sets the address of the API and the console, which must be on loopback. Default: a free port of 127.0.0.1.
func Listen(address string) Option { return func(o *options) { o.listen = address } }

// Timezone sets the time zone of jobs without one. Default: UTC.
func Timezone(zone string) Option { return func(o *options) { o.timezone = zone } }

// Log sets the logger of the standalone and of the apps. Default: events are discarded.
func Log(log *slog.Logger) Option { return func(o *options) { o.log = log } }
