package lifecycle

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"
)

// systemd hears that a daemon runs before it has reached etcd, what it waits for, what it does then, and that it stops.
func TestNotifiedIsReadyBeforeEtcdAnswers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	t.Setenv("NOTIFY_SOCKET", path)
	hears := func(want string) {
		t.Helper()
		buf := make([]byte, 1000)
		_ = socket.SetReadDeadline(time.Now().Add(time.Minute))
		n, err := socket.Read(buf)
		if err != nil || string(buf[:n]) != want {
			t.Fatalf("systemd hears %q (%v), want %q", buf[:n], err, want)
		}
	}
	reached := make(chan struct{})
	waits := Part{Name: "waits", Start: func(context.Context) error { <-reached; return nil }}
	log := slog.New(slog.DiscardHandler)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		parts := Notified(log, nil, func() string { return "running 3 commands" }, waits)
		ended <- New(log, parts...).Run(ctx, t.Context())
	}()
	hears("READY=1\nSTATUS=waiting for etcd")
	close(reached)
	hears("STATUS=running 3 commands")
	cancel()
	hears("STOPPING=1")
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
