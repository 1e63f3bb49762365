// Package journal writes log lines with the priorities of systemd's journal, sd-daemon(3): a line that begins with
// <3> is an error, one with <4> a warning. It starts no goroutine.
package journal

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
)

// Attached reports whether the journal reads a file: JOURNAL_STREAM of the environment names the file's device and
// inode.
func Attached(file *os.File, environ []string) bool {
	for _, line := range environ {
		want, found := strings.CutPrefix(line, "JOURNAL_STREAM=")
		if !found {
			continue
		}
		info, err := file.Stat()
		if err != nil {
			return false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		return ok && want == fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
	}
	return false
}

// levels are the levels of slog in ascending order, with the journal's priorities.
func levels() []struct {
	least  slog.Level
	prefix string
} {
	return []struct {
		least  slog.Level
		prefix string
	}{{slog.LevelDebug, "<7>"}, {slog.LevelInfo, "<6>"}, {slog.LevelWarn, "<4>"}, {slog.LevelError, "<3>"}}
}

// Handler returns a handler that gives each line its priority. make makes the handler of one priority; it must write
// each line with one call.
func Handler(w io.Writer, make func(io.Writer) slog.Handler) slog.Handler {
	var h handler
	for _, l := range levels() {
		h.byLevel = append(h.byLevel, make(prefixed{w, l.prefix}))
	}
	return h
}

// handler has one handler for each of the levels.
type handler struct{ byLevel []slog.Handler }

func (h handler) of(level slog.Level) slog.Handler {
	for i := len(h.byLevel) - 1; i > 0; i-- {
		if level >= levels()[i].least {
			return h.byLevel[i]
		}
	}
	return h.byLevel[0]
}

func (h handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.of(level).Enabled(ctx, level)
}

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	return h.of(r.Level).Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.each(func(one slog.Handler) slog.Handler { return one.WithAttrs(attrs) })
}

func (h handler) WithGroup(name string) slog.Handler {
	return h.each(func(one slog.Handler) slog.Handler { return one.WithGroup(name) })
}

func (h handler) each(with func(slog.Handler) slog.Handler) slog.Handler {
	all := make([]slog.Handler, len(h.byLevel))
	for i, one := range h.byLevel {
		all[i] = with(one)
	}
	return handler{all}
}

// prefixed writes lines with a prefix, each with one call.
type prefixed struct {
	to     io.Writer
	prefix string
}

func (p prefixed) Write(line []byte) (int, error) {
	if _, err := p.to.Write(append([]byte(p.prefix), line...)); err != nil {
		return 0, err
	}
	return len(line), nil
}
