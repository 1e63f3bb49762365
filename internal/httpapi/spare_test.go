package httpapi_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"carillon/internal/httpapi"
	"carillon/internal/httpapi/apitest"
)

// However many connections are taken, health checks are answered.
func TestConnectionsExhausted_HealthChecksAreAnswered(t *testing.T) {
	h := apitest.NewHarness(t)
	bound := httpapi.BoundConnections(nil, 2, 2, 2, 10*time.Millisecond)
	server := httpapi.Server(h.Handler, slog.New(slog.DiscardHandler), bound)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(bound.Listen(listener)) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-served
	})
	dial := func() net.Conn {
		t.Helper()
		c, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		return c
	}
	ask := func(c net.Conn, path string) (int, bool) {
		t.Helper()
		fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: carillon\r\nAuthorization: Bearer viewer-token\r\n\r\n", path)
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.StatusCode, resp.Close
	}
	for range 2 { // two that never say what they want
		fmt.Fprint(dial(), "GET /api/v1/jobs HTTP/1.1\r\n")
	}
	for range 5 {
		for path, want := range map[string]int{
			"/healthz":     http.StatusOK,
			"/readyz":      http.StatusOK,
			"/api/v1/jobs": http.StatusTooManyRequests,
		} {
			if got, closed := ask(dial(), path); got != want || !closed {
				t.Errorf("%s over a spare connection: %d (want %d), closed %v", path, got, want, closed)
			}
		}
		dial() // and some that take up the spare ones
		dial()
	}
}
