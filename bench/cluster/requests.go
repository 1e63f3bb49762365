package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"carillon/internal/common"
)

// requests compares jobs that send a request to a server of this machine with jobs that run a command, from the claim
// to the finish.
func requests(ctx context.Context, b *bench) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{
		Handler:           http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") }),
		ReadHeaderTimeout: time.Minute,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	defer func() {
		_ = server.Close()
		<-ended
	}()
	s, err := b.newStandalone(ctx, filepath.Join(b.dir, "requests"), "--http-allow", "127.0.0.0/8")
	if err != nil {
		return err
	}
	defer s.Kill()
	n := 3000
	if b.quick {
		n = 500
	}
	commands, err := b.dueAtOnce(ctx, s, "requests", "command", n, common.Job{Args: short()})
	if err != nil {
		return err
	}
	sent, err := b.dueAtOnce(ctx, s, "requests", "request", n, common.Job{Type: common.TypeHTTP,
		With: common.With{"url": "http://" + listener.Addr().String() + "/"}})
	if err != nil {
		return err
	}
	rate, slow := float64(n)/sent.Seconds(), float64(n)/commands.Seconds()
	b.sheet.add("requests", fmt.Sprintf("%d requests due at once, until all have ended; `/bin/true` as `args`", n),
		fmt.Sprintf("%.0f and %.0f runs/s: × %.1f", rate, slow, rate/slow), "≥ 3,000 runs/s, or × 2",
		reached(rate >= min(3000, 2*slow)))
	return nil
}
